/** Finds whole records inside a line that is not whole: two on one line, or one behind a cut one or a block of NULs. */
import { type CheckedLine, checkLine, STARTS, SUM_BYTES, SUM_START } from "./line.ts";

export type SalvagedPiece = { readonly start: number; readonly bytes: number; readonly checked: CheckedLine };

/** A checksum is tried over every stretch from a start to an end: these bound what a hostile line may cost. */
const MAX_TRIES = 10_000;
const MAX_TRIED_BYTES = 256 * 1024 * 1024;

export function salvage(line: Buffer): SalvagedPiece[] {
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
