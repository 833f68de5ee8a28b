/** What a long run is and what is looked at in it: the memory that is held, and the descriptors that are open. */
import { readdirSync } from "node:fs";
import { heldBytes } from "./program.ts";

export type LongRun = {
  readonly turns: number;
  /** From this turn on nothing may grow. */
  readonly settledTurn: number;
  /** What every input says. */
  readonly words: string;
  /** In place of the model's own window. */
  readonly windowTokens?: number;
};

export type LongRunResult = {
  /** Bytes that each turn adds for good, after `settledTurn`. */
  readonly growthBytes: number;
  /** The most descriptors and other handles in the last turns, beyond the most at `settledTurn`. */
  readonly moreHandles: number;
};

/** So many looks from `settledTurn` to the end: a conversation that is shortened now and then is a saw. */
const looks = 40;
/** Some handles are kept ready in stock: what counts is the most over as many turns as a stock lasts. */
const stockTurns = 8;

export async function longRun(
  { turns, settledTurn, words: _ }: LongRun,
  turn: () => Promise<void>,
): Promise<LongRunResult> {
  const held: { turn: number; bytes: number }[] = [];
  const every = Math.max(1, Math.floor((turns - settledTurn) / looks));
  const early: number[] = [];
  const late: number[] = [];
  for (let done = 1; done <= turns; done++) {
    await turn();
    if (done >= settledTurn && done < settledTurn + stockTurns) early.push(await openHandles());
    if (done > turns - stockTurns) late.push(await openHandles());
    if (done >= settledTurn && (done - settledTurn) % every === 0)
      held.push({ turn: done, bytes: await heldBytes() });
  }
  return { growthBytes: slopeOf(held), moreHandles: Math.max(...late) - Math.max(...early) };
}

/** Of the straight line that lies nearest to all looks. */
function slopeOf(points: readonly { turn: number; bytes: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const atTurn = mean(points.map(({ turn }) => turn));
  const atBytes = mean(points.map(({ bytes }) => bytes));
  const both = points.reduce((sum, { turn, bytes }) => sum + (turn - atTurn) * (bytes - atBytes), 0);
  const spread = points.reduce((sum, { turn }) => sum + (turn - atTurn) ** 2, 0);
  return spread === 0 ? 0 : both / spread;
}

/** Once what is ending has ended: pipes of the last command close a moment after it. */
async function openHandles(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  const files = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  return files + process.getActiveResourcesInfo().length;
}
