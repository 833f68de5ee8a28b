/**
 * `keel serve`: owns the sessions of a home for whoever attaches, on a unix socket that only the person can reach, on a
 * port of this machine where one is named, or over its own pipes. One at a time for each home; it ends by closing its
 * sessions in order, and after a crash the next one has every session as its log says.
 */
import { chmod, mkdir, rm } from "node:fs/promises";
import type { Server } from "node:net";
import path from "node:path";
import { HomeGroups } from "../../app/groups/home-groups.ts";
import { groupHandlers } from "../../app/groups/served-groups.ts";
import { type Home, openHome } from "../../app/home.ts";
import { homeScheduler } from "../../app/schedules/home-scheduler.ts";
import { scheduleHandlers } from "../../app/schedules/served-schedules.ts";
import {
  forgetServerState,
  readServerState,
  type ServerState,
  writeServerState,
} from "../../app/sessions/home-server.ts";
import { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { Fault, fault, reasonOf } from "../../kernel/fault.ts";
import { namesOf, readAddress, type ServeAt, type ServerNames, urlOf } from "./addresses.ts";
import { Doorkeeper } from "./admission.ts";
import { Devices } from "./devices.ts";
import { type LineDoorOptions, serveLines } from "./line-door.ts";
import { deviceHandlers, Pairings } from "./pairings.ts";
import { ServerLog } from "./server-log.ts";
import { openWebDoor, type WebDoor } from "./web-door.ts";

/** What a server needs of the process that it runs in. */
export type ServeOptions = {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** How `keel` is started, for programs that speak to this server for an agent. */
  readonly keel?: { readonly command: string; readonly args: readonly string[] } | undefined;
  /** Where it is reached beside the unix socket. */
  readonly at?: ServeAt | undefined;
};

export type RunningServer = {
  readonly state: ServerState;
  /** A link that opens the door once, where there is a port. */
  link(): string | undefined;
  /** Serves whoever is at the other end of these pipes, until they go. */
  serveLines(pipes: Pick<LineDoorOptions, "input" | "output">): Promise<void>;
  close(): Promise<void>;
};

/** Throws `server_runs` when this home has one, and `usage` for an address that cannot be had or is not safe. */
export async function startServer({
  version,
  env: given,
  cwd,
  keel,
  at,
}: ServeOptions): Promise<RunningServer> {
  const address = at && (await readAddress(at));
  const home = openHome({ cwd, env: given });
  const env = withoutStore(given);
  const folder = path.join(home.path, "server");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lease = await home.beServer().catch(async (thrown: unknown) => {
    await home.close();
    if (!(thrown instanceof Fault) || thrown.code !== "session_busy") throw thrown;
    const state = await readServerState(home.path);
    throw fault("server_runs", {
      // It may not have said yet where it is.
      pid: state?.pid ?? thrown.detail["pid"] ?? "unknown",
      where: state?.url ?? state?.socket ?? folder,
    });
  });
  const now = (): number => Date.now();
  const devices = await Devices.open(folder, now).catch(async (thrown: unknown) => {
    await lease.release();
    await home.close();
    throw thrown;
  });
  const pairings = new Pairings({ add: (name, access) => devices.add(name, access), now });
  const boot = newBoot();
  const doors: WebDoor[] = [];
  const clients = (): number => doors.reduce((sum, door) => sum + door.clients(), 0);
  const log = new ServerLog({ file: path.join(home.path, "logs", "server.log"), now });
  let url: string | undefined;
  const remote = await home.remote();
  const tell = (what: string, facts: Parameters<ServerLog["say"]>[1]): void => log.say(what, facts);
  // Loaded where there is a database that others share.
  const shared = remote
    ? (await import("../../app/workers/be-worker.ts")).beWorker({ home, remote, version, tell })
    : {};
  const served = new ServedSessions({
    ...shared,
    home,
    version,
    env,
    boot,
    pid: process.pid,
    clients,
    tell: (what, session) => log.say(what, { session }),
    beside: () => handlers,
    devices: deviceHandlers({
      devices,
      pairings,
      connected: (device) => doors.reduce((sum, door) => sum + door.clientsOf(device), 0),
      url: () => address?.publicUrl ?? url,
    }),
  });
  const groups = new HomeGroups(home, served, { version, env, keel, tell });
  const handlers = { ...groupHandlers({ home, groups, env }), ...scheduleHandlers(home) };
  const schedules = await homeScheduler(home, served, { asks: "answered", groups, tell });
  const close = async (): Promise<void> => {
    log.say("server.stopping", { clients: clients() });
    await served.worker?.drain();
    await forgetServerState(home.path);
    await schedules.close();
    await groups.close();
    await served.close();
    for (const door of doors) door.close();
    log.say("server.stopped");
    await log.flushed();
    await lease.release();
  };
  try {
    const hello = { keel: version, boot };
    const all = { served, hello, devices, pairings, log };
    const local = openWebDoor({ ...all, keeper: undefined });
    doors.push(local);
    const socket = await listenHere(local.server, home);
    if (address) {
      let names: ServerNames = { hosts: new Set(), origins: new Set() };
      const keeper = new Doorkeeper({ devices, names: () => names, now });
      const door = openWebDoor({ ...all, keeper, tls: address.tls });
      doors.push(door);
      const port = await listenOn(door.server, address);
      names = namesOf(address, port);
      url = urlOf(address, port);
    }
    const publicUrl = address?.publicUrl;
    const state: ServerState = {
      pid: process.pid,
      boot,
      version,
      socket,
      url,
      publicUrl,
      secretFile: devices.secretFile(),
      logFile: log.file,
      startedAt: Date.now(),
    };
    await writeServerState(home.path, state);
    log.say("server.started", { pid: process.pid, version, boot, port: url && new URL(url).port });
    await served.worker?.begin();
    void served.takeUpLeft();
    void schedules.scheduler.serve();
    void groups.serve();
    return {
      state,
      link: () => (url === undefined ? undefined : `${publicUrl ?? url}/?token=${devices.link("work")}`),
      serveLines: (pipes) => serveLines({ ...pipes, served, hello }),
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Where the database is, and its password, is nothing for commands. */
function withoutStore(env: ServeOptions["env"]): ServeOptions["env"] {
  const { KEEL_STORE: _, KEEL_STORE_URL: __, ...rest } = env;
  return rest;
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
