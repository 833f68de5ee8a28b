/** All that the page has at work: the way to the server, what the browser keeps, and the sessions that are looked at. */

import type { KeelClient, LinkStatus } from "keel/client";
import type { Access, Command, FaultData, InputBlock, Receipt, WorkspaceEntry } from "keel/protocol";
import { foldWorkspaces, noWorkspaces, type Workspaces } from "keel/view";
import { createContext, useContext, useEffect } from "react";
import type { KeptEvents, UnsentInput } from "./kept-events.ts";
import { Cell, type Observable, useValue } from "./observable.ts";
import { SessionFeed, type SessionState } from "./session-feed.ts";
import { WorkspaceList } from "./workspace-list.ts";

export type WorldPorts = {
  readonly client: KeelClient;
  readonly kept: KeptEvents;
  /** Small things that a reload must not lose: what is typed, how the page is laid out. */
  readonly notes: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Whether the server says that this browser may not come in. */
  isSentAway(): Promise<boolean>;
  nextPaint(then: () => void, when?: "now"): void;
  /** For what changes nothing that is seen as often as not: asking for a paint would bring one about. Returns what calls it off. */
  later(then: () => void, ms: number): () => void;
  pause(ms?: number): Promise<void>;
  now(): number;
  uuid(): string;
};

export type Told = { readonly kind: "problem" | "note"; readonly says: string };

type FollowedSession = { readonly feed: SessionFeed; users: number; usedAt: number };

/** Feeds that nobody looks at are kept for a while: going back and forth costs nothing. */
const maxIdleFeeds = 6;
const workspacesNote = "keel.workspaces";
const rememberMs = 30_000;
/** Two frames: what comes, goes, moves or asks is shown so soon. */
const soonMs = 30;
/** What workspaces say meanwhile is shown this often. */
const calmMs = 250;

export class World {
  readonly client: KeelClient;
  /** How the way to the server stands. */
  readonly link: Observable<LinkStatus>;
  readonly kept: KeptEvents;
  readonly notes: WorldPorts["notes"];
  readonly uuid: () => string;
  readonly workspaceList: WorkspaceList;
  /** The server does not let this browser in, or no longer. */
  readonly isRefused = new Cell(false);
  /** How far the server lets this browser go; it is only asked for, never decided here. */
  readonly access = new Cell<Access>("work");
  /** What came of something that a person did, where that is not seen by itself. */
  readonly told = new Cell<Told | undefined>(undefined);
  /** Inputs on their way, which have no receipt yet. */
  readonly unsent = new Cell<readonly UnsentInput[]>([]);
  /** Why some of them were refused, by their ids; they stay until somebody takes them back. */
  readonly refusals = new Cell<ReadonlyMap<string, string>>(new Map());
  readonly #ports: WorldPorts;
  readonly #feeds = new Map<string, FollowedSession>();
  readonly #stop = new AbortController();
  readonly #unlisten: () => void;
  #remembering: ReturnType<typeof setTimeout> | undefined;
  #rememberedAt = Number.NEGATIVE_INFINITY;

  constructor(ports: WorldPorts) {
    this.#ports = ports;
    this.client = ports.client;
    this.link = { get: () => this.client.link, subscribe: (listener) => this.client.onLink(listener) };
    this.kept = ports.kept;
    this.notes = ports.notes;
    this.uuid = ports.uuid;
    this.workspaceList = new WorkspaceList(this.#remembered());
    void this.#watchWorkspaces().catch(() => undefined);
    void this.#sendUnsent();
    void this.#lookAtDoor();
    const greet = (): void =>
      void this.client.greeting().then(
        ({ access }) => this.access.set(access),
        () => undefined,
      );
    greet();
    this.#unlisten = this.client.onLink(({ state }) => {
      if (state === "lost") void this.#lookAtDoor();
      if (state === "connected") greet();
    });
  }

  get workspaces(): Observable<Workspaces> {
    return this.workspaceList.all;
  }

  /** Of a session that is looked at: whoever does so holds it. */
  feed(session: string): SessionFeed {
    return this.#followed(session).feed;
  }

  /** Returns what lets go of it. */
  hold(session: string): () => void {
    const followed = this.#followed(session);
    followed.users += 1;
    return () => {
      followed.users -= 1;
      followed.usedAt = this.#ports.now();
      this.#closeIdle();
    };
  }

  submit(session: string, command: Command): Promise<Receipt> {
    return this.client.attach(session).submit(command);
  }

  /** Does what a person wants; where that is refused, the page says so. */
  async attempt(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (thrown) {
      this.told.set({ kind: "problem", says: faultOf(thrown).message });
    }
  }

  /** Safe in the browser before it is sent, and sent until it has a receipt, also by the next page. */
  async say(session: string, content: InputBlock[], when: "now" | "after"): Promise<void> {
    const id = this.uuid();
    const command = { type: "input" as const, id, content, when };
    const input: UnsentInput = { id, session, at: Date.now(), command };
    this.unsent.set([...this.unsent.get(), input]);
    await this.kept.putUnsent(input).catch(() => undefined);
    await this.#send(input);
  }

  /** It has its receipt, or somebody has taken it back. */
  async dropUnsent(id: string): Promise<void> {
    this.unsent.set(this.unsent.get().filter((input) => input.id !== id));
    await this.kept.removeUnsent(id).catch(() => undefined);
  }

  /** What there is, for the next page to begin with. */
  remember(): void {
    clearTimeout(this.#remembering);
    this.#remembering = undefined;
    this.#rememberedAt = this.#ports.now();
    const { isKnown, all } = this.workspaces.get();
    if (isKnown && !this.isRefused.get())
      this.notes.setItem(workspacesNote, JSON.stringify(all.slice(0, 200)));
  }

  close(): void {
    this.#stop.abort();
    this.#unlisten();
    clearTimeout(this.#remembering);
    for (const { feed } of this.#feeds.values()) feed.close();
    this.client.close();
  }

  async #send(input: UnsentInput): Promise<void> {
    for (;;) {
      try {
        await this.submit(input.session, input.command);
        break;
      } catch (thrown) {
        if (this.#stop.signal.aborted) return;
        // Refused is an answer too; a lost link is none.
        const { code, message } = faultOf(thrown);
        if (code === "link_lost") continue;
        return this.refusals.set(new Map(this.refusals.get()).set(input.id, message));
      }
    }
    await this.dropUnsent(input.id);
  }

  async #sendUnsent(): Promise<void> {
    const left = await this.kept.unsent().catch(() => []);
    if (left.length === 0) return;
    this.unsent.set([...this.unsent.get(), ...left]);
    await Promise.all(left.map((input) => this.#send(input)));
  }

  /** Who is sent away leaves nothing here of what was shown. */
  async #lookAtDoor(): Promise<void> {
    if (!(await this.#ports.isSentAway())) return;
    this.isRefused.set(true);
    this.notes.removeItem(workspacesNote);
    await this.kept.clear().catch(() => undefined);
  }

  #followed(session: string): FollowedSession {
    const known = this.#feeds.get(session);
    if (known) return known;
    const followed = { feed: this.#newFeed(session), users: 0, usedAt: 0 };
    this.#feeds.set(session, followed);
    return followed;
  }

  #newFeed(session: string): SessionFeed {
    const { kept, nextPaint, pause, now } = this.#ports;
    return new SessionFeed(session, {
      events: (id, after, signal) => this.client.attach(id).events(after, signal),
      history: async (id, page) => (await this.client.history({ session: id, ...page })).events,
      kept,
      nextPaint,
      pause,
      now,
      faultOf,
    });
  }

  #closeIdle(): void {
    const idle = [...this.#feeds].filter(([, { users }]) => users === 0);
    const oldest = idle.sort(([, left], [, right]) => left.usedAt - right.usedAt);
    for (const [session, { feed }] of oldest.slice(0, -maxIdleFeeds)) {
      feed.close();
      this.#feeds.delete(session);
    }
  }

  async #watchWorkspaces(): Promise<void> {
    let now = this.workspaces.get();
    let shownAt = Number.NEGATIVE_INFINITY;
    let due: { readonly isSoon: boolean; callOff(): void } | undefined;
    const show = (): void => {
      due = undefined;
      shownAt = this.#ports.now();
      this.workspaceList.set(now);
      this.#rememberSoon();
    };
    for await (const update of this.client.workspaces.watch(this.#stop.signal)) {
      now = foldWorkspaces(now, update);
      const isSoon = this.workspaceList.isMovedBy(now);
      if (due && (due.isSoon || !isSoon)) continue;
      due?.callOff();
      const ms = isSoon ? soonMs : Math.max(soonMs, shownAt + calmMs - this.#ports.now());
      due = { isSoon, callOff: this.#ports.later(show, ms) };
    }
  }

  /** What changes often is written now and then, and when the page goes. */
  #rememberSoon(): void {
    if (this.#rememberedAt + rememberMs < this.#ports.now()) return this.remember();
    this.#remembering ??= setTimeout(() => this.remember(), rememberMs);
  }

  #remembered(): Workspaces {
    try {
      const all = JSON.parse(this.notes.getItem(workspacesNote) ?? "null") as
        | readonly WorkspaceEntry[]
        | null;
      return all ? { isKnown: true, all } : noWorkspaces;
    } catch {
      return noWorkspaces;
    }
  }
}

export function faultOf(thrown: unknown): FaultData {
  if (typeof thrown === "object" && thrown !== null && "code" in thrown && "message" in thrown)
    return { code: thrown.code as FaultData["code"], message: String(thrown.message) };
  return { code: "unexpected", message: thrown instanceof Error ? thrown.message : String(thrown) };
}

export const WorldContext = createContext<World | undefined>(undefined);

export function useWorld(): World {
  const world = useContext(WorldContext);
  if (!world) throw new Error("outside of the page");
  return world;
}

export const useAccess = (): Access => useValue(useWorld().access);

export const useWorkspaces = (): Workspaces => useValue(useWorld().workspaces);

/** In their order; drawn anew when one comes, goes, moves or asks, and not with each word of one. */
export const useOrderedWorkspaces = (): Workspaces => useValue(useWorld().workspaceList.ordered);

/** One of them: what others do draws nothing. Undefined where it is gone, or not known yet. */
export const useWorkspace = (id: string): WorkspaceEntry | undefined =>
  useValue(useWorld().workspaceList.one(id));

export function useSession(session: string): { readonly feed: SessionFeed; readonly state: SessionState } {
  const world = useWorld();
  const feed = world.feed(session);
  useEffect(() => world.hold(session), [world, session]);
  return { feed, state: useValue<SessionState>(feed) };
}
