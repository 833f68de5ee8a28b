/**
 * Records whose sums are right and whose content nobody can have meant: a call id that was used before, a reply without
 * anything in it, an empty summary. The session goes on as well as it can, and a person is told once what was found.
 */
import { fault } from "../kernel/fault.ts";
import type { LogNotice } from "../ports/store.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../protocol/event/envelope.ts";
import { type Block, toolUses } from "../protocol/message.ts";
import { summaryIntroduction } from "./model-text.ts";
import type { SessionState } from "./state/state.ts";
import { type UsedIds, withFreshIds } from "./used-ids.ts";

/** A summary that would put nothing in the place of the conversation. */
export const isEmptySummary = ({ summary }: Extract<Durable, { type: "context.compacted" }>): boolean =>
  summary.trim() === "" || summary.trim() === summaryIntroduction.trim();

/** Goes along a log as it is read, event by event. */
export class OddRecords {
  readonly #used: UsedIds;
  /** New ids of the newest reply's calls, by the id that its log has: the first event of a kind is about the first call. */
  #renamed: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #seen = new Map<string, number>();
  #isEmptyReply = false;
  readonly #counts = { repeated: 0, empty: 0, summaries: 0 };

  constructor(used: UsedIds) {
    this.#used = used;
  }

  /** The event as it is to be folded. Takes the state before it. */
  read(event: Durable, state: SessionState): Durable {
    return handle(this.#read, event, state) ?? event;
  }

  readonly #read: EventHandlers<Durable, [before: SessionState], Durable> = {
    "model.finished": (event) => {
      this.#isEmptyReply = event.content.length === 0;
      return this.#withFreshCalls(event);
    },
    "tool.started": (event, state) => this.#ofCall(event, state),
    "tool.finished": (event, state) => this.#ofCall(event, state),
    "ask.opened": (event) => {
      const { callId } = event.ask;
      if (callId === undefined || !this.#renamed.has(callId)) return event;
      return { ...event, ask: { ...event.ask, callId: this.#callOf(event.type, callId) } };
    },
    "turn.finished": (event, state) => {
      // A reply with nothing in it is asked about, and never completes a turn by itself.
      this.#missReply(event.reason === "completed" && state.turn?.answer === undefined);
      return event;
    },
    "model.started": (event) => this.#answered(event),
    "context.added": (event) => this.#answered(event),
    "context.compacted": (event) => {
      if (isEmptySummary(event)) this.#counts.summaries++;
      return event;
    },
  };

  #ofCall<E extends Extract<Durable, { type: "tool.started" | "tool.finished" }>>(
    event: E,
    state: SessionState,
  ): E {
    this.#missReply(state.calls.ids.length === 0);
    return { ...event, callId: this.#callOf(event.type, event.callId) };
  }

  #answered<E extends Durable>(event: E): E {
    this.#isEmptyReply = false;
    return event;
  }

  /** What a person should know, in one sentence. */
  notice(path: string): LogNotice | undefined {
    const { repeated, empty, summaries } = this.#counts;
    const parts = [
      ...(repeated > 0 ? [`the ids of ${repeated} calls repeat, and were given new ones`] : []),
      ...(empty > 0 ? [`${empty} replies of the model are empty, and what they said is not known`] : []),
      ...(summaries > 0 ? [`${summaries} summaries are empty, and the messages before them stay`] : []),
    ];
    if (parts.length === 0) return undefined;
    const { code, message } = fault("log_damaged", {
      path,
      reason: `${parts.join("; ")}. The session goes on.`,
    });
    return { level: "warning", text: message, code };
  }

  #missReply(isMissed: boolean): void {
    if (this.#isEmptyReply && isMissed) this.#counts.empty++;
    this.#isEmptyReply = false;
  }

  #withFreshCalls(event: Extract<Durable, { type: "model.finished" }>): Durable {
    const content = withFreshIds(event.content, event.requestId, (id) => this.#used.hasCall(id));
    const repeated = renamedCalls(event.content, content);
    this.#renamed = repeated;
    this.#seen.clear();
    if (repeated.size === 0) return event;
    for (const [old, fresh] of repeated) this.#counts.repeated += fresh.filter((id) => id !== old).length;
    return { ...event, content };
  }

  #callOf(type: string, id: string): string {
    const fresh = this.#renamed.get(id);
    if (!fresh) return id;
    const key = `${type} ${id}`;
    const before = this.#seen.get(key) ?? 0;
    this.#seen.set(key, before + 1);
    return fresh[Math.min(before, fresh.length - 1)] ?? id;
  }
}

/** Only ids of which at least one call got another. */
function renamedCalls(before: readonly Block[], after: readonly Block[]): ReadonlyMap<string, string[]> {
  const fresh = toolUses(after).map(({ id }) => id);
  const all = new Map<string, string[]>();
  for (const [index, { id }] of toolUses(before).entries())
    all.set(id, [...(all.get(id) ?? []), fresh[index] ?? id]);
  return new Map([...all].filter(([id, ids]) => ids.some((other) => other !== id)));
}
