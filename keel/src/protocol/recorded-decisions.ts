/** The decisions that a log tells of, one for each call: what ran, was asked or was denied, and what that rested on. */
import type { Json } from "../kernel/json.ts";
import type { Denial, Durable } from "./event/durable.ts";
import { type EventHandlers, handle } from "./event/envelope.ts";
import { toolUses } from "./message.ts";
import type { VerdictFacts } from "./verdict-facts.ts";

export type RecordedDecision = {
  readonly callId: string;
  readonly tool: string;
  /** What ran or was to run. */
  readonly input: Json;
  /** Who had the last word; undefined where a question is still open. */
  readonly by?: Extract<Durable, { type: "tool.started" }>["by"] | Denial["by"] | undefined;
  /** Undefined in a log that was written before they were kept. */
  readonly facts?: VerdictFacts | undefined;
  /** The event that told these facts first, by its number: what came after it had no part in the decision. */
  readonly seq: number;
  /** When that was. */
  readonly at: number;
};

/** In the order in which the calls were made. What never came to a decision, such as a call without a tool, is left out. */
export function recordedDecisions(events: Iterable<Durable>): RecordedDecision[] {
  const found = new Map<string, RecordedDecision>();
  const inputs = new Map<string, Json>();
  const put = (
    { seq, at }: Durable,
    { callId, ...more }: Pick<RecordedDecision, "callId" | "tool"> & Partial<RecordedDecision>,
  ) => {
    const before = found.get(callId);
    const facts = more.facts ?? before?.facts;
    const input = more.input ?? before?.input ?? inputs.get(callId) ?? null;
    // A call that ran after its question tells the facts of the question once more.
    const isTold = before !== undefined && JSON.stringify(facts) === JSON.stringify(before.facts);
    const when = isTold ? { seq: before.seq, at: before.at } : { seq, at };
    found.set(callId, { ...before, callId, ...more, input, facts, ...when });
  };
  const handlers: EventHandlers<Durable, [], void> = {
    "model.finished": ({ content }) => {
      for (const { id, input } of toolUses(content)) inputs.set(id, input);
    },
    "ask.opened": (event) => {
      const { ask } = event;
      const { kind, callId, tool = "", input, facts } = ask;
      if (kind === "permission" && callId !== undefined)
        put(event, { callId, tool, ...(input === undefined ? {} : { input }), facts });
    },
    "tool.started": (event) => {
      const { callId, tool, by, input, facts } = event;
      put(event, { callId, tool, by, ...(input === undefined ? {} : { input }), facts });
    },
    "tool.finished": (event) => {
      const { callId, tool, denied, facts } = event;
      const before = found.get(callId);
      // A tool may also refuse by itself, long after it was let run; and what was stopped first was never decided.
      if (!denied || before?.by !== undefined || (!before && isStopped(denied))) return;
      put(event, { callId, tool, by: denied.by, facts });
    },
  };
  for (const event of events) handle(handlers, event);
  return [...found.values()];
}

const isStopped = ({ by }: Denial): boolean => by === "interrupt" || by === "shutdown";
