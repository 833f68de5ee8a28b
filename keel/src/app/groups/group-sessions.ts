/**
 * The sessions of groups in this process: opened when somebody is meant, left when idle, and no more of them at once than
 * agents may work. What one says by itself, and what it asks its host for, is heard for as long as it is open.
 */
import { IdleEnd } from "../../groups/idle-end.ts";
import type { Clock } from "../../ports/clock.ts";
import type { AgentInput, GroupAgent } from "../../ports/groups.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import type { OpenSession } from "../open-session.ts";
import type { Opening } from "../sessions/openings.ts";
import type { ServedSessions } from "../sessions/served-sessions.ts";
import { sessionAgent } from "./group-agent.ts";
import { keepConversations } from "./kept-conversations.ts";
import { tellUnaskedResults, type UnaskedResult } from "./unasked-results.ts";

export type GroupSessionsPorts = {
  readonly served: Pick<ServedSessions, "useOrBegin" | "onOpened">;
  /** Undefined for one that is not open here. */
  readonly opened: (session: string) => OpenSession | undefined;
  readonly clock: Clock;
  readonly most: number;
  openingOf(group: ChatGroup): Promise<Opening>;
  idleMs(group: ChatGroup): number;
  /** The calls of its tools are taken until it is let go of. */
  attend(group: string): () => void;
  said(group: string, result: UnaskedResult): void;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

type LiveSession = {
  readonly group: ChatGroup;
  readonly idle: IdleEnd;
  queries: number;
  opening: Promise<OpenSession> | undefined;
  /** The session that is heard. */
  heard: OpenSession | undefined;
};

export class GroupSessions {
  readonly #ports: GroupSessionsPorts;
  /** By the id of the session, the longest idle first. */
  readonly #live = new Map<string, LiveSession>();
  readonly #stop: () => void;

  constructor(ports: GroupSessionsPorts) {
    this.#ports = ports;
    // One that a person opens, or that was left in the middle of something, is its group's all the same.
    this.#stop = ports.served.onOpened(({ id }) => {
      const [live, session] = [this.#live.get(id), ports.opened(id)];
      if (live && session) this.#hear(live, session);
    });
  }

  agentOf(group: ChatGroup): GroupAgent {
    this.#liveOf(group, group.session);
    return { say: (input, signal) => this.#say(group, input, signal) };
  }

  close(): void {
    this.#stop();
    for (const { idle } of this.#live.values()) idle.stop();
  }

  async *#say(group: ChatGroup, input: AgentInput, signal: AbortSignal) {
    const id = input.session ?? group.session;
    const live = this.#liveOf(group, id);
    live.queries++;
    live.idle.queryBegan();
    // What is used is last in line to be left.
    this.#live.delete(id);
    this.#live.set(id, live);
    try {
      yield* sessionAgent(group, { use: () => this.#use(id, live) }).say(input, signal);
    } finally {
      live.queries--;
      live.idle.queryEnded();
    }
  }

  #liveOf(group: ChatGroup, id: string): LiveSession {
    const known = this.#live.get(id);
    if (known) return known;
    const idle = new IdleEnd(this.#ports.idleMs(group), this.#ports.clock, () => void this.#leave(id));
    const live: LiveSession = { group, idle, queries: 0, opening: undefined, heard: undefined };
    this.#live.set(id, live);
    const session = this.#ports.opened(id);
    if (session) this.#hear(live, session);
    return live;
  }

  /** Two that come at once have the same session. */
  async #use(id: string, live: LiveSession): Promise<OpenSession> {
    live.opening ??= this.#open(id, live).finally(() => {
      live.opening = undefined;
    });
    return live.opening;
  }

  async #open(id: string, live: LiveSession): Promise<OpenSession> {
    const { served, most, openingOf } = this.#ports;
    if (!live.heard) {
      const others = [...this.#live].filter(([, other]) => other.heard && other !== live);
      // Whoever works has a slot: of so many one at least is idle.
      const idle = others.find(([, { queries }]) => queries === 0);
      if (others.length >= most && idle) await this.#leave(idle[0]);
    }
    const opening = await openingOf(live.group);
    const session = await served.useOrBegin(
      id,
      { ...opening, options: { ...opening.options, sessionId: id } },
      "anew",
    );
    this.#hear(live, session);
    return session;
  }

  #hear(live: LiveSession, session: OpenSession): void {
    if (live.heard === session) return;
    live.heard = session;
    const { attend, said } = this.#ports;
    const { group } = live;
    const letGo = attend(group.id);
    const stop = tellUnaskedResults(session, (result) => {
      live.idle.said();
      said(group.id, result);
    });
    const stopKeeping = keepConversations(group, session, { tell: this.#ports.tell });
    void session.closed.finally(() => {
      stop();
      stopKeeping();
      letGo();
      live.idle.stop();
      if (live.heard === session) live.heard = undefined;
      if (session.id !== group.session && live.queries === 0) this.#live.delete(session.id);
    });
  }

  /** Where something is at work in it, it is looked at again after the next result. */
  async #leave(id: string): Promise<void> {
    const live = this.#live.get(id);
    if (!live?.heard || live.queries > 0) return;
    await live.heard.leave().catch(() => false);
  }
}
