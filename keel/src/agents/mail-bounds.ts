/**
 * What mail between agents is held to: a message has a size, a pair a rate, and talk that leads to nothing but talk an
 * end. A message that answers a message is one hop further from a person's word; work in between makes it less of a
 * circle, and the whole way is bounded all the same.
 */
import type { SessionState } from "../core/state/state.ts";
import type { Clock } from "../ports/clock.ts";

export const mailLimits = {
  /** A message is read whole by a model; what is longer belongs into a file. */
  characters: 50_000,
  /** From one to one other within a minute. More is not talk. */
  perMinute: 30,
  /** Messages that answer messages, with nothing done in between. */
  idleHops: 12,
  /** The same with whatever was done, since a person last spoke. */
  hops: 200,
} as const;

const minuteMs = 60_000;

type Way = { readonly hops: number; readonly idleHops: number };
const start: Way = { hops: 0, idleHops: 0 };

export class MailBounds {
  readonly #clock: Clock;
  readonly #sent = new Map<string, number[]>();
  readonly #ways = new Map<string, Way>();

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
    const { characters, perMinute, idleHops, hops } = mailLimits;
    if (text.length > characters)
      return `The message has ${text.length} characters, at most ${characters} are sent. Write it to a file and name the file.`;
    const before = this.#ways.get(from) ?? start;
    const way = { hops: before.hops + 1, idleHops: worked ? 1 : before.idleHops + 1 };
    if (way.idleHops > idleHops || way.hops > hops)
      return `Not sent: this is a circle. ${way.idleHops > idleHops ? way.idleHops - 1 : way.hops - 1} messages have answered each other without ${way.idleHops > idleHops ? "any work" : "a word of the user"} in between. Do something else, or finish.`;
    const now = this.#clock.monotonicMs();
    const pair = JSON.stringify([from, to]);
    const recent = (this.#sent.get(pair) ?? []).filter((at) => now - at < minuteMs);
    if (recent.length >= perMinute)
      return `Not sent: ${to} has had ${perMinute} messages of yours within a minute, which is the most. Put what is left into one message later.`;
    this.#sent.set(pair, [...recent, now]);
    this.#ways.set(to, way);
    return undefined;
  }

  /** What one who ended has reported is one hop too. */
  reported(from: string, to: string): void {
    const { hops, idleHops } = this.#ways.get(from) ?? start;
    this.#ways.set(to, { hops: hops + 1, idleHops });
  }
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
