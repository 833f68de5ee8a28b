/**
 * This server as one of several on one database. A session is at one of them at a time, by its lease; what is wanted of it
 * at another goes through the inbox of the database, and what happens in it comes back by its log. Where a worker is gone,
 * whoever looks first and has the folder goes on with what it left.
 */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { Fault, toFault } from "../../kernel/fault.ts";
import { asObject } from "../../kernel/json.ts";
import { type Envelope, isDurable } from "../../protocol/event/envelope.ts";
import type { TakeAtOnce } from "../../protocol/handle.ts";
import { accessSchema, type Caller, type OperationName } from "../../protocol/operation.ts";
import { type Notice, PostgresHub } from "../../store/postgres/hub.ts";
import type { Remote } from "../../store/postgres/store.ts";
import { attachTo } from "../attach.ts";
import type { Home } from "../home.ts";
import type { OpenSession } from "../open-session.ts";
import { hasLeftWork } from "../sessions/left-work.ts";
import { FollowedSessions } from "./followed-sessions.ts";
import { InboxQuestions } from "./inbox-questions.ts";

/** What the sessions of this server can do for the worker that it is. */
export type WorkerSessions = {
  /** Done here, whoever asks; the session is open here, or is opened. */
  perform(name: OperationName, question: unknown, caller: Caller): Promise<unknown>;
  use(id: string): Promise<OpenSession>;
  openIds(): readonly string[];
};

/** The events of a session that is open here, or is opened. */
export type WorkerHere = (after: number, take: TakeAtOnce | undefined) => Promise<AsyncIterable<Envelope>>;

export type SessionWorkerOptions = {
  readonly home: Home;
  readonly remote: Remote;
  readonly version: string;
  readonly sessions: WorkerSessions;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

/** With the others, the database is asked about four times a second, however many they are. */
const shareMs = 250;
const maxLookMs = 30_000;
/** A turn may take long; a deployment does not wait for ever. */
const drainMs = 60_000;
const drainLookMs = 500;
const drainPauseMs = 20;

/** What is asked of the session itself; everything else is asked of the log, or of the server. */
const routed: ReadonlySet<OperationName> = new Set<OperationName>([
  "session",
  "submit",
  "message",
  "asks",
  "inquire",
  "label",
  "keepRule",
  "delete",
]);

export class SessionWorker {
  readonly #options: SessionWorkerOptions;
  readonly #hub: PostgresHub;
  readonly #followed: FollowedSessions;
  readonly #questions: InboxQuestions;
  readonly #performing = new Map<string, Promise<void>>();
  /** Those that went on elsewhere. */
  readonly #gone = new Set<string>();
  readonly #closing = new AbortController();
  #isDraining = false;

  constructor(options: SessionWorkerOptions) {
    this.#options = options;
    const { home, remote } = options;
    const { database, own } = remote;
    const hub = new PostgresHub({
      database,
      own,
      heard: (notice) => this.#hear(notice),
      deaf: () => this.#followed.lookAgain(),
    });
    this.#hub = hub;
    const closing = this.#closing.signal;
    this.#followed = new FollowedSessions({ home, hub, closing });
    this.#questions = new InboxQuestions({ home, hub, followed: this.#followed, closing });
    own.onLost((name) => void this.#lose(name));
    remote.onWrote((session) => this.#followed.wrote(session));
  }

  async begin(): Promise<void> {
    const { home, version } = this.#options;
    await this.#hub.begin({ host: hostname(), home: home.path, version, startedAt: home.clock.now() });
    void this.#lookOn();
  }

  /** One was opened here. */
  opened(session: OpenSession): void {
    this.#gone.delete(session.id);
    const stop = this.#followed.tell(session);
    const end = (): void => {
      stop();
      if (!this.#gone.has(session.id) && !this.#closing.signal.aborted) this.#hub.say("over", session.id);
    };
    void session.closed.then(end, end);
  }

  /** Done where the session is. */
  async route(name: OperationName, question: unknown, caller: Caller): Promise<unknown> {
    const { session } = asObject(question);
    const isOfSession = routed.has(name) && typeof session === "string";
    if (isOfSession && !(await this.#isHere(session)))
      return this.#questions.ask(name, session, question, caller);
    return this.#options.sessions.perform(name, question, caller).catch((thrown: unknown) => {
      if (!isOfSession || !isOfOther(thrown)) throw thrown;
      return this.#questions.ask(name, session, question, caller);
    });
  }

  /** See `Home.attach`. Wherever the session is, and wherever it goes meanwhile. */
  async *follow(
    id: string,
    here: WorkerHere,
    ...[after = 0, signal, take]: Parameters<OpenSession["attach"]>
  ): AsyncGenerator<Envelope, void> {
    let seq = after;
    const note = (event: Envelope): void => {
      if (isDurable(event) && !event.origin) seq = Math.max(seq, event.seq);
    };
    const taking =
      take &&
      ((event: Envelope): boolean => {
        const isTaken = take(event);
        if (isTaken) note(event);
        return isTaken;
      });
    while (!signal?.aborted) {
      // Said before anything else is asked of it from here: what comes of that is told to whoever follows.
      const remote = this.#options.home.opened(id) ? undefined : this.#followed.remote(id);
      const local = (await this.#isHere(id)) ? await here(seq, taking).catch(unlessOfOther) : undefined;
      const events =
        local ?? attachTo(await (remote ?? this.#followed.remote(id)).followed(), seq, signal, taking);
      if (local) this.#followed.leave(id);
      try {
        for await (const event of events) {
          yield event;
          note(event);
        }
      } finally {
        if (!local) this.#followed.leave(id);
      }
      // It ended for good, or here alone.
      if (!local || !this.#gone.has(id)) return;
    }
  }

  /** Gives its sessions to the others, each when its turn has ended; those that do not end in time stay. */
  async drain(): Promise<void> {
    const { sessions, home, tell } = this.#options;
    this.#isDraining = true;
    tell?.("worker.draining", { open: sessions.openIds().length });
    const until = home.clock.monotonicMs() + drainMs;
    const give = async (id: string): Promise<void> => {
      const session = home.opened(id);
      while (session && home.clock.monotonicMs() < until) {
        this.#gone.add(id);
        if (await session.leave().catch(() => true)) break;
        this.#gone.delete(id);
        const look = new AbortController();
        const idle = session.idle().catch(() => undefined);
        await Promise.race([idle, home.clock.sleep(drainLookMs, look.signal)]);
        look.abort();
        await home.clock.sleep(drainPauseMs, this.#closing.signal);
      }
      // Whoever waits for it finds another worker now.
      this.#hub.say("inbox", id);
    };
    await Promise.all(sessions.openIds().map(give));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#followed.close();
    await Promise.allSettled(this.#performing.values());
    await this.#hub.close();
  }

  /** Open here, or to be opened here. */
  async #isHere(id: string): Promise<boolean> {
    const { remote, home } = this.#options;
    if (home.opened(id) && !this.#gone.has(id)) return true;
    if (remote.own.fenceOf(id) !== undefined) return true;
    const holder = (await remote.own.holders([id])).get(id);
    if (holder) return holder.id === this.#hub.worker;
    const stored = await home.sessions.find(id);
    // What is nowhere is told by whoever is asked first.
    return stored === undefined || this.#fits(stored.cwd);
  }

  #fits(cwd: string): boolean {
    return !this.#isDraining && !this.#closing.signal.aborted && existsSync(cwd);
  }

  #hear(notice: Notice): void {
    const { kind, of, body } = notice;
    if (kind === "inbox") void this.#takeMail(of);
    else if (kind === "look") void (of === this.#hub.worker && this.#look().catch(() => undefined));
    else if (kind === "answer") void (of === this.#hub.worker && this.#questions.look(body));
    else this.#followed.hear(notice);
  }

  /** What waits for a session is done by whoever has it; where nobody has, by whoever can. One after the other. */
  #takeMail(session: string): Promise<void> {
    const before = this.#performing.get(session);
    const taken = (async () => {
      await before;
      await this.#performWaiting(session).catch((thrown: unknown) => this.#sayFailure(session, thrown));
    })();
    this.#performing.set(session, taken);
    void taken.then(() => {
      if (this.#performing.get(session) === taken) this.#performing.delete(session);
    });
    return taken;
  }

  async #performWaiting(session: string): Promise<void> {
    if (this.#closing.signal.aborted || !(await this.#isHere(session))) return;
    for (const { id, operation, question, caller: said } of await this.#hub.pending(session)) {
      if (this.#gone.has(session)) return;
      const { name, access } = asObject(said);
      const caller = { name: String(name), access: accessSchema.parse(access) };
      try {
        const answer = await this.#options.sessions.perform(operation as OperationName, question, caller);
        await this.#hub.answer(id, { answer: answer ?? null });
      } catch (thrown) {
        // Another worker was quicker, or has it by now: it is for that one to answer.
        if (isOfOther(thrown) || this.#gone.has(session)) return;
        await this.#hub.answer(id, { fault: toFault(thrown).toData() });
      }
    }
  }

  async #lookOn(): Promise<void> {
    const { clock, ids } = this.#options.home;
    const { signal } = this.#closing;
    for (let workers = 1; !signal.aborted; ) {
      // Not all at the same moment.
      await clock.sleep(Math.min(maxLookMs, workers * shareMs) * (0.5 + ids.random()), signal);
      if (!signal.aborted) workers = await this.#look().catch(() => workers);
    }
  }

  async #look(): Promise<number> {
    const open = this.#options.sessions.openIds().length;
    const { workers, isDraining, left, waiting } = await this.#hub.look(open);
    if (isDraining && !this.#isDraining) void this.drain();
    for (const session of waiting) void this.#takeMail(session);
    for (const each of left)
      await this.#takeOver(each).catch((thrown: unknown) => this.#sayFailure(each.session, thrown));
    return workers;
  }

  /** Its worker gave no sign of life for a whole lease. */
  async #takeOver({ session, fence }: { session: string; fence: number }): Promise<void> {
    const { home, sessions, tell } = this.#options;
    const stored = await home.sessions.find(session);
    if (!stored || !this.#fits(stored.cwd)) return;
    if (!(await hasLeftWork(home.sessions.read(session)))) return this.#hub.letGo(session, fence);
    await sessions.use(session);
    tell?.("worker.took", { session, fence });
  }

  /** This worker stood still, and another has it by now: it stops here, and says nothing more. */
  async #lose(id: string): Promise<void> {
    this.#gone.add(id);
    const session = this.#options.home.opened(id);
    if (!session) return;
    this.#options.tell?.("worker.lost", { session: id });
    await session.close("ended").catch(() => undefined);
  }

  #sayFailure(session: string, thrown: unknown): void {
    if (!isOfOther(thrown)) this.#options.tell?.("worker.failed", { session, code: toFault(thrown).code });
  }
}

const otherCodes: ReadonlySet<string> = new Set(["session_busy", "session_served", "session_taken"]);
const isOfOther = (thrown: unknown): boolean => thrown instanceof Fault && otherCodes.has(thrown.code);

function unlessOfOther(thrown: unknown): undefined {
  if (!isOfOther(thrown)) throw thrown;
}
