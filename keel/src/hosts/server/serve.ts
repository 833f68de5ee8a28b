/**
 * `keel serve`: owns the sessions of a home for whoever attaches, on a unix socket that only the person can reach, on a
 * port of this machine where one is named, or over its own pipes. One at a time for each home; it ends by closing its
 * sessions in order, and after a crash the next one has every session as its log says.
 */
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import path from "node:path";
import * as z from "zod/mini";
import { type Home, openHome } from "../../app/home.ts";
import { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { Fault, fault, reasonOf } from "../../kernel/fault.ts";
import { Doorkeeper } from "./admission.ts";
import { Devices } from "./devices.ts";
import { type LineDoorOptions, serveLines } from "./line-door.ts";
import { openWebDoor, type WebDoor } from "./web-door.ts";

/** What a server needs of the process that it runs in. */
export type ServeOptions = {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** A port of this machine beside the unix socket; 0 for any that is free. */
  readonly port?: number | undefined;
};

export type RunningServer = {
  readonly state: ServerState;
  /** A link that opens the door once, where there is a port. */
  link(): string | undefined;
  /** Serves whoever is at the other end of these pipes, until they go. */
  serveLines(pipes: Pick<LineDoorOptions, "input" | "output">): Promise<void>;
  close(): Promise<void>;
};

const stateSchema = z.object({
  pid: z.number(),
  boot: z.string(),
  version: z.string(),
  socket: z.string(),
  url: z.optional(z.string()),
  /** Where the person's own secret stands. */
  secretFile: z.string(),
});
export type ServerState = z.infer<typeof stateSchema>;

const loopback = "127.0.0.1";

/** Throws `server_runs` when this home has one. */
export async function startServer({ version, env, cwd, port }: ServeOptions): Promise<RunningServer> {
  const home = openHome({ cwd, env });
  const folder = path.join(home.path, "server");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lease = await home.hold("server").catch(async (thrown: unknown) => {
    await home.close();
    if (!(thrown instanceof Fault) || thrown.code !== "session_busy") throw thrown;
    const state = await readState(home.path);
    throw fault("server_runs", {
      pid: state?.pid ?? "unknown",
      where: state?.url ?? state?.socket ?? folder,
    });
  });
  const boot = newBoot();
  const doors: WebDoor[] = [];
  const clients = (): number => doors.reduce((sum, door) => sum + door.clients(), 0);
  const served = new ServedSessions({ home, version, env, boot, pid: process.pid, clients });
  const close = async (): Promise<void> => {
    await rm(stateFile(home.path), { force: true });
    await served.close();
    for (const door of doors) door.close();
    await lease.release();
  };
  try {
    const devices = await Devices.open(folder, () => Date.now());
    const hello = { keel: version, boot };
    const local = openWebDoor({ served, hello, devices, keeper: undefined });
    doors.push(local);
    const socket = await listenHere(local.server, home);
    const hosts = new Set<string>();
    const origins = new Set<string>();
    let url: string | undefined;
    if (port !== undefined) {
      const keeper = new Doorkeeper({ devices, hosts, origins, now: () => Date.now() });
      const door = openWebDoor({ served, hello, devices, keeper });
      doors.push(door);
      const listening = await listenOn(door.server, { port, host: loopback });
      for (const name of [loopback, "localhost"]) {
        hosts.add(`${name}:${listening}`);
        origins.add(`http://${name}:${listening}`);
      }
      url = `http://${loopback}:${listening}`;
    }
    const state = { pid: process.pid, boot, version, socket, url, secretFile: devices.secretFile() };
    await writeState(home.path, state);
    return {
      state,
      link: () => (url === undefined ? undefined : `${url}/?token=${devices.link("work")}`),
      serveLines: (pipes) => serveLines({ ...pipes, served, hello }),
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Undefined where none runs, as far as its file says: one that was killed leaves it behind. */
export async function readState(home: string): Promise<ServerState | undefined> {
  try {
    return stateSchema.parse(JSON.parse(await readFile(stateFile(home), "utf8")));
  } catch {
    return undefined;
  }
}

const stateFile = (home: string): string => path.join(home, "server", "running.json");

async function writeState(home: string, state: ServerState): Promise<void> {
  const file = stateFile(home);
  await writeFile(`${file}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** In a folder that nobody else can enter. What an earlier server left there is in nobody's hands: we hold the lease. */
async function listenHere(server: Server, home: Home): Promise<string> {
  const folder = path.join(home.path, "run");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const socket = path.join(folder, "keel.sock");
  await rm(socket, { force: true });
  await listenOn(server, { path: socket });
  await chmod(socket, 0o600);
  return socket;
}

/** Returns the port. Throws `usage` where it cannot be had. */
function listenOn(server: Server, where: { path: string } | { port: number; host: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (thrown) => reject(fault("usage", { reason: `No server: ${reasonOf(thrown)}` })));
    server.listen(where, () => {
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : 0);
    });
  });
}

const newBoot = (): string => `${Date.now().toString(36)}-${process.pid}`;
