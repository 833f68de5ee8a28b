// The rows of the corpus of input lines.
import * as fs from "node:fs";
import path from "node:path";

const folder = path.resolve(import.meta.dirname, "../corpora");

export type LineRow = {
  readonly id: string;
  readonly class: string;
  readonly outcome: "accept" | "ignore" | "error" | "close";
  readonly code: string | null;
  readonly why: string;
  readonly b64?: string;
  readonly gen?: {
    readonly repeat?: string;
    readonly nest?: string;
    readonly close?: string;
    readonly lines?: string;
    readonly count: number;
    readonly wrap?: readonly [string, string];
  };
  readonly thenEof?: boolean;
  readonly needs?: string;
  /** Only as the very first line it means this. */
  readonly firstLine?: boolean;
};

export function readLineRows(): LineRow[] {
  return fs
    .globSync("jsonl-*.jsonl", { cwd: folder })
    .sort()
    .flatMap((name) => fs.readFileSync(path.join(folder, name), "utf8").split("\n").filter(Boolean))
    .map((line): LineRow => JSON.parse(line));
}

/** What is sent, in pieces: some rows are larger than a program should hold at once. */
export function* bytesOf({ b64, gen }: LineRow): Generator<Uint8Array> {
  if (!gen) {
    yield Buffer.from(b64 ?? "", "base64");
    return;
  }
  const [before, after] = gen.wrap ?? ["", ""];
  yield Buffer.from(before);
  if (gen.lines !== undefined) yield Buffer.from(`${gen.lines}\n`.repeat(gen.count).slice(0, -1));
  else if (gen.nest !== undefined)
    yield Buffer.from(gen.nest.repeat(gen.count) + (gen.close ?? "").repeat(gen.count));
  else yield* repeated(gen.repeat ?? "", gen.count);
  yield Buffer.from(after);
}

function* repeated(text: string, count: number): Generator<Uint8Array> {
  const atOnce = 1 << 20;
  for (let left = count; left > 0; left -= atOnce) yield Buffer.from(text.repeat(Math.min(left, atOnce)));
}
