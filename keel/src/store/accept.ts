/** What every store asks of an append: that it follows on what is there, and that it can be read again. */
import { fault } from "../kernel/fault.ts";
import { parseWith, sayIssues } from "../kernel/schema.ts";
import { type Durable, durableEventSchema } from "../protocol/event.ts";

/** `seq` counts without a gap; anything else is a defect of the caller and must not reach the log. */
export function checkFollows(events: readonly Durable[], lastSeq: number): void {
  const wrong = events.find(({ seq }, index) => seq !== lastSeq + 1 + index);
  if (wrong)
    throw fault("unexpected", { reason: `record ${wrong.seq} does not follow on ${lastSeq} in the log` });
}

/** `toJson` gives the text that would be kept: a number that is none, say, would only be found at the next resume. */
export function checkReadable(event: Durable, toJson: () => string): void {
  // JSON leaves out of a tool's schema what is none, and the rest is still a schema.
  if (event.type === "prompt.fixed" || (isOurs(event) && isWhole(event))) return;
  if (parseWith(durableEventSchema, event).ok) return;
  // What JSON leaves out, such as a member that is undefined, does no harm.
  const parsed = parseWith(durableEventSchema, JSON.parse(toJson()));
  if (!parsed.ok)
    throw fault("unexpected", { reason: `${event.type} is not valid: ${sayIssues(parsed.error)}` });
}

/** Made by the engine alone, of what it has checked: its types hold. All others carry words of models, tools and hosts. */
function isOurs(event: Durable): boolean {
  switch (event.type) {
    case "session.opened":
    case "turn.started":
    case "context.added":
    case "model.started":
    case "session.closed":
      return true;
    case "input.accepted":
      return event.input.content.every(({ type }) => type === "text");
    default:
      return false;
  }
}

/** Nothing in it changes on the way into JSON and back, except for members that are undefined and are left out. */
function isWhole(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return typeof value === "string" || isPlainWord(value);
  if (Array.isArray(value)) return value.every(isWhole);
  for (const member of Object.values(value)) if (member !== undefined && !isWhole(member)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const isPlainWord = (value: unknown): boolean => typeof value === "boolean" || value === null;
