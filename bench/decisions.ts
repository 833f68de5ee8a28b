/** How decisions are timed: the first by itself, then pass by pass over all texts, then each slow text alone. */
import { readFile } from "node:fs/promises";

export type DecisionTexts = {
  readonly texts: readonly string[];
  /** Texts that are made to be slow, at half the length and at the whole. */
  readonly half: readonly string[];
  readonly whole: readonly string[];
  readonly repeats: number;
};

export type DecisionTimes = {
  /** With what has to be loaded for it. */
  readonly first: readonly number[];
  /** One for each decision. */
  readonly each: readonly number[];
  /** The 99th percentile of each pass. */
  readonly p99: readonly number[];
  /** The slowest of the slow texts. */
  readonly half: readonly number[];
  readonly whole: readonly number[];
};

/** `file` holds the texts: they are too many for an argument. */
export async function timeEach(
  { file }: { file: string },
  decide: (text: string) => Promise<void>,
): Promise<DecisionTimes> {
  const { texts, half, whole, repeats }: DecisionTexts = JSON.parse(await readFile(file, "utf8"));
  const time = async (text: string): Promise<number> => {
    const startedAt = performance.now();
    await decide(text);
    return performance.now() - startedAt;
  };
  const passOver = async (all: readonly string[]): Promise<number[]> => {
    const times: number[] = [];
    for (const text of all) times.push(await time(text));
    return times;
  };
  const first = await time(texts[0] ?? "ls");
  // What a session does for hours is measured warm.
  for (let pass = 0; pass < 2; pass++) await passOver(texts);
  const passes: number[][] = [];
  for (let pass = 0; pass < repeats; pass++) passes.push(await passOver(texts));
  await passOver(half);
  return {
    first: [first],
    each: passes.flat(),
    p99: passes.map((times) => quantile(times, 0.99)),
    half: [Math.max(...(await passOver(half)))],
    whole: [Math.max(...(await passOver(whole)))],
  };
}

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((left, right) => left - right)[Math.ceil(times.length * share) - 1] ?? Number.NaN;
