// The transcript corpus in our format: its neutral records become lines of a Keel log, and its operations change those.
// One neutral record is one main line; what our loop writes around it (turn.started, model.started …) goes with it.
import { encodeRecord } from "../../keel/src/store/jsonl/line.ts";
import { type NeutralRecord, toEvents } from "./transcript-events.ts";
import { type RawEvent, setMember, unsetMember } from "./transcript-members.ts";

export type Op =
  | { op: "cutRecord"; seq: number; bytes: number }
  | { op: "noFinalNewline" | "bom" | "crlf" }
  | { op: "keepFirst"; n: number }
  | { op: "append"; b64: string }
  | { op: "drop"; seq: number[] }
  | { op: "dup"; seq: number }
  | { op: "insert"; after: number; record: NeutralRecord }
  | { op: "swap"; a: number; b: number }
  | { op: "rawAfter"; seq: number; b64: string }
  | { op: "join"; seq: number }
  | { op: "replaceBytes"; seq: number; find: string; with: string }
  | { op: "set"; seq: number; path: (string | number)[]; value: unknown }
  | { op: "unset"; seq: number; key: string };

/** A line of the log. `neutral` is the record that it stands for; undefined for what was added as bytes. */
export type MapLine = {
  readonly neutral: number | undefined;
  readonly role: "before" | "main" | "after";
  /** Undefined once the line is no record any more. */
  readonly record: RawEvent | undefined;
  readonly bytes: Buffer;
  readonly end: string;
};

/** The untouched log of a base conversation. */
export function baseLines(records: readonly NeutralRecord[]): MapLine[] {
  let seq = 0;
  return toEvents(records).map(({ neutral, role, event }) => {
    if (event.kind === "header") return { neutral, role, record: undefined, bytes: event.line, end: "\n" };
    seq += 1;
    const record = { seq, at: event.at, session: event.session, ...event.event };
    return line({ neutral, role }, record);
  });
}

/** The log after the operations, as lines; `toBytes` joins them. */
export function applyOps(lines: readonly MapLine[], ops: readonly Op[]): MapLine[] {
  return ops.reduce<MapLine[]>((changed, op) => applyOp(changed, op), [...lines]);
}

export const toBytes = (lines: readonly MapLine[]): Buffer =>
  Buffer.concat(lines.flatMap(({ bytes, end }) => [bytes, Buffer.from(end)]));

/** The seq in our log of a neutral record. */
export function seqOf(lines: readonly MapLine[], neutral: number): number | undefined {
  return lines.find((each) => isMain(each, neutral))?.record?.seq;
}

/** Records that are only about links between records, which our format does not have: order is `seq`. */
export const isWithoutCounterpart = (op: Op): boolean => op.op === "set" && op.path[0] === "parent";

/** What only the engine can see: the store reads such a record as it is. */
export function needsEngine(op: Op): boolean {
  if (op.op !== "set") return false;
  const [first, second] = op.path;
  return (
    ["id", "tool_use_id", "keepFrom"].includes(String(first)) || (first === "message" && second === "content")
  );
}

function applyOp(lines: MapLine[], op: Op): MapLine[] {
  switch (op.op) {
    case "cutRecord":
      return cutRecord(lines, op.seq, op.bytes);
    case "noFinalNewline":
      return lines.map((each, index) => (index === lines.length - 1 ? { ...each, end: "" } : each));
    case "bom":
      return [raw(Buffer.from("\uFEFF")), ...lines];
    case "crlf":
      return lines.map((each) => ({ ...each, end: each.end === "\n" ? "\r\n" : each.end }));
    case "keepFirst":
      return keepFirst(lines, op.n);
    case "append":
      return [...lines, raw(Buffer.from(op.b64, "base64"))];
    case "drop":
      return lines.filter(({ neutral }) => neutral === undefined || !op.seq.includes(neutral));
    case "dup":
      return lines.flatMap((each) => (isMain(each, op.seq) ? [each, each] : [each]));
    case "insert":
      return insertAfter(lines, op.after, inserted(op.record));
    case "swap":
      return swap(lines, op.a, op.b);
    case "rawAfter":
      return insertAfter(lines, op.seq, [raw(Buffer.from(op.b64, "base64"))]);
    case "join":
      return changeMain(lines, op.seq, (each) => ({ ...each, end: "" }));
    case "replaceBytes":
      return changeMain(lines, op.seq, (each) => replaceBytes(each, op));
    case "set":
      return set(lines, op);
    case "unset":
      return changeRecord(lines, op.seq, (record) => unsetMember(record, op.key));
    default:
      throw new Error(`No such operation is known: ${JSON.stringify(op)}`);
  }
}

/** A record that was cut at the end of the file is the last thing that was written. */
function cutRecord(lines: MapLine[], seq: number, bytes: number): MapLine[] {
  const cut = changeMain(lines, seq, (each) => ({
    ...each,
    record: undefined,
    bytes: each.bytes.subarray(0, bytes),
  }));
  const isLast = lines.at(-1)?.neutral === seq;
  return isLast ? cut.filter(({ neutral, role }) => neutral !== seq || role !== "after") : cut;
}

function keepFirst(lines: MapLine[], count: number): MapLine[] {
  const kept = new Set([...new Set(lines.map(({ neutral }) => neutral))].slice(0, count));
  return lines.filter(({ neutral }) => kept.has(neutral));
}

/** A number far behind the others, as in the neutral format. */
function inserted(record: NeutralRecord): MapLine[] {
  const [found] = toEvents([record]).filter(({ role }) => role === "main");
  if (!found || found.event.kind === "header") return [];
  const { at, session, event } = found.event;
  return [line({ neutral: record.seq, role: "main" }, { seq: 1_000 + record.seq, at, session, ...event })];
}

function swap(lines: MapLine[], a: number, b: number): MapLine[] {
  const [first, second] = [lines.find((each) => isMain(each, a)), lines.find((each) => isMain(each, b))];
  if (!first || !second) throw new Error(`There are no records ${a} and ${b} to swap`);
  return lines.map((each) => {
    if (each === first) return second;
    return each === second ? first : each;
  });
}

function replaceBytes(each: MapLine, op: { find: string; with: string }): MapLine {
  const replacement = Buffer.from(op.with, "base64");
  const find = Buffer.from(op.find, "base64");
  const found = each.bytes.indexOf(find);
  // Bytes that only the neutral format has: the middle of our line stands for them.
  const start = found === -1 ? Math.floor(each.bytes.length / 2) : found;
  const end = start + (found === -1 ? replacement.length : find.length);
  const bytes = Buffer.concat([each.bytes.subarray(0, start), replacement, each.bytes.subarray(end)]);
  return { ...each, record: undefined, bytes };
}

function set(lines: MapLine[], op: { seq: number; path: (string | number)[]; value: unknown }): MapLine[] {
  if (op.path[0] === "v" && op.seq === 0) return withVersion(lines, op.value);
  const { path, value } = op;
  const change = { path, value, seqOf: (neutral: number) => seqOf(lines, neutral) ?? neutral + 1 };
  return changeRecord(lines, op.seq, (record) => setMember(record, change));
}

function withVersion(lines: MapLine[], version: unknown): MapLine[] {
  const header = `{"keel":"log","v":${JSON.stringify(version)}}`;
  return lines.map((each, index) => (index === 0 ? { ...each, bytes: Buffer.from(header) } : each));
}

function insertAfter(lines: MapLine[], neutral: number, added: MapLine[]): MapLine[] {
  const last = lines.findLastIndex((each) => each.neutral === neutral);
  if (last === -1) throw new Error(`There is no record ${neutral} to insert after`);
  return lines.toSpliced(last + 1, 0, ...added);
}

function changeRecord(lines: MapLine[], neutral: number, change: (record: RawEvent) => RawEvent): MapLine[] {
  return changeMain(lines, neutral, (each) => (each.record ? line(each, change(each.record)) : each));
}

function changeMain(lines: MapLine[], neutral: number, change: (each: MapLine) => MapLine): MapLine[] {
  if (!lines.some((each) => isMain(each, neutral)))
    throw new Error(`There is no record ${neutral} to change`);
  return lines.map((each) => (isMain(each, neutral) ? change(each) : each));
}

const isMain = (each: MapLine, neutral: number): boolean => each.role === "main" && each.neutral === neutral;

function line({ neutral, role }: Pick<MapLine, "neutral" | "role">, record: RawEvent): MapLine {
  return { neutral, role, record, bytes: encodeRecord(record).subarray(0, -1), end: "\n" };
}

const raw = (bytes: Buffer): MapLine => ({
  neutral: undefined,
  role: "after",
  record: undefined,
  bytes,
  end: "",
});
