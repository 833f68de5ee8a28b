// The rows of the corpus of lines for the runner, with the bytes that each of them means.
import { readFileSync } from "node:fs";
import path from "node:path";

const file = path.resolve(import.meta.dirname, "../corpora/jsonl-public.jsonl");

export type LineRow = {
  readonly id: string;
  readonly outcome: "accept" | "ignore" | "error" | "close";
  readonly code: string | null;
  readonly why: string;
  readonly class: string;
  readonly b64?: string;
  readonly gen?: {
    repeat?: string;
    nest?: string;
    close?: string;
    lines?: string;
    count: number;
    wrap?: [string, string];
  };
  readonly firstLine?: boolean;
  readonly roundTrip?: boolean;
  readonly needs?: string;
  readonly thenEof?: boolean;
  readonly delivery?: "byte" | "splitUtf8";
  readonly maxRssGrowthMb?: number;
};

export const readLineRows = (): LineRow[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** In pieces: some rows are far larger than the memory that they may take. */
export function* bytesOf(row: LineRow, fill: (text: string) => string): Generator<Buffer> {
  if (row.b64 !== undefined) {
    const bytes = Buffer.from(row.b64, "base64");
    const text = bytes.toString("latin1");
    yield text.includes("{REQ}") ? Buffer.from(fill(text), "latin1") : bytes;
    return;
  }
  const { repeat, nest, close = "", lines, count = 0, wrap = ["", ""] } = row.gen ?? {};
  if (lines !== undefined) {
    yield Buffer.from(Array.from({ length: count }, () => lines).join("\n"));
    return;
  }
  yield Buffer.from(wrap[0]);
  if (nest !== undefined) yield Buffer.from(nest.repeat(count) + close.repeat(count));
  if (repeat !== undefined) {
    const piece = Buffer.from(repeat.repeat(Math.min(count, 65_536)));
    for (let left = count; left > 0; left -= piece.length)
      yield piece.subarray(0, Math.min(left, piece.length));
  }
  yield Buffer.from(wrap[1]);
}
