/**
 * What mail between agents is held to: a message has a size, a pair a rate, and talk that leads to nothing but talk an
 * end. A message that answers a message is one hop further from a person's word; work in between makes it less of a
 * circle, and the whole way is bounded all the same.
 */
import type { SessionState } from "../core/state/state.ts";
import type { MessageWay } from "../ports/agents.ts";
import type { Clock } from "../ports/clock.ts";

export const mailLimits = {
  /** A message is read whole by a model; what is longer belongs into a file. */
  characters: 50_000,
  /** From one to one other within a minute. More is not talk. */
  perMinute: 30,
  /** Of other sessions together, within a minute. */
  farPerMinute: 60,
  /** Messages that answer messages, with nothing done in between. */
  idleHops: 12,
  /** The same with whatever was done, since a person last spoke. */
  hops: 200,
} as const;

const minuteMs = 60_000;
/** From then on who is silent is forgotten. */
const maxPairs = 1_000;
/** The session above its agents. */
const above = "main";

const start: MessageWay = { hops: 0, idleHops: 0 };

export class MailBounds {
  readonly #clock: Clock;
  readonly #sent = new Map<string, number[]>();
  readonly #ways = new Map<string, MessageWay>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A person has spoken: whatever follows begins with that. */
  restart(who: string): void {
    this.#ways.delete(who);
  }

  /** Undefined when it may be sent, and then it counts. `worked`: whether the sender has done something since it was told something. */
  pass(message: { from: string; to: string; text: string; worked: boolean }): string | undefined {
    const { from, to, text, worked } = message;
    const before = this.#ways.get(from) ?? start;
    const way = { hops: before.hops + 1, idleHops: worked ? 1 : before.idleHops + 1 };
    const why = tooLong(text) ?? circle(way);
    if (why !== undefined) return why;
    const { perMinute } = mailLimits;
    if (!this.#counts(JSON.stringify([from, to]), perMinute))
      return `Not sent: ${to} has had ${perMinute} messages of yours within a minute, which is the most. Put what is left into one message later.`;
    this.#ways.set(to, way);
    return undefined;
  }

  /** How far what was sent to somebody is from a person's word. */
  wayTo(to: string): MessageWay {
    return this.#ways.get(to) ?? start;
  }

  /** From another session, which has counted its own way: undefined when it may come in. */
  arrive({
    from,
    words,
    way,
  }: {
    readonly from: string;
    readonly words: string;
    readonly way: MessageWay;
  }): string | undefined {
    const why = tooLong(words) ?? circle(way);
    if (why !== undefined) return why;
    const { perMinute, farPerMinute } = mailLimits;
    // Who may not come in by itself does not count for all.
    return this.#counts(JSON.stringify([from]), perMinute) && this.#counts("far", farPerMinute)
      ? undefined
      : "Not taken: it has had too many messages within a minute. Put what is left into one message later.";
  }

  /** It was taken: an answer is one hop further. */
  heard(way: MessageWay): void {
    const before = this.wayTo(above);
    this.#ways.set(above, {
      hops: Math.max(before.hops, way.hops),
      idleHops: Math.max(before.idleHops, way.idleHops),
    });
  }

  #counts(key: string, most: number): boolean {
    const now = this.#clock.monotonicMs();
    const recent = (this.#sent.get(key) ?? []).filter((at) => now - at < minuteMs);
    if (recent.length >= most) return false;
    // Whoever has said nothing for a minute is not remembered: names of senders are not ours to bound.
    if (this.#sent.size >= maxPairs)
      for (const [other, times] of this.#sent)
        if (times.every((at) => now - at >= minuteMs)) this.#sent.delete(other);
    this.#sent.set(key, [...recent, now]);
    return true;
  }

  /** What one who ended has reported is one hop too. */
  reported(from: string, to: string): void {
    const { hops, idleHops } = this.#ways.get(from) ?? start;
    this.#ways.set(to, { hops: hops + 1, idleHops });
  }
}

function tooLong(words: string): string | undefined {
  const { characters } = mailLimits;
  return words.length > characters
    ? `The message has ${words.length} characters, at most ${characters} are sent. Write it to a file and name the file.`
    : undefined;
}

function circle(way: MessageWay): string | undefined {
  const { idleHops, hops } = mailLimits;
  if (way.idleHops <= idleHops && way.hops <= hops) return undefined;
  const isIdle = way.idleHops > idleHops;
  return `Not sent: this is a circle. ${(isIdle ? way.idleHops : way.hops) - 1} messages have answered each other without ${isIdle ? "any work" : "a word of the user"} in between. Do something else, or finish.`;
}

/** More messages than a turn usually has since it was told something. */
const lookedAt = 60;
const talk: ReadonlySet<string> = new Set(["SendMessage", "TaskGet", "TaskList", "TaskOutput", "ToolSearch"]);

/** Whether a session has used a tool, other than to talk, since somebody last told it something. */
export function hasWorked({ history }: Pick<SessionState, "history">): boolean {
  for (const { role, content } of history.slice(-lookedAt).toReversed()) {
    if (role === "user" && content.some(({ type }) => type === "text")) return false;
    if (content.some((block) => block.type === "tool_use" && !talk.has(block.name))) return true;
  }
  return false;
}
