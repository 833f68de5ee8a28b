/** What every store asks of an append: that it follows on what is there, and that it can be read again. */
import { fault } from "../../kernel/fault.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { fits } from "../../kernel/shape.ts";
import { type Durable, durableEventSchema } from "../../protocol/event/durable.ts";
import { durableShape } from "../../protocol/event-shapes.ts";

/** `seq` counts without a gap; anything else is a defect of the caller and must not reach the log. */
export function checkFollows(events: readonly Durable[], lastSeq: number): void {
  const wrong = events.find(({ seq }, index) => seq !== lastSeq + 1 + index);
  if (wrong)
    throw fault("unexpected", { reason: `record ${wrong.seq} does not follow on ${lastSeq} in the log` });
}

/** Whether this is surely an event, so that no schema need be asked. */
export const isSurelyEvent = (value: unknown): value is Durable => fits(durableShape, value);

/** `toJson` gives the text that would be kept: a number that is none, say, would only be found at the next resume. */
export function checkReadable(event: Durable, toJson: () => string): void {
  // JSON leaves out of a tool's schema what is none, and the rest is still a schema.
  if (event.type === "prompt.fixed" || fits(durableShape, event)) return;
  if (parseWith(durableEventSchema, event).ok) return;
  // What JSON leaves out, such as a member that is undefined, does no harm.
  const parsed = parseWith(durableEventSchema, JSON.parse(toJson()));
  if (!parsed.ok)
    throw fault("unexpected", { reason: `${event.type} is not valid: ${sayIssues(parsed.error)}` });
}
