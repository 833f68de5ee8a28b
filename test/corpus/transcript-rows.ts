// The rows of the transcript corpus and its base conversations.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { NeutralRecord } from "./transcript-events.ts";
import type { Op } from "./transcript-map.ts";

const folder = path.resolve(import.meta.dirname, "../corpora");

export type Expected = {
  readonly resumable?: boolean;
  readonly error?: string;
  readonly fileUnchanged?: boolean;
  readonly keep?: readonly number[];
  readonly mustKeep?: readonly number[];
  readonly warn?: boolean;
  readonly backup?: boolean;
  readonly skippedLines?: number;
  readonly userMessages?: number;
  readonly records?: number;
  readonly contains?: string;
  readonly checkProto?: boolean;
  readonly saveWarning?: boolean;
  readonly accepted?: string;
  readonly second?: string;
  readonly interleaved?: number;
  readonly withinMs?: number;
  readonly maxRssMb?: number;
  // For the engine: what the next request and the settled calls look like.
  readonly apiValid?: boolean;
  readonly reRun?: number;
  readonly synthetic?: readonly string[];
  readonly started?: readonly string[];
};

export type Environment = {
  readonly path?: string;
  readonly mode?: string;
  readonly readOnlyDir?: boolean;
  readonly disk?: string;
  readonly openTwice?: boolean;
  readonly staleLock?: string;
  readonly records?: number;
  readonly bytes?: number;
};

export type Row = {
  readonly id: string;
  readonly base: string;
  readonly class: string;
  readonly why: string;
  readonly ops?: readonly Op[];
  readonly env?: Environment;
  readonly expect: Expected;
  readonly maxMs?: number;
};

/** Every row of every `transcript-*.jsonl`. */
export function readRows(): Row[] {
  return globSync("transcript-*.jsonl", { cwd: folder })
    .sort()
    .flatMap((name) => readLines<Row>(path.join(folder, name)));
}

export function readBase(name: string): NeutralRecord[] {
  return readLines<NeutralRecord>(path.join(folder, "transcript-base", `${name}.jsonl`));
}

function readLines<T>(file: string): T[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line): T => JSON.parse(line));
}
