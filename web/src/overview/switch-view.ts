/** One conversation in two views: as rows of the console, and as the screen of `keel --resume` in a terminal. It is one log. */
import type { WorkerEntry, WorkspaceEntry } from "keel/protocol";
import type { World } from "../live/world.ts";
import type { Route } from "../route.ts";
import { words } from "../words.ts";

type OfSession = { readonly workspace: WorkspaceEntry; readonly session: string };

/** An agent of ours, whose session the console shows as rows. */
export const isConversation = ({ kind, engine, session }: WorkerEntry): boolean =>
  kind === "agent" && engine === "keel" && session !== undefined;

/** The screen that there is, started again where it has ended; else a new one. */
export async function toTerminal({ client }: World, { workspace, session }: OfSession): Promise<Route> {
  const known = workspace.workers.find((worker) => worker.engine === "pty" && worker.session === session);
  if (known?.activity === "ended") await client.workspaces.restartWorker({ worker: known.id });
  const shown =
    known ??
    (await client.workspaces.createWorker({
      workspace: workspace.id,
      worker: {
        kind: "agent",
        engine: "pty",
        name: words.workers.inTerminalName,
        command: ["keel", "--resume", session],
        session,
      },
    }));
  return { page: "worker", workspace: workspace.id, worker: shown.id };
}

export async function toConsole({ client }: World, { workspace, session }: OfSession): Promise<Route> {
  const known = workspace.workers.find((worker) => isConversation(worker) && worker.session === session);
  const shown =
    known ??
    (await client.workspaces.createWorker({
      workspace: workspace.id,
      worker: { kind: "agent", name: words.workers.agent, session },
    }));
  return { page: "worker", workspace: workspace.id, worker: shown.id };
}
