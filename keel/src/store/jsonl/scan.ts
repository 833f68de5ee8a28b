/**
 * Reads a log once from start to end and says what stands where: which records are whole, what is damaged, and where
 * the next record may go. Checks every line by its checksum and parses none.
 */
import { logVersion } from "../../protocol/event/durable.ts";
import type { OpenFile } from "./files.ts";
import { eachLine, type LogLine, type LogPrefix } from "./frame.ts";
import {
  type CheckedLine,
  checkLine,
  type Header,
  MAX_LINE_BYTES,
  STARTS,
  SUM_BYTES,
  SUM_START,
} from "./line.ts";

/** Where a whole record stands, and in which format. */
export type RecordEntry = {
  readonly seq: number;
  readonly offset: number;
  readonly bytes: number;
  readonly v: number;
};

export type Scan = {
  readonly size: number;
  /** Of all bytes that were read, and those before them. */
  readonly sum: number;
  /** Behind the last whole line: what follows is torn and not yet counted as lost. */
  readonly end: number;
  /** The last record has no line end yet. */
  readonly unended: boolean;
  /** The first whole header. */
  readonly header: Header | undefined;
  /** The newest format that a header names. */
  readonly newest: number;
  /** In the order of the file. */
  readonly entries: readonly RecordEntry[];
  readonly lost: Lost;
  /** Lines that held more than one record. */
  readonly joined: number;
};

/** Stretches in the middle of the file that are no record. */
export type Lost = { readonly stretches: number; readonly bytes: number; readonly firstOffset: number };

/** `behind`: what is known already and stands in the format of this version. */
export async function scan(file: OpenFile, behind?: LogPrefix): Promise<Scan> {
  const survey = new LogScanner(behind);
  return survey.result(await eachLine(file, (line) => survey.add(line), behind));
}

class LogScanner {
  #v = logVersion;
  readonly #entries: RecordEntry[] = [];
  readonly #lost = { stretches: 0, bytes: 0, firstOffset: 0 };
  readonly #found: { -readonly [Name in keyof Omit<Scan, "size" | "sum">]: Scan[Name] };

  constructor(behind: LogPrefix | undefined) {
    this.#found = {
      end: behind?.bytes ?? 0,
      unended: false,
      header: undefined,
      newest: behind ? logVersion : 0,
      entries: this.#entries,
      lost: this.#lost,
      joined: 0,
    };
  }

  add(line: LogLine): void {
    const { offset, bytes, wholeBytes, ended } = line;
    const checked = checkLine(bytes);
    if (checked) this.#keep(checked, { offset, bytes: bytes.length });
    else if (bytes.length > 0) this.#addPieces(line);
    else if (wholeBytes > MAX_LINE_BYTES && ended) this.#lose(offset, wholeBytes);
    if (!checked && !ended) return; // What is torn is not behind us: the next record goes in its place.
    this.#found.end = offset + wholeBytes;
    this.#found.unended = !ended;
  }

  result({ bytes: size, sum }: LogPrefix): Scan {
    return { size, sum, ...this.#found };
  }

  /** Keeps what is whole in a line that is not. */
  #addPieces({ offset, bytes, ended }: LogLine): void {
    const pieces = salvage(bytes);
    let cursor = 0;
    for (const piece of pieces) {
      this.#lose(offset + cursor, piece.start - cursor);
      this.#keep(piece.checked, { offset: offset + piece.start, bytes: piece.bytes });
      cursor = piece.start + piece.bytes;
    }
    if (pieces.length > 1) this.#found.joined += 1;
    if (ended) this.#lose(offset + cursor, bytes.length - cursor);
    if (pieces.length === 0) return;
    this.#found.end = offset + cursor;
    this.#found.unended = true;
  }

  #keep(checked: CheckedLine, place: { offset: number; bytes: number }): void {
    if (checked.kind === "record") {
      this.#entries.push({ seq: checked.seq, ...place, v: this.#v });
      return;
    }
    this.#found.header ??= checked.header;
    this.#v = checked.header.v;
    this.#found.newest = Math.max(this.#found.newest, this.#v);
  }

  #lose(offset: number, bytes: number): void {
    if (bytes === 0) return;
    if (this.#lost.stretches === 0) this.#lost.firstOffset = offset;
    this.#lost.stretches += 1;
    this.#lost.bytes += bytes;
  }
}

type SalvagedPiece = { readonly start: number; readonly bytes: number; readonly checked: CheckedLine };

/** A checksum is tried over every stretch from a start to an end: these bound what a hostile line may cost. */
const MAX_TRIES = 10_000;
const MAX_TRIED_BYTES = 256 * 1024 * 1024;

/** Finds whole records inside a line that is not whole: two on one line, or one behind a cut one or a block of NULs. */
function salvage(line: Buffer): SalvagedPiece[] {
  const starts = STARTS.flatMap((start) => indexesOf(line, start)).sort((left, right) => left - right);
  const ends = indexesOf(line, SUM_START).map((index) => index + SUM_BYTES);
  const pieces: SalvagedPiece[] = [];
  let tries = MAX_TRIES;
  let bytesLeft = MAX_TRIED_BYTES;
  let free = 0;
  // From the outside in: a record may hold objects that look like records.
  for (const start of starts) {
    if (start < free) continue;
    for (const end of ends) {
      if (end <= start) continue;
      tries -= 1;
      bytesLeft -= end - start;
      if (tries < 0 || bytesLeft < 0) return pieces;
      const checked = isInside(line, { start, end }) ? undefined : checkLine(line.subarray(start, end));
      if (!checked) continue;
      pieces.push({ start, bytes: end - start, checked });
      free = end;
      break;
    }
  }
  return pieces;
}

/** What does not start the line and is followed like this is a part of another record, and never was one itself. */
const isInside = (line: Buffer, { start, end }: { start: number; end: number }): boolean =>
  start > 0 && ",]}".includes(String.fromCharCode(line[end] ?? 0));

function indexesOf(bytes: Buffer, wanted: Buffer): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(wanted); at !== -1 && found.length <= MAX_TRIES; ) {
    found.push(at);
    at = bytes.indexOf(wanted, at + wanted.length);
  }
  return found;
}
