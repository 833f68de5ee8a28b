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
};

/** In the order in which the calls were made. What never came to a decision, such as a call without a tool, is left out. */
export function recordedDecisions(events: Iterable<Durable>): RecordedDecision[] {
  const found = new Map<string, RecordedDecision>();
  const inputs = new Map<string, Json>();
  const put = ({
    callId,
    ...more
  }: Pick<RecordedDecision, "callId" | "tool"> & Partial<RecordedDecision>) => {
    const before = found.get(callId);
    const facts = more.facts ?? before?.facts;
    const input = more.input ?? before?.input ?? inputs.get(callId) ?? null;
    found.set(callId, { ...before, callId, ...more, input, facts });
  };
  const handlers: EventHandlers<Durable, [], void> = {
    "model.finished": ({ content }) => {
      for (const { id, input } of toolUses(content)) inputs.set(id, input);
    },
    "ask.opened": ({ ask }) => {
      const { kind, callId, tool = "", input, facts } = ask;
      if (kind === "permission" && callId !== undefined)
        put({ callId, tool, ...(input === undefined ? {} : { input }), facts });
    },
    "tool.started": ({ callId, tool, by, input, facts }) =>
      put({ callId, tool, by, ...(input === undefined ? {} : { input }), facts }),
    "tool.finished": ({ callId, tool, denied, facts }) => {
      const before = found.get(callId);
      // A tool may also refuse by itself, long after it was let run; and what was stopped first was never decided.
      if (!denied || before?.by !== undefined || (!before && isStopped(denied))) return;
      put({ callId, tool, by: denied.by, facts });
    },
  };
  for (const event of events) handle(handlers, event);
  return [...found.values()];
}

const isStopped = ({ by }: Denial): boolean => by === "interrupt" || by === "shutdown";
