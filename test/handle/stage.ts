// A home, a folder and a scripted model, with a server over it, and the ways in which a handle reaches it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Home, openHome } from "../../keel/src/app/home.ts";
import { openOptionsOf } from "../../keel/src/app/options.ts";
import { nearHandle, ServedSessions } from "../../keel/src/app/sessions/served-sessions.ts";
import { clientOver, connect, type KeelClient, webTimers } from "../../keel/src/client/connect.ts";
import { wireLink } from "../../keel/src/client/wire-link.ts";
import { Doorkeeper } from "../../keel/src/hosts/server/admission.ts";
import { openConnection } from "../../keel/src/hosts/server/connection.ts";
import { Devices } from "../../keel/src/hosts/server/devices.ts";
import { openWebDoor } from "../../keel/src/hosts/server/web-door.ts";
import type { SessionHandle } from "../../keel/src/protocol/handle.ts";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { wirePair } from "../support/wire-pair.ts";

export type Stage = {
  readonly cwd: string;
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model: ModelServer;
};

export async function stage(script: Script): Promise<Stage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-handle-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const cwd = path.join(folder, "work");
  mkdirSync(cwd);
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    KEEL_HOME: path.join(folder, "home"),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "test-key",
  };
  const home = openHome({ cwd, env });
  onTestFinished(() => home.close());
  return { cwd, home, env, model };
}

/** Opens a session, and further handles on it, by one of the ways. */
export type Way = {
  open(options?: { readonly allowedTools?: string[] }): Promise<SessionHandle>;
  another(id: string): SessionHandle;
};

const options = { model: "claude-haiku-4-5" };

export const ways: Readonly<Record<string, (stage: Stage) => Promise<Way>>> = {
  near: async ({ cwd, env, home }) => {
    const opened = new Map<string, Awaited<ReturnType<Home["open"]>>>();
    return {
      async open(more) {
        const session = await home.open(
          openOptionsOf(
            { permissionMode: "default", ...options, ...more },
            { version: "0", env, cwd, asks: "answered" },
          ),
        );
        opened.set(session.id, session);
        return nearHandle(session);
      },
      another(id) {
        const session = opened.get(id);
        if (!session) throw new Error("not opened here");
        return nearHandle(session);
      },
    };
  },
  "far over frames": async (at) => {
    const served = serve(at);
    const link = wireLink({
      open: async () =>
        wirePair((peer) => openConnection({ served, peer, access: "work", hello: { keel: "0", boot: "b" } }))
          .wire,
      timers: webTimers(),
    });
    return wayOf(at, clientOver(link));
  },
  "far over WebSocket": async (at) => wayOf(at, connect({ ...(await webServer(at)), via: "websocket" })),
  "far over SSE and POST": async (at) => wayOf(at, connect({ ...(await webServer(at)), via: "sse" })),
};

export function serve({ home, env }: Stage): ServedSessions {
  return new ServedSessions({ home, env, version: "0", boot: "b", pid: process.pid, clients: () => 0 });
}

/** A real server on an address of this machine. */
export async function webServer(at: Stage): Promise<{ url: string; secret: string; devices: Devices }> {
  const devices = await Devices.open(path.join(at.home.path, "server"), () => Date.now());
  const { secret } = await devices.add("a test", "work");
  const hosts = new Set<string>();
  const origins = new Set<string>();
  const door = openWebDoor({
    served: serve(at),
    hello: { keel: "0", boot: "b" },
    devices,
    keeper: new Doorkeeper({ devices, hosts, origins, now: () => Date.now() }),
  });
  await new Promise<void>((resolve) => door.server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => door.close());
  const address = door.server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  hosts.add(`127.0.0.1:${address.port}`);
  origins.add(`http://127.0.0.1:${address.port}`);
  return { url: `http://127.0.0.1:${address.port}`, secret, devices };
}

function wayOf({ cwd }: Stage, client: KeelClient): Way {
  onTestFinished(() => client.close());
  return {
    open: (more) => client.open({ cwd, options: { ...options, ...more } }),
    another: (id) => client.attach(id),
  };
}
