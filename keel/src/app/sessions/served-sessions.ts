/**
 * The sessions that a server owns for a person, by the table of operations. A session is opened when it is first used
 * and goes on until somebody closes it or the server ends; in between it may be unloaded, which nobody notices. What it
 * was opened with is kept, so that after a restart it comes back the same.
 */
import path from "node:path";
import { Fault, fault } from "../../kernel/fault.ts";
import type { SessionPeers } from "../../ports/agents.ts";
import type { BridgeOperation } from "../../protocol/bridge.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import type { GroupOperation } from "../../protocol/group-operations.ts";
import type { InquiryName } from "../../protocol/inquiry.ts";
import type { MoveOperation } from "../../protocol/move-operations.ts";
import {
  type AnswerTo,
  accessOfCommand,
  type Caller,
  type deviceOperations,
  mayDo,
  type OperationName,
  type OperationQuestion,
  operations,
  type SessionEntry,
} from "../../protocol/operation.ts";
import type { ScheduleOperation } from "../../protocol/schedule-operations.ts";
import type { Bridges } from "../bridges/bridges.ts";
import { ServedBridges } from "../bridges/served-bridges.ts";
import type { Home } from "../home.ts";
import { ServedMoves } from "../moves/served-moves.ts";
import type { OpenSession } from "../open-session.ts";
import type { SessionWorker, WorkerHere, WorkerSessions } from "../workers/session-worker.ts";
import { settingsOf } from "../workspaces/official-sdk.ts";
import { ServedWorkspaces, type WorkspaceHandlers } from "../workspaces/served-workspaces.ts";
import type { FollowableSession, WorkspaceSessions } from "../workspaces/worker.ts";
import { historyPage } from "./history-page.ts";
import { unloadWhenIdle } from "./idle-sessions.ts";
import { takeUpLeft } from "./left-work.ts";
import { type BroughtTools, inputOf, lendSession, Receipts, saidBy } from "./lent-session.ts";
import { nearHandle } from "./near-handle.ts";
import { optionsOfOpening, sayIssue } from "./opening-options.ts";
import { type Opening, type OpeningBook, Openings } from "./openings.ts";
import { type MemoryHandlers, memoryHandlers } from "./served-memory.ts";
import type { StoredSession } from "./sessions.ts";

export type ServedOptions = {
  readonly home: Home;
  readonly version: string;
  /** The environment of the server: keys, addresses, and what commands inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names this start of the server. */
  readonly boot: string;
  readonly pid: number;
  /** How many are connected. */
  readonly clients: () => number;
  /** Who may come in is the door's to know; left out where there is none. */
  readonly devices?: DeviceHandlers | undefined;
  /** The chat groups and the schedules of the home, where somebody runs them. */
  readonly beside?: (() => HomeHandlers) | undefined;
  /** Whom its sessions may send words to; those behind its bridges when left out. */
  readonly peers?: SessionPeers | undefined;
  /** The folder of the home in which it keeps what is its own; `server` when left out. */
  readonly keptIn?: string | undefined;
  /** Where this server is one of several: the others, and what all of them know of sessions. */
  readonly worker?: ((sessions: WorkerSessions) => SessionWorker) | undefined;
  readonly openings?: OpeningBook | undefined;
  /** How long a session that nobody uses stays in memory. */
  readonly idleMs?: number | undefined;
  /** Told of each step of a move that lasts; for tests. */
  readonly reached?: ((step: string) => Promise<void>) | undefined;
  /** For the server's own log. */
  readonly tell?: ((what: SessionChange, session: string) => void) | undefined;
};

export type SessionChange = "session.opened" | "session.resumed" | "session.unloaded" | "session.closed";

export type DeviceHandlers = Pick<OperationHandlers, (typeof deviceOperations)[number]>;
export type HomeHandlers = Pick<OperationHandlers, GroupOperation | ScheduleOperation>;
type OtherOperation = keyof (DeviceHandlers & WorkspaceHandlers & HomeHandlers) | BridgeOperation;

type OwnedSession = { readonly session: OpenSession; readonly brought: BroughtTools };

type OperationHandlers = {
  readonly [Name in OperationName]: (
    question: OperationQuestion<Name>,
    caller: Caller,
  ) => Promise<AnswerTo<Name>>;
};

export class ServedSessions {
  readonly #options: ServedOptions;
  readonly #openings: OpeningBook;
  readonly #open = new Map<string, Promise<OwnedSession>>();
  readonly #loadable = new Set<OpenSession>();
  readonly #receipts = new Receipts();
  /** The last one: a table of all that are alive would cost the collector more than writing them again. */
  #encoded: { readonly event: Envelope; readonly text: string } | undefined;
  readonly #opened = new Set<(session: FollowableSession) => void>();
  /** Which start of a server this is, and where it keeps what is its own. */
  readonly start: { readonly pid: number; readonly startedAt: number; readonly folder: string };
  #closing: Promise<void> | undefined;
  /** This server as one of several. */
  readonly worker: SessionWorker | undefined;
  /** Machines that offer a folder and take work; their sessions are found here by their ids too. */
  readonly bridges: Bridges;
  readonly #served: ServedBridges;
  /** Those that come from another machine. */
  readonly #moves: ServedMoves;
  readonly #memory: MemoryHandlers;
  /** Those of the same home, with their workers, of which some are sessions here. */
  readonly workspaces: ServedWorkspaces;

  constructor(options: ServedOptions) {
    this.#options = options;
    const folder = path.join(options.home.path, options.keptIn ?? "server");
    this.#openings = options.openings ?? new Openings(folder);
    this.worker = options.worker?.({
      perform: (name, question, caller) => this.#handle(name, question, caller),
      use: async (id) => (await this.#use(id)).session,
      openIds: () => [...this.#open.keys()],
    });
    const { home, env } = options;
    this.start = { pid: options.pid, startedAt: home.clock.now(), folder };
    this.#served = new ServedBridges({
      folder,
      home,
      workspaces: () => this.workspaces,
      opened: (session) => {
        for (const listener of this.#opened) listener(session);
      },
    });
    this.bridges = this.#served.bridges;
    this.#moves = new ServedMoves({
      home,
      env,
      reached: options.reached,
      opened: async (id) => (await this.#open.get(id)?.catch(() => undefined))?.session,
      arrived: (id) => this.#openings.forget(id),
    });
    this.#memory = memoryHandlers({ home, env });
    this.workspaces = new ServedWorkspaces({
      bridged: this.bridges,
      folder,
      env,
      sessions: this.#forWorkers,
      guard: home.openGuard(env),
      hold: (name) => home.hold(name),
      settings: (cwd) => settingsOf({ cwd, env, home: home.path }),
      policy: (cwd, permissionMode) =>
        home.policyAt({ cwd, env, version: options.version, permissionMode, strictMcpConfig: true }),
      offers: async (cwd) =>
        (await import("../workspaces/offers.ts")).offersIn({ cwd, env, home: home.path }),
      clock: home.clock,
      ids: home.ids,
    });
  }

  /** Throws `usage` for what is no question of the operation, `access_refused`, and what the operation throws. */
  async call(name: OperationName, question: unknown, caller: Caller): Promise<unknown> {
    const row = operations[name];
    const { access } = caller;
    if (!mayDo(access, row.access)) throw fault("access_refused", { needed: row.access });
    const parsed = row.question.safeParse(question ?? {});
    if (!parsed.success) throw fault("usage", { reason: sayIssue(name, parsed.error.issues[0]) });
    if (name === "submit") {
      const needed = accessOfCommand((parsed.data as OperationQuestion<"submit">).command.type);
      if (!mayDo(access, needed)) throw fault("access_refused", { needed });
    }
    const bridged = await this.#served.find(parsed.data);
    if (bridged) return this.#unlessEnding(() => bridged.call(name, parsed.data, caller));
    const asked = [name, parsed.data, caller] as const;
    return this.#unlessEnding(() => this.worker?.route(...asked) ?? this.#handle(...asked));
  }

  /** By whoever asks it: what it may do was looked at. */
  async #handle(name: OperationName, question: unknown, caller: Caller): Promise<unknown> {
    // By its name an operation finds only the handler that takes its question.
    const handlers: Partial<OperationHandlers> = {
      ...this.#handlers,
      ...this.workspaces.handlers,
      ...this.#served.handlers,
      ...this.#moves.handlers,
      ...this.#memory,
      ...this.#options.devices,
      ...this.#options.beside?.(),
    };
    const handler = handlers[name] as ((question: unknown, caller: Caller) => Promise<unknown>) | undefined;
    if (!handler) throw fault("usage", { reason: "There is nothing of that kind here." });
    return handler(question, caller);
  }

  /** What a server that ends cannot do any more is for the next one: whoever asked may ask again there. */
  async #unlessEnding<T>(work: () => Promise<T>): Promise<T> {
    const ending = (): Fault => fault("link_lost", { reason: "the server is about to end" });
    if (this.#closing !== undefined) throw ending();
    return work().catch((thrown: unknown) => {
      const isOver = thrown instanceof Fault && thrown.code === "session_closed";
      throw isOver && this.#closing !== undefined ? ending() : thrown;
    });
  }

  /** See `Home.attach`: to follow a session is to use it, so it is opened where it is not. Throws `session_unknown`. */
  async follow(id: string, ...how: Parameters<OpenSession["attach"]>): Promise<AsyncIterable<Envelope>> {
    const bridged = await this.bridges.find(id);
    if (bridged) return bridged.follow(...how);
    const here: WorkerHere = async (after, take) =>
      (await this.#unlessEnding(() => this.#use(id))).session.attach(after, how[1], take);
    return this.worker?.follow(id, here, ...how) ?? here(how[0] ?? 0, how[2]);
  }

  /** For whoever speaks a dialect of its own: the session as it has it, opened where it is not. Throws `session_unknown`. */
  async lend(id: string, caller: Caller): Promise<OpenSession> {
    const { session, brought } = await this.#use(id);
    return lendSession(session, caller, brought);
  }

  /**
   * For what is due by the clock, and for groups: begun with this id where there is none, and where `opening` says how.
   * `anew`: one that is not open is opened by what is said now.
   */
  async useOrBegin(id: string, opening: Opening | undefined, how?: "anew"): Promise<OpenSession> {
    const isNew = opening && !this.#open.has(id) && !(await this.sessions.find(id));
    // What it is opened with is kept before it is there: whoever takes it up after a crash opens it the same.
    if (opening && (isNew || how === "anew")) await this.#openings.keep(id, opening);
    if (isNew) await this.#begin(opening);
    return (await this.#use(id)).session;
  }

  /** Calls back whenever a session was opened, until what it returns is called. */
  onOpened(listener: (session: FollowableSession) => void): () => void {
    this.#opened.add(listener);
    return () => this.#opened.delete(listener);
  }

  /** Those of the home, whether or not they are open. */
  get sessions(): Home["sessions"] {
    return this.#options.home.sessions;
  }

  /** An event is told to all who follow it in one go, and is written once for all of them. */
  encoded(event: Envelope): string {
    if (this.#encoded?.event === event) return this.#encoded.text;
    const text = JSON.stringify(event);
    this.#encoded = { event, text };
    return text;
  }

  /** Every session ends in order; their clients hear of it by the end of what they follow. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.workspaces.close();
    await this.bridges.close();
    await this.worker?.close();
    await this.#options.home.close();
  }

  readonly #handlers: Omit<OperationHandlers, OtherOperation | MoveOperation | keyof MemoryHandlers> = {
    status: async () => {
      const { version, boot, pid, clients } = this.#options;
      const loaded = [...this.#loadable].filter((session) => session.isLoaded()).length;
      return { version, boot, pid, open: this.#open.size, loaded, clients: clients() };
    },
    sessions: async ({ cwd, limit }) => {
      const own = await this.#entries(await this.#options.home.sessions.list({ cwd, limit }));
      return this.#served.listedWith(own, { cwd, limit });
    },
    search: async (question) =>
      (await import("./search-sessions.ts")).searchHome(this.#options.home, question),
    session: async ({ session: id }) => {
      const { session } = await this.#use(id);
      return { session: id, seq: session.lastSeq(), working: session.hasWork() };
    },
    open: async ({ cwd, options = {} }) => ({ session: await this.#begin({ cwd, options }) }),
    submit: async ({ session: id, commandId, command: given }, caller) => {
      const served = await this.#use(id);
      const command = saidBy(caller, given);
      if (commandId === undefined) return submitTo(served, command);
      return this.#receipts.once(`${id} ${commandId}`, () => submitTo(served, command));
    },
    message: async ({ session, content, id }, caller) =>
      submitTo(await this.#use(session), saidBy(caller, inputOf(content, id))),
    asks: async ({ session }) => (await this.#use(session)).session.openAsks(),
    inquire: async ({ session, name, question }) =>
      // What is no name of the table is refused by it.
      (await this.#use(session)).session.inquire(name as InquiryName, question as never),
    history: ({ session, ...page }) => historyPage((after) => this.#stored(session, after), page),
    fork: async ({ session, upTo, title }) => {
      const copy = await this.#options.home.sessions.fork(session, { upTo, title });
      const opening = await this.#openings.read(session);
      if (opening) await this.#openings.keep(copy, opening);
      return { session: copy };
    },
    label: async ({ session: id, ...patch }) => {
      const open = await this.#open.get(id);
      if (open) await open.session.submit({ type: "set", patch });
      else await this.#options.home.sessions.label(id, patch);
      return {};
    },
    keepRule: async ({ session, rule, to }) => (await this.#use(session)).session.keepRule(rule, to),
    delete: async ({ session: id }) => {
      await (await this.#open.get(id)?.catch(() => undefined))?.session.close("ended");
      await this.#options.home.sessions.delete(id);
      await this.#openings.forget(id);
      return {};
    },
  };

  readonly #forWorkers: WorkspaceSessions = {
    open: (opening) => this.#begin(opening),
    current: (id) => this.#options.home.opened(id) ?? this.bridges.current(id),
    onOpened: (listener) => this.onOpened(listener),
    say: (session, words, id) => this.#tell(session, inputOf(words, id)),
    interrupt: (session) => this.#tell(session, { type: "interrupt" }),
    stored: (id, after) => this.#served.storedOr(id, after, () => this.sessions.read(id, undefined, after)),
    rest: async (id) => this.#options.home.opened(id)?.close("ended"),
  };

  /** Words of nobody who is named: the person's own, by a worker. */
  async #tell(session: string, command: Command): Promise<void> {
    if (!(await this.#served.tell(session, command))) await submitTo(await this.#use(session), command);
  }

  async #begin(opening: Opening): Promise<string> {
    const session = await this.#options.home.open(this.#openOptions(opening));
    await this.#openings.keep(session.id, opening);
    await this.#serve(session.id, Promise.resolve(session));
    this.#options.tell?.("session.opened", session.id);
    return session.id;
  }

  #openOptions(opening: Opening) {
    const { version, env, peers = this.#served.peers } = this.#options;
    return optionsOfOpening(opening, { version, env, peers });
  }

  async #entries(stored: readonly StoredSession[]): Promise<SessionEntry[]> {
    const owners = await this.#options.home.owners(stored.map(({ id }) => id));
    return stored.map(({ bytes: _, parent: __, forkedFrom: ___, ...entry }) => ({
      ...entry,
      owner: this.#open.has(entry.id) ? "open" : owners.has(entry.id) ? "elsewhere" : "stored",
    }));
  }

  /**
   * What its log has, whether or not it is open; one that is still being opened has nothing else, and a long one takes its
   * time. A negative `after`: so many of the last, or more that came meanwhile.
   */
  async #stored(id: string, after: number) {
    const session = this.#options.home.opened(id);
    return session
      ? session.history(after < 0 ? Math.max(0, session.lastSeq() + after) : after)
      : this.#options.home.sessions.read(id, undefined, after);
  }

  /** Two that come at once get the same session. */
  #use(id: string): Promise<OwnedSession> {
    return this.#open.get(id) ?? this.#serve(id, this.#takeUp(id));
  }

  async #takeUp(id: string): Promise<OpenSession> {
    const stored = await this.#options.home.sessions.find(id);
    if (!stored) throw fault("session_unknown", { session: id });
    const opening = (await this.#openings.read(id)) ?? { cwd: stored.cwd, options: {} };
    const session = await this.#options.home.open({
      ...this.#openOptions(opening),
      which: { kind: "resume", from: { session: id } },
    });
    // What an end of the server left unfinished goes on; what stops it is told to whoever follows.
    session.run().catch(() => undefined);
    this.#options.tell?.("session.resumed", id);
    return session;
  }

  /** What an earlier server left in the middle of something goes on, also where nobody looks. Never throws. */
  async takeUpLeft(): Promise<void> {
    await takeUpLeft({
      home: this.#options.home,
      ids: await this.#openings.ids(),
      use: (id) => this.#use(id),
      isClosing: () => this.#closing !== undefined,
    });
  }

  #serve(id: string, opened: Promise<OpenSession>): Promise<OwnedSession> {
    const served = opened.then((session): OwnedSession => ({ session, brought: new Map() }));
    this.#open.set(id, served);
    const leave = (): void => {
      if (this.#open.get(id) === served) this.#open.delete(id);
    };
    served.then(({ session }) => {
      this.#loadable.add(session);
      this.worker?.opened(session);
      void session.closed.finally(() => {
        leave();
        this.#loadable.delete(session);
        this.#options.tell?.("session.closed", id);
      });
      const { home, idleMs, tell } = this.#options;
      void unloadWhenIdle(session, {
        clock: home.clock,
        idleMs,
        tell: (idle) => tell?.("session.unloaded", idle),
      });
      for (const listener of this.#opened) listener(session);
    }, leave);
    return served;
  }
}

const submitTo = ({ session }: OwnedSession, command: Command): Promise<Receipt> =>
  nearHandle(session).submit(command);
