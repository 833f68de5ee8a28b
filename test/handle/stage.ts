// A home, a folder and a scripted model, with a server over it, and the ways in which a handle reaches it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { groupHandlers } from "../../keel/src/app/groups/served-groups.ts";
import { type Home, openHome } from "../../keel/src/app/home.ts";
import { openOptionsOf } from "../../keel/src/app/options.ts";
import { scheduleHandlers } from "../../keel/src/app/schedules/served-schedules.ts";
import { connectLocally } from "../../keel/src/app/sessions/home-server.ts";
import { nearHandle } from "../../keel/src/app/sessions/near-handle.ts";
import { type ServedOptions, ServedSessions } from "../../keel/src/app/sessions/served-sessions.ts";
import { clientOver, connect, type KeelClient, webTimers } from "../../keel/src/client/connect.ts";
import { wireLink } from "../../keel/src/client/wire-link.ts";
import { Doorkeeper } from "../../keel/src/hosts/server/admission.ts";
import { openConnection } from "../../keel/src/hosts/server/connection.ts";
import { Devices } from "../../keel/src/hosts/server/devices.ts";
import { serveLines } from "../../keel/src/hosts/server/line-door.ts";
import { deviceHandlers, Pairings } from "../../keel/src/hosts/server/pairings.ts";
import { openWebDoor } from "../../keel/src/hosts/server/web-door.ts";
import {
  type Durable,
  type DurableEvent,
  durableEventSchema,
} from "../../keel/src/protocol/event/durable.ts";
import type { SessionHandle } from "../../keel/src/protocol/handle.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../../keel/src/testing/model-server.ts";
import { type RequestLaw, requestLaw } from "../../keel/src/testing/request-law.ts";
import type { MessageWire } from "../../keel/src/transport/message-wire.ts";
import { pipeWire } from "../support/pipe-wire.ts";
import { wirePair } from "../support/wire-pair.ts";

export type Stage = {
  readonly cwd: string;
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model: ModelServer;
  readonly law?: RequestLaw;
};

export async function stage(
  script: ModelServerOptions["script"],
  { store = "jsonl" }: { store?: "jsonl" | "sqlite" | `postgres://${string}` | undefined } = {},
): Promise<Stage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-handle-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const cwd = path.join(folder, "work");
  mkdirSync(cwd);
  const place = { HOME: folder, KEEL_HOME: path.join(folder, "home"), KEEL_STORE: store };
  const home = openHome({ cwd, env: place });
  // A boundary is on disk before the request that it explains.
  const logged = new Map<string, DurableEvent[]>();
  // A database that machines share is not read in the moment of a request: there the law hears what happens.
  const log = (session: string) => loggedEvents(home.sessions.location(session), logged);
  const law = requestLaw(store.startsWith("postgres") ? {} : { log });
  const model = await startModelServer({ script, law });
  onTestFinished(() => model.close());
  const env = {
    PATH: process.env["PATH"],
    ...place,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "test-key",
  };
  onTestFinished(() => home.close());
  return { cwd, home, env, model, law };
}

/** What a log has; of what was read before only what came since is read closely. */
function loggedEvents(file: string | undefined, before: Map<string, DurableEvent[]>): DurableEvent[] {
  if (file === undefined) return [];
  const text = existsSync(file) ? readFileSync(file, "utf8") : tableText(file);
  const read = before.get(file) ?? [];
  // Its next line may be written at this very moment; the first one is its head.
  const records = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const news = records.slice(1 + read.length).filter(Boolean);
  const events = [...read, ...news.map((record) => durableEventSchema.parse(JSON.parse(record)))];
  before.set(file, events);
  return events;
}

/** The lines of a log that stands in the database of its home, where its file would be three folders below. */
function tableText(file: string): string {
  const home = path.resolve(file, "../../..");
  const database = new DatabaseSync(path.join(home, "sessions.db"), { readOnly: true });
  try {
    const sql = "SELECT line FROM lines JOIN logs ON logs.no = lines.log WHERE place = ? ORDER BY at";
    const lines = database.prepare(sql).all(path.relative(home, file));
    return lines.map(({ line }) => String(line)).join("");
  } finally {
    database.close();
  }
}

/** Opens a session, and further handles on it, by one of the ways. */
export type Way = {
  open(options?: WayOptions): Promise<SessionHandle>;
  another(id: string): SessionHandle;
  /** A copy of it up to an event. */
  fork(id: string, upTo: number): Promise<SessionHandle>;
  /** A page of what its log has. */
  history(id: string, after: number, limit: number): Promise<readonly Durable[]>;
};
export type WayOptions = { readonly allowedTools?: string[] };

const options = { model: "claude-haiku-4-5" };

/** A client of a server over the stage, by each wire. */
export const clients: Readonly<Record<string, (stage: Stage) => Promise<KeelClient>>> = {
  "over frames": async (at) => {
    const served = serve(at);
    const link = wireLink({
      open: async () =>
        wirePair((peer) =>
          openConnection({
            served,
            peer,
            device: { access: "work", name: "a test" },
            hello: { keel: "0", boot: "b" },
          }),
        ).wire,
      timers: webTimers(),
    });
    return closing(clientOver(link));
  },
  "over WebSocket": async (at) => closing(connect({ ...(await webServer(at)), via: "websocket" })),
  "over SSE and POST": async (at) => closing(connect({ ...(await webServer(at)), via: "sse" })),
  "over pipes": async (at) => {
    const served = serve(at);
    const open = async (): Promise<MessageWire> => {
      const [up, down] = [new PassThrough(), new PassThrough()];
      void serveLines({ served, hello: { keel: "0", boot: "b" }, input: up, output: down });
      return pipeWire({ input: down, output: up });
    };
    return closing(clientOver(wireLink({ open, timers: webTimers() })));
  },
  "over a unix socket": async (at) => {
    const socket = path.join(at.home.path, "run", "test.sock");
    mkdirSync(path.dirname(socket), { recursive: true });
    const { door } = await openDoor(at);
    await new Promise<void>((resolve) => door.server.listen(socket, resolve));
    onTestFinished(() => door.close());
    return closing(connectLocally(socket));
  },
};

function closing(client: KeelClient): KeelClient {
  onTestFinished(() => client.close());
  return client;
}

export const ways: Readonly<Record<string, (stage: Stage) => Promise<Way>>> = {
  near: async ({ cwd, env, home }) => {
    const opened = new Map<string, Awaited<ReturnType<Home["open"]>>>();
    const open = async (more: WayOptions & { resume?: string } = {}): Promise<SessionHandle> => {
      const session = await home.open(
        openOptionsOf(
          { permissionMode: "default", ...options, ...more },
          { version: "0", env, cwd, asks: "answered", checkpoints: "on" },
        ),
      );
      opened.set(session.id, session);
      return nearHandle(session);
    };
    return {
      open,
      fork: async (id, upTo) => open({ resume: await home.sessions.fork(id, { upTo }) }),
      async history(id, after, limit) {
        const events = await Array.fromAsync(home.sessions.read(id, undefined, after));
        return events.slice(0, limit);
      },
      another(id) {
        const session = opened.get(id);
        if (!session) throw new Error("not opened here");
        return nearHandle(session);
      },
    };
  },
  ...Object.fromEntries(
    Object.entries(clients).map(([name, client]) => [
      `far ${name}`,
      async (at: Stage): Promise<Way> => wayOf(at, await client(at)),
    ]),
  ),
};

export function serve({ home, env }: Stage, more: Partial<ServedOptions> = {}): ServedSessions {
  return new ServedSessions({
    home,
    env,
    version: "0",
    boot: "b",
    pid: process.pid,
    clients: () => 0,
    ...more,
  });
}

/** Only the address that is listened on. */
const noNames = () => ({ hosts: new Set<string>(), origins: new Set<string>() });

/** A real server on an address of this machine. */
export async function webServer(at: Stage): Promise<{ url: string; secret: string; devices: Devices }> {
  const { door, devices, secret } = await openDoor(at, "guarded");
  await new Promise<void>((resolve) => door.server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => door.close());
  const address = door.server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { url: `http://127.0.0.1:${address.port}`, secret, devices };
}

/** A door that nobody listens at yet; `guarded` as on a port, else as on a socket of the person's own. */
export async function openDoor(at: Stage, guard?: "guarded", more: Partial<ServedOptions> = {}) {
  const devices = await Devices.open(path.join(at.home.path, "server"), () => Date.now());
  const { secret } = await devices.add("a test", "work");
  const pairings = new Pairings({ add: (name, access) => devices.add(name, access), now: () => Date.now() });
  const known = { devices, pairings, connected: () => 0, url: () => "http://127.0.0.1" };
  // Nobody runs the groups here; what was said in them is told all the same.
  const groups = groupHandlers({ home: at.home, env: at.env, groups: { stateOf: () => "resting" } });
  const served = serve(at, {
    devices: deviceHandlers(known),
    beside: () => ({ ...groups, ...scheduleHandlers(at.home) }),
    ...more,
  });
  const door = openWebDoor({
    served,
    hello: { keel: "0", boot: more.boot ?? "b" },
    devices,
    pairings,
    keeper: guard && new Doorkeeper({ devices, names: noNames, now: () => Date.now() }),
  });
  return { door, devices, secret, served };
}

function wayOf({ cwd }: Stage, client: KeelClient): Way {
  return {
    open: (more) => client.open({ cwd, options: { ...options, ...more } }),
    another: (id) => client.attach(id),
    fork: (session, upTo) => client.fork({ session, upTo }),
    history: async (session, after, limit) => (await client.history({ session, after, limit })).events,
  };
}
