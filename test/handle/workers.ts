// Several servers on one database, each with a home of its own, as on several machines.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import type { ServedSessions } from "../../keel/src/app/sessions/served-sessions.ts";
import { beWorker } from "../../keel/src/app/workers/be-worker.ts";
import { clientOver, type KeelClient, webTimers } from "../../keel/src/client/connect.ts";
import { wireLink } from "../../keel/src/client/wire-link.ts";
import { openConnection } from "../../keel/src/hosts/server/connection.ts";
import { wirePair } from "../support/wire-pair.ts";
import { type Stage, serve, type Way } from "./stage.ts";

export type WorkerAt = { readonly at: Stage; readonly served: ServedSessions; client(): KeelClient };

/** Another worker on the database of a stage. */
export async function workerOf(stage: Stage, name: string): Promise<WorkerAt> {
  const folder = path.join(path.dirname(stage.home.path), name);
  mkdirSync(folder, { recursive: true });
  const env = { ...stage.env, KEEL_HOME: folder };
  const home = openHome({ cwd: stage.cwd, env });
  const remote = await home.remote();
  if (!remote) throw new Error("there is no database");
  const at = { ...stage, home, env };
  const served = serve(at, { boot: name, ...beWorker({ home, remote, version: "0" }) });
  await served.worker?.begin();
  onTestFinished(() => served.close());
  return {
    at,
    served,
    client() {
      const client = clientOver(
        wireLink({
          open: async () =>
            wirePair((peer) =>
              openConnection({
                served,
                peer,
                device: { access: "work", name: "a test" },
                hello: { keel: "0", boot: name },
              }),
            ).wire,
          timers: webTimers(),
        }),
      );
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** The owner has the session; whoever uses it is a client of another worker, and the next one of a third. */
export async function byAnotherWorker(stage: Stage): Promise<Way> {
  const [owner, entry, third] = [
    await workerOf(stage, "owner"),
    await workerOf(stage, "entry"),
    await workerOf(stage, "third"),
  ];
  const [begin, use, watch] = [owner.client(), entry.client(), third.client()];
  const options = { model: "claude-haiku-4-5" };
  return {
    open: async (more) => {
      const { id } = await begin.open({ cwd: stage.cwd, options: { ...options, ...more } });
      owner.at.home.opened(id)?.onEvent((event) => stage.law?.hear(event));
      return use.attach(id);
    },
    another: (id) => watch.attach(id),
    fork: (session, upTo) => use.fork({ session, upTo }),
    history: async (session, after, limit) => (await use.history({ session, after, limit })).events,
  };
}
