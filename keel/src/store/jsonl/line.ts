/**
 * One line of a log: a JSON object whose last member is a checksum of the bytes before it, so that a line can be
 * checked without writing it again, and stays plain JSON for every other tool.
 *
 *     {"seq":1,"at":1763200000000,"session":"…","type":"…",…,"sum":"0a1b2c3d"}
 *
 * A header line (`{"keel":"log","v":1,…}`) says in which format the lines after it are. The shape of a header and of
 * the checksum never changes: a reader of any version can tell that a log is too new for it.
 */
import { crc32 } from "node:zlib";
import { isObject, toLine } from "../../kernel/json.ts";
import { logVersion } from "../../protocol/event/durable.ts";

/** `,"sum":"0a1b2c3d"}` */
export const SUM_BYTES = 18;
export const SUM_START: Buffer = Buffer.from(',"sum":"');
const SUM_END = Buffer.from('"}');
/** The value of a byte as a lower-case hexadecimal digit, or -1. */
const hexDigits = Int8Array.from({ length: 128 }, (_, byte) =>
  "0123456789abcdef".indexOf(String.fromCharCode(byte)),
);
const RECORD_START = Buffer.from('{"seq":');
const HEADER_START = Buffer.from('{"keel":');
/** How a line can start. In a string the quotes would be escaped, so these bytes are never inside one. */
export const STARTS: readonly Buffer[] = [RECORD_START, HEADER_START];

/** Longer lines are neither written nor read: a string of V8 ends at 512 MiB, and a gap of NULs may be any size. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

export type Header = {
  readonly keel: "log";
  readonly v: number;
  // Only the version is needed to refuse a newer format, whatever else its header says.
  readonly session?: string | undefined;
  readonly cwd?: string | undefined;
  readonly at?: number | undefined;
};

/** What a whole line is. */
export type CheckedLine = { kind: "record"; seq: number } | { kind: "header"; header: Header };

export function encodeHeader(header: { session: string; cwd: string; at: number }): Buffer {
  return encodeLine({ keel: "log", v: logVersion, ...header });
}

/** Also for a record that this version does not know: it is copied as it is. */
export function encodeRecord(record: {
  readonly seq: number;
  readonly session: string;
  readonly at?: unknown;
}): Buffer {
  const { seq, at, session, ...event } = record;
  // The envelope comes first, so that `seq` is found without parsing.
  return encodeLine({ seq, at, session, ...event });
}

/** What the line is, or undefined when it is not whole. `line` has no line end. */
export function checkLine(line: Buffer): CheckedLine | undefined {
  if (hasAt(line, RECORD_START, 0)) return hasSum(line) ? recordOf(line) : undefined;
  if (hasAt(line, HEADER_START, 0)) return headerOf(line);
  return undefined;
}

/** The value of a line that was checked before; undefined when it is no JSON object after all. */
export function decodeLine(line: Buffer): Record<string, unknown> | undefined {
  try {
    const value: Record<string, unknown> = JSON.parse(line.toString("utf8"));
    // It came last, so that the object stays what it is without it; a copy of every record would take longer.
    delete value["sum"];
    return value;
  } catch {
    // A right checksum over wrong JSON: not ours, and told as damage by the caller.
    return undefined;
  }
}

function encodeLine(value: object): Buffer {
  const text = Buffer.from(toLine(value));
  const body = text.subarray(0, -1);
  return Buffer.concat([body, SUM_START, Buffer.from(`${sumOf(body)}"}\n`)]);
}

function hasSum(line: Buffer): boolean {
  const bodyBytes = line.length - SUM_BYTES;
  if (bodyBytes <= 0 || !hasAt(line, SUM_START, bodyBytes) || !hasAt(line, SUM_END, line.length - 2))
    return false;
  const sum = readSum(line, bodyBytes + SUM_START.length);
  return sum !== undefined && sum === crc32(line.subarray(0, bodyBytes));
}

/** Eight digits, as they are written: no other spelling of the same number. Undefined when they are none. */
function readSum(line: Buffer, start: number): number | undefined {
  let sum = 0;
  for (let at = start; at < start + 8; at++) {
    const digit = hexDigits[line[at] ?? 0] ?? -1;
    if (digit < 0) return undefined;
    sum = sum * 16 + digit;
  }
  return sum;
}

function recordOf(line: Buffer): CheckedLine | undefined {
  let seq = 0;
  for (let at = RECORD_START.length; at < line.length; at++) {
    const digit = (line[at] ?? 0) - 48;
    if (digit < 0 || digit > 9) break;
    seq = seq * 10 + digit;
  }
  return seq > 0 && Number.isSafeInteger(seq) ? { kind: "record", seq } : undefined;
}

function headerOf(line: Buffer): CheckedLine | undefined {
  const header = readHeader(decodeLine(line));
  if (!header) return undefined;
  // A format to come may have given up the checksum; ours always has it.
  const isToCome = header.v > logVersion && !line.includes(SUM_START);
  return isToCome || hasSum(line) ? { kind: "header", header } : undefined;
}

/** By hand: it is read at every start, and a schema would bring its library along. */
function readHeader(value: unknown): Header | undefined {
  if (!isObject(value)) return undefined;
  const { keel, v, session, cwd, at } = value;
  if (keel !== "log" || typeof v !== "number" || !Number.isSafeInteger(v) || v < 1) return undefined;
  if (!isTextOrNone(session) || !isTextOrNone(cwd)) return undefined;
  if (at !== undefined && typeof at !== "number") return undefined;
  return { keel, v, session, cwd, at };
}

const isTextOrNone = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";

const sumOf = (bytes: Buffer): string => crc32(bytes).toString(16).padStart(8, "0");

/** Byte by byte: a view of them for every line would take longer than to look. */
function hasAt(line: Buffer, bytes: Buffer, offset: number): boolean {
  for (let at = 0; at < bytes.length; at++) if (line[offset + at] !== bytes[at]) return false;
  return true;
}
