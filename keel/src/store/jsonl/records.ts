/** Turns the whole records of a log into events: read in large stretches, parsed, upgraded and checked, each once. */
import { fault } from "../../kernel/fault.ts";
import { isPlain } from "../../kernel/json.ts";
import { parseWith, type SchemaIssue, sayIssues } from "../../kernel/schema.ts";
import { fits, type ValueShape } from "../../kernel/shape.ts";
import { type Durable, durableEventSchema } from "../../protocol/event/durable.ts";
import { durableShapes } from "../../protocol/event-shapes.ts";
import type { Damage } from "./damage.ts";
import type { OpenFile } from "./files.ts";
import { decodeLine } from "./line.ts";
import type { RecordEntry } from "./scan.ts";
import { type RawRecord, upgradeRecord } from "./upgrade.ts";

const STRETCH_BYTES = 1024 * 1024;

export type LogReading = {
  readonly file: OpenFile;
  /** In the order to read them. */
  readonly entries: readonly RecordEntry[];
  readonly session: string;
  readonly damage: Damage;
};

/** Every valid record as an event, a stretch of the file at a time. What is not one is told to `damage`. */
export async function* readEvents(reading: LogReading): AsyncGenerator<Durable[], void> {
  let at = 0;
  for await (const records of readRecords(reading)) {
    const events: Durable[] = [];
    for (const located of records) {
      const event = toEvent(located, { ...reading, before: at });
      if (!event) continue;
      at = event.at;
      events.push(event);
    }
    yield events;
  }
}

export type LocatedRecord = { readonly entry: RecordEntry; readonly record: RawRecord };

/** Every record as it stands in the file, also of a type that is not known, a stretch of the file at a time. */
export async function* readRecords({
  file,
  entries,
  damage,
}: LogReading): AsyncGenerator<LocatedRecord[], void> {
  let buffer = Buffer.allocUnsafeSlow(0);
  for (const stretch of stretches(entries)) {
    const [first] = stretch;
    const last = stretch.at(-1);
    if (!first || !last) continue;
    const bytes = last.offset + last.bytes - first.offset;
    if (buffer.length < bytes)
      buffer = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(2 * bytes, STRETCH_BYTES)));
    const filled = await file.read(buffer.subarray(0, bytes), first.offset);
    const found: LocatedRecord[] = [];
    for (const entry of stretch) {
      const start = entry.offset - first.offset;
      const line = buffer.subarray(start, Math.min(start + entry.bytes, filled));
      const record = decodeLine(line);
      if (record) found.push({ entry, record: upgradeRecord(record, entry.v) });
      else damage.invalid(entry.seq, "it is not JSON");
    }
    yield found;
  }
}

/** Neighbours in the file are read together; a single long record is a stretch of its own. */
function* stretches(entries: readonly RecordEntry[]): Generator<RecordEntry[]> {
  let stretch: RecordEntry[] = [];
  for (const entry of entries) {
    const first = stretch[0];
    const last = stretch.at(-1);
    const isNext = last !== undefined && entry.offset > last.offset;
    const fits = first !== undefined && entry.offset + entry.bytes - first.offset <= STRETCH_BYTES;
    if (stretch.length > 0 && !(isNext && fits)) {
      yield stretch;
      stretch = [];
    }
    stretch.push(entry);
  }
  if (stretch.length > 0) yield stretch;
}

/** `before`: the time of the record before. */
function toEvent(
  { entry: { seq }, record }: LocatedRecord,
  { session, damage, before }: Pick<LogReading, "session" | "damage"> & { before: number },
): Durable | undefined {
  if (isSurelyEvent(record) && record.seq === seq && record.session === session) return record;
  const { type, at } = record;
  const parsed = parseWith(durableEventSchema, record);
  if (!parsed.ok) {
    if (typeof type === "string" && !isKnown(parsed.error)) damage.unknown(seq, type);
    else damage.invalid(seq, sayIssues(parsed.error));
    return undefined;
  }
  if (!isSame(record["session"], session)) damage.foreign(seq);
  // Order is `seq`; a time that makes no sense is not worth a record.
  return { seq, at: typeof at === "number" ? at : before, session, ...parsed.value };
}

/** The discriminator is checked first: an issue with `type` itself means that no event has this name. */
const isKnown = (issues: readonly SchemaIssue[]): boolean => issues.every(({ path }) => path !== "type");

const isSame = (left: unknown, right: string): boolean =>
  typeof left === "string" && left.toLowerCase() === right.toLowerCase();

/** `seq` counts without a gap; anything else is a defect of the caller and must not reach the log. */
export function checkFollows(events: readonly Durable[], lastSeq: number): void {
  const wrong = events.find(({ seq }, index) => seq !== lastSeq + 1 + index);
  if (wrong)
    throw fault("unexpected", { reason: `record ${wrong.seq} does not follow on ${lastSeq} in the log` });
}

/** Whether this is surely an event, so that no schema need be asked. */
export const isSurelyEvent = (value: unknown): value is Durable => fitsAsEvent(value);

function fitsAsEvent(value: unknown): boolean {
  if (!isPlain(value) || typeof value["type"] !== "string") return false;
  const { type } = value;
  return Object.hasOwn(durableShapes, type) && fits(durableShapes[type]?.() ?? unsure, value);
}

const unsure: ValueShape = { kind: "unsure" };

/** `toJson` gives the text that would be kept: a number that is none, say, would only be found at the next resume. */
export function checkReadable(event: Durable, toJson: () => string): void {
  // JSON leaves out of a tool's schema what is none, and the rest is still a schema.
  if (event.type === "prompt.fixed" || fitsAsEvent(event)) return;
  if (parseWith(durableEventSchema, event).ok) return;
  // What JSON leaves out, such as a member that is undefined, does no harm.
  const parsed = parseWith(durableEventSchema, JSON.parse(toJson()));
  if (!parsed.ok)
    throw fault("unexpected", { reason: `${event.type} is not valid: ${sayIssues(parsed.error)}` });
}
