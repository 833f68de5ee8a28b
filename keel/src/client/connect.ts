/** A client of a server of sessions: what it has, and handles on them. Runs in a browser and in Node. */
import { fault } from "../kernel/fault.ts";
import type { SessionHandle } from "../protocol/handle.ts";
import type { AnswerTo, OperationQuestion, SessionEntry } from "../protocol/operation.ts";
import { wireName } from "../protocol/wire.ts";
import type { MessageWire } from "../transport/message-wire.ts";
import { type FarBridges, farBridges } from "./far-bridges.ts";
import { type FarDevices, farDevices } from "./far-devices.ts";
import { type ClientPorts, farHandle } from "./far-handle.ts";
import { type FarMoves, farMoves } from "./far-moves.ts";
import { type FarWorkspaces, farWorkspaces } from "./far-workspaces.ts";
import { httpLink } from "./http-link.ts";
import type { Greeting, LinkStatus, LinkTimers, ServerLink } from "./link.ts";
import { collectSecret, type PairedDevice, type PairOptions } from "./pair-device.ts";
import { wireLink } from "./wire-link.ts";

export type ClientOptions = {
  /** `http://127.0.0.1:8080`, of the server. */
  readonly url: string;
  /** What its file holds, or what pairing gave; left out in a browser, whose cookie speaks for it. */
  readonly secret?: string | undefined;
  /** A socket when left out; `sse` where none gets through. */
  readonly via?: "websocket" | "sse" | undefined;
  /** What others see this client as. */
  readonly name?: string | undefined;
};

export type KeelClient = {
  greeting(): Promise<Greeting>;
  /** How the way to the server stands now. */
  readonly link: LinkStatus;
  /** Told of each change of it, so that a screen can say at once that it is cut. Returns a function that ends it. */
  onLink(listener: (status: LinkStatus) => void): () => void;
  sessions(filter?: OperationQuestion<"sessions">): Promise<readonly SessionEntry[]>;
  /** Words in what was said in any of them. */
  search(question: OperationQuestion<"search">): Promise<AnswerTo<"search">>;
  status(): Promise<AnswerTo<"status">>;
  /** Begins a session. The options are those of the options table, as a runner's first line has them. */
  open(question: OperationQuestion<"open">): Promise<SessionHandle>;
  /** A handle on a session that there is; nothing is asked of the server yet. */
  attach(session: string): SessionHandle;
  /** How one of them stands. */
  session(id: string): Promise<AnswerTo<"session">>;
  history(question: OperationQuestion<"history">): Promise<AnswerTo<"history">>;
  fork(question: OperationQuestion<"fork">): Promise<SessionHandle>;
  label(question: OperationQuestion<"label">): Promise<void>;
  /** An allow rule into a settings file, for sessions to come. Throws `settings_unwritable`. */
  keepRule(question: OperationQuestion<"keepRule">): Promise<AnswerTo<"keepRule">>;
  delete(session: string): Promise<void>;
  /** Its workspaces with their workers. */
  readonly workspaces: FarWorkspaces;
  /** Machines that offer a folder and take work. */
  readonly bridges: FarBridges;
  /** Sessions that come to it from another machine. */
  readonly moves: FarMoves;
  /** What earlier conversations said: the best for some words, or the newest; and what is to be forgotten of it. */
  readonly memory: {
    find(question?: OperationQuestion<"memory">): Promise<AnswerTo<"memory">>;
    stats(): Promise<AnswerTo<"memoryStats">>;
    forget(pieces: readonly number[]): Promise<AnswerTo<"forgetMemory">>;
  };
  /** Chat groups with agents of their own: where each stands, what was said there, and saying something. */
  readonly groups: {
    list(): Promise<AnswerTo<"groups">>;
    log(question: OperationQuestion<"groupLog">): Promise<AnswerTo<"groupLog">>;
    say(question: OperationQuestion<"groupSay">): Promise<void>;
  };
  /** Prompts that are due by the clock: when they start next, what became of them, and what a person may do with one. */
  readonly schedules: {
    list(question?: OperationQuestion<"schedules">): Promise<AnswerTo<"schedules">>;
    pause(question: OperationQuestion<"pauseSchedule">): Promise<void>;
    run(schedule: string): Promise<void>;
    remove(schedule: string): Promise<void>;
  };
  /** Who may come in. */
  readonly devices: FarDevices;
  /** Cuts the way to the server; handles end with it. */
  close(): void;
};

/** Touches nothing yet: the way is opened when it is first needed. */
export function connect({ via = "websocket", ...options }: ClientOptions): KeelClient {
  if (via === "websocket") return connectBySocket(options);
  const { url, secret, name } = options;
  const timers = webTimers();
  return clientOver(httpLink({ url, secret, name, fetch: (input, init) => fetch(input, init), timers }));
}

/** Over a socket and nothing else: for a page, which has no need of the schemas that plain requests are made by. */
export const connectBySocket = ({ url, secret, name }: Omit<ClientOptions, "via">): KeelClient =>
  clientOver(wireLink({ open: (signal) => webSocketWire(url, secret, signal), name, timers: webTimers() }));

/** How a program or a browser that has no secret gets one: see `PairOptions`. Throws as `collectSecret` does. */
export const pairDevice = (options: Omit<PairOptions, "fetch">): Promise<PairedDevice> =>
  collectSecret({ ...options, fetch: (input, init) => fetch(input, init) });

/** The same over a link of one's own: a unix socket, a pair of pipes. */
export function clientOver(link: ServerLink, ports: ClientPorts = webPorts()): KeelClient {
  const closed = new AbortController();
  const attach = (session: string): SessionHandle => farHandle(session, link, ports, closed.signal);
  return {
    greeting: () => link.greeting(),
    get link() {
      return link.status;
    },
    onLink: (listener) => link.onStatus(listener),
    sessions: (filter = {}) => link.call("sessions", filter),
    search: (question) => link.call("search", question),
    status: () => link.call("status", {}),
    open: async (question) => attach((await link.call("open", question)).session),
    attach,
    session: (session) => link.call("session", { session }),
    history: (question) => link.call("history", question),
    fork: async (question) => attach((await link.call("fork", question)).session),
    label: async (question) => void (await link.call("label", question)),
    keepRule: (question) => link.call("keepRule", question),
    delete: async (session) => void (await link.call("delete", { session })),
    workspaces: farWorkspaces(link, ports),
    bridges: farBridges(link, ports),
    moves: farMoves(link),
    memory: {
      find: (question = {}) => link.call("memory", question),
      stats: () => link.call("memoryStats", {}),
      forget: (pieces) => link.call("forgetMemory", { pieces }),
    },
    groups: {
      list: () => link.call("groups", {}),
      log: (question) => link.call("groupLog", question),
      say: async (question) => void (await link.call("groupSay", question)),
    },
    schedules: {
      list: (question = {}) => link.call("schedules", question),
      pause: async (question) => void (await link.call("pauseSchedule", question)),
      run: async (schedule) => void (await link.call("runSchedule", { schedule })),
      remove: async (schedule) => void (await link.call("removeSchedule", { schedule })),
    },
    devices: farDevices(link),
    close() {
      closed.abort();
      link.close();
    },
  };
}

/** A secret cannot stand in a header here, so that it travels as the name of a second protocol. */
export function webSocketWire(
  url: string,
  secret: string | undefined,
  signal?: AbortSignal,
): Promise<MessageWire> {
  const address = new URL("/ws", url);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address, secret === undefined ? [wireName] : [wireName, `keel.${secret}`]);
  const closed = Promise.withResolvers<string>();
  let listener: (message: string) => void = () => undefined;
  signal?.addEventListener("abort", () => socket.close(), { once: true });
  socket.addEventListener("message", ({ data }) => listener(String(data)));
  socket.addEventListener("close", ({ code, reason }) =>
    closed.resolve(reason || `the socket was closed (${code})`),
  );
  const wire: MessageWire = {
    send: (message) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(message);
    },
    onMessage: (heard) => {
      listener = heard;
    },
    closed: closed.promise,
    close: () => {
      socket.close();
      // A dead peer answers no goodbye.
      closed.resolve("closed here");
    },
  };
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => resolve(wire), { once: true });
    socket.addEventListener(
      "error",
      () => reject(fault("link_lost", { reason: "the socket could not be opened" })),
      {
        once: true,
      },
    );
  });
}

export const webTimers = (): LinkTimers => ({
  every(ms: number, tick: () => void): () => void {
    const timer = setInterval(tick, ms);
    return () => clearInterval(timer);
  },
  now: () => performance.now(),
});

export const webPorts = (): ClientPorts => ({
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    }),
  uuid: () => crypto.randomUUID(),
  random: () => Math.random(),
});
