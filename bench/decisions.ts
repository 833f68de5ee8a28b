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
  /** The same two in processor time, which other work on the machine does not lengthen. */
  readonly eachCpu: readonly number[];
  readonly p99Cpu: readonly number[];
  /** The slowest of the slow texts, in processor time. */
  readonly half: readonly number[];
  readonly whole: readonly number[];
};

/** `file` holds the texts: they are too many for an argument. */
export async function timeEach(
  { file }: { file: string },
  decide: (text: string) => Promise<void>,
): Promise<DecisionTimes> {
  const { texts, half, whole, repeats }: DecisionTexts = JSON.parse(await readFile(file, "utf8"));
  const time = async (text: string): Promise<Time> => {
    const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
    await decide(text);
    const { user, system } = process.cpuUsage(cpuBefore);
    return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
  };
  const passOver = async (all: readonly string[]): Promise<Time[]> => {
    const times: Time[] = [];
    for (const text of all) times.push(await time(text));
    return times;
  };
  const slowest = async (all: readonly string[]): Promise<number> =>
    Math.max(...(await passOver(all)).map(({ cpuMs }) => cpuMs));
  const first = (await time(texts[0] ?? "ls")).ms;
  // What a session does for hours is measured warm.
  for (let pass = 0; pass < 2; pass++) await passOver(texts);
  const passes: Time[][] = [];
  for (let pass = 0; pass < repeats; pass++) passes.push(await passOver(texts));
  await passOver(half);
  return {
    first: [first],
    each: passes.flat().map(({ ms }) => ms),
    p99: passes.map((times) => p99(times.map(({ ms }) => ms))),
    eachCpu: passes.flat().map(({ cpuMs }) => cpuMs),
    p99Cpu: passes.map((times) => p99(times.map(({ cpuMs }) => cpuMs))),
    half: [await slowest(half)],
    whole: [await slowest(whole)],
  };
}

type Time = { readonly ms: number; readonly cpuMs: number };

const p99 = (times: readonly number[]): number =>
  times.toSorted((left, right) => left - right)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
