/**
 * One value that owns what a process shares between the sessions of one `KEEL_HOME`. A host opens one and passes it on;
 * a process may have several side by side, and closing one leaves the others at work.
 */
import { readFile } from "node:fs/promises";
import { type EnvironmentVariables, pathsOf } from "../config/settings/paths.ts";
import { fault } from "../kernel/fault.ts";
import type { SessionPeers } from "../ports/agents.ts";
import type { Clock, Ids } from "../ports/clock.ts";
import type { HeldLease } from "../ports/lease.ts";
import type { MemoryIndex } from "../ports/memory-index.ts";
import type { ScheduleBook } from "../ports/schedules.ts";
import type { Receipt } from "../protocol/command.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import { logKinds, type StoreWish } from "../store/log-kind.ts";
import type { Remote } from "../store/postgres/store.ts";
import { type HomeResources, homeResources } from "./compose/home-resources.ts";
import type { LateGuard } from "./compose/late-ports.ts";
import type { HomeConversations } from "./conversations/home-conversations.ts";
import type { HomeLetters } from "./letters/home-letters.ts";
import type { SettingsLocation } from "./maintenance/settings-files.ts";
import type { MovePorts } from "./moves/move-ports.ts";
import type { OpenSession } from "./open-session.ts";
import type { OpenOptions } from "./options.ts";
import type { JoinedSession, JoinOptions } from "./sessions/joined-session.ts";
import type { SessionOwner } from "./sessions/owners.ts";
import { type Sessions, storedSessions } from "./sessions/sessions.ts";
import type { FolderPolicy } from "./workspaces/folder-policy.ts";

/** A relative `KEEL_HOME` is meant from `cwd`; `home` stands in place of it and of `~/.keel`. */
export type HomeOptions = SettingsLocation;

/** Touches nothing yet: what it owns is made when it is first used. */
export const openHome = (options: HomeOptions): Home =>
  new Home(homeResources(pathsOf(options).home, () => storeWish(options)));

export class Home implements AsyncDisposable {
  /** Those that are kept, whether or not they are open. */
  readonly sessions: Sessions;
  readonly #resources: HomeResources;
  readonly #open = new Map<string, OpenSession>();
  readonly #openings = new Set<Promise<unknown>>();
  #letters: Promise<HomeLetters> | undefined;
  #closing: Promise<void> | undefined;

  constructor(resources: HomeResources) {
    this.#resources = resources;
    this.sessions = storedSessions(resources);
  }

  get path(): string {
    return this.#resources.path;
  }

  get clock(): Clock {
    return this.#resources.clock;
  }

  get ids(): Ids {
    return this.#resources.ids;
  }

  /** What ends the programs of terminals, however this process ends. */
  openGuard(env: EnvironmentVariables): LateGuard {
    return this.#resources.openGuard(env);
  }

  /**
   * Throws a Fault, and then leaves nothing behind: no empty log, no copy, no connection. `session_served` where the
   * server of the home has it, `session_busy` where another process does.
   */
  async open(options: Omit<OpenOptions, "home">): Promise<OpenSession> {
    if (this.#closing !== undefined) throw fault("session_closed");
    const opening = this.#openOne(options);
    this.#openings.add(opening);
    try {
      return await opening;
    } finally {
      this.#openings.delete(opening);
    }
  }

  async #openOne(options: Omit<OpenOptions, "home">): Promise<OpenSession> {
    // Loaded late: who only lists sessions needs nothing of what makes one.
    const { openSession } = await import("./open-session.ts");
    const peers = this.#peersWith(options.peers);
    const session = await openSession({ ...options, peers, home: this.path }, this.#resources).catch(
      this.#nameOwner,
    );
    if (this.#closing !== undefined) {
      await session.close("ended");
      throw fault("session_closed");
    }
    this.#open.set(session.id, session);
    // Beside the start: who cannot be reached is told so by nobody but those who try.
    if (session.takeLetter)
      void this.#openLetters()
        .then((letters) => letters.listen(session.id))
        .catch(() => undefined);
    void session.closed.then(() => {
      this.#open.delete(session.id);
      // Beside whatever comes next: who asks brings it up to date as well.
      void this.#resources
        .openedConversations()
        ?.then((tables) => tables.refresh())
        .catch(() => undefined);
    });
    return session;
  }

  /** What was said in the sessions, as tables that follow their logs. */
  conversations(): Promise<HomeConversations> {
    return this.#resources.conversations();
  }

  /** One that the server of the home has, as one of those who speak to it. Throws as `joinServed` does. */
  async join(wanted: JoinOptions): Promise<JoinedSession> {
    // Loaded late: most sessions are open nowhere else.
    const { joinServed } = await import("./sessions/joined-session.ts");
    return joinServed(wanted, this.#resources);
  }

  /** What may be done in a folder, by the rules and the mode there, for what is no session. Throws as `open` does. */
  async policyAt(options: Omit<OpenOptions, "home">): Promise<FolderPolicy> {
    const { openFolderPolicy } = await import("./workspaces/folder-policy.ts");
    return openFolderPolicy({ ...options, home: this.path }, this.#resources);
  }

  /** What its conversations said, by what a person's settings say. */
  async memoryIndex({
    env,
    cwd,
    tell,
  }: SettingsLocation & { tell?: (words: string) => void }): Promise<MemoryIndex> {
    const { readSettings } = await import("./compose/settings.ts");
    const { settings } = await readSettings({ env, cwd, home: this.path });
    return this.#resources.memoryIndex({ settings, env, cwd, tell });
  }

  /** Where processes tell each other of schedules. */
  get schedulesPath(): string {
    return `${this.path}/schedules`;
  }

  /** What is due by the clock, for all processes of the home. Whoever opens it closes it. */
  async scheduleBook(): Promise<ScheduleBook> {
    const { openScheduleBook } = await import("../store/schedules/schedule-book.ts");
    return openScheduleBook(this.schedulesPath, () => this.#resources.logs.kind());
  }

  /** Where processes tell each other of groups, and their book stands. */
  get groupsPath(): string {
    return `${this.path}/groups`;
  }

  async hasGroups(): Promise<boolean> {
    return (await import("../store/groups/group-book.ts")).hasGroupBook(this.groupsPath);
  }

  /** The groups and what is said in them, for all processes of the home. Whoever opens it closes it. */
  async groupBook() {
    return (await import("../store/groups/group-book.ts")).openGroupBook(this.groupsPath);
  }

  /** Other sessions of the same person beside those that a host reaches. */
  #peersWith(given: SessionPeers | undefined): SessionPeers {
    return {
      send: async (from, to, words, about) => {
        if (!to.startsWith("bridge:")) return (await this.#openLetters()).send(from, to, words, about);
        return (
          given?.send(from, to, words, about) ?? { ok: false, why: "No bridge can be reached from here." }
        );
      },
    };
  }

  #openLetters(): Promise<HomeLetters> {
    this.#letters ??= import("./letters/home-letters.ts").then(
      (late) =>
        new late.HomeLetters({
          folder: this.path,
          leases: this.#resources.store.leases,
          clock: this.clock,
          opened: (id) => this.#open.get(id),
          openIds: () => [...this.#open.keys()],
        }),
    );
    return this.#letters;
  }

  /** The database that its sessions share with other machines; undefined where there is none. */
  remote(): Promise<Remote | undefined> {
    return this.#resources.logs.remote();
  }

  /** Undefined for one that is not open here. */
  opened(id: string): OpenSession | undefined {
    return this.#open.get(id);
  }

  /**
   * The durable events after `afterSeq`, then all events as they happen, no gap and none twice; it ends when the session
   * is closed or the signal fires. Of a session that is not open here, what its log has. Throws `session_unknown`, and
   * `queue_full` for a reader that lags too far.
   */
  attach(id: string, afterSeq = 0, signal?: AbortSignal): AsyncIterable<Envelope> {
    const session = this.#open.get(id);
    return session ? session.attach(afterSeq, signal) : this.#resources.store.read(id, afterSeq);
  }

  /** What takes sessions away from this home, and in, needs of it. */
  movePorts(others: Omit<MovePorts, "home">): MovePorts {
    return { ...others, home: this.#resources };
  }

  /** Something of the home that one process at a time may be. Throws `session_busy`. */
  hold(name: string): Promise<HeldLease> {
    return this.#resources.store.leases.take(name);
  }

  /** Who has which of them open; those that nobody has are left out. */
  async owners(ids: readonly string[]): Promise<ReadonlyMap<string, SessionOwner>> {
    return (await owning()).ownersOf(this.#resources.store.leases, ids);
  }

  /** Whether one serves this home now. */
  async hasServer(): Promise<boolean> {
    const { serverLease } = await owning();
    return (await this.#resources.store.leases.holders([serverLease])).size > 0;
  }

  /** Those that a killed process had open, as far as nobody has opened them since. */
  async leftOpen(ids: readonly string[]): Promise<string[]> {
    const left: string[] = [];
    for (const id of ids)
      if (!this.#open.has(id) && (await this.#resources.store.leases.isHeld(id))) left.push(id);
    return left;
  }

  /** To be the server of this home, one at a time. Throws `session_busy`. */
  async beServer(): Promise<HeldLease> {
    return this.hold((await owning()).serverLease);
  }

  /** Takes back what a session changed in files. Needs no model: nothing is asked, nothing runs. */
  async rewindFiles(
    options: Pick<OpenOptions, "version" | "cwd" | "env">,
    wanted: { session: string; checkpoint: string; preview: boolean },
  ): Promise<Receipt> {
    const { rewindFiles } = await import("./maintenance/rewind-files.ts");
    return rewindFiles({ ...options, home: this.path }, wanted, this.#resources).catch(this.#nameOwner);
  }

  /** The one order of ending: sessions first, with their servers and the last words in their logs, then what is guarded. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #nameOwner = async (thrown: unknown): Promise<never> =>
    (await owning()).nameOwner(this.#resources.store.leases, thrown);

  async #end(): Promise<void> {
    // What kept one from closing was told to whoever has it; the others close all the same.
    const closed = [...this.#open.values()].map((session) => session.close("ended"));
    // One that is being opened meanwhile sees that it comes too late, and closes itself.
    await Promise.allSettled([...closed, ...this.#openings]);
    await (await this.#letters)?.close();
    await this.#resources.close();
  }
}

/** Loaded late: most sessions are open nowhere else. */
const owning = () => import("./sessions/owners.ts");

/**
 * How a person wants sessions to be kept: `KEEL_STORE`, which may be the address of a database itself, else the setting
 * `store`; and where that database is. It is about the home and not about a session: no project has a say in it.
 */
async function storeWish(place: HomeOptions): Promise<StoreWish> {
  const named = place.env["KEEL_STORE"];
  if (named?.startsWith("postgres")) {
    const url = named.includes("://") ? named : place.env["KEEL_STORE_URL"];
    if (url !== undefined) return { kind: "postgres", url };
  }
  const url = place.env["KEEL_STORE_URL"];
  const kind = logKinds.find((each) => each === named);
  if (kind !== undefined && (kind !== "postgres" || url !== undefined)) return { kind, url };
  const paths = pathsOf(place);
  const files = [paths.settings, ...paths.managed];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  // Nobody says it, as a rule: then nothing need be read with care.
  if (!texts.some((text) => text.includes(`"store`))) return { kind: kind ?? "jsonl", url };
  const { loadSettings } = await import("../config/settings/settings.ts");
  const { settings } = await loadSettings({ paths, cwd: paths.home, chosen: ["user"] });
  return { kind: kind ?? settings.store ?? "jsonl", url: url ?? settings.storeUrl };
}
