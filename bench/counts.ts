/** How much of everything a run does: enough for a figure, or just enough to see that it works. */
export type Counts = {
  readonly rounds: number;
  /** Events that are folded, and how often in one process. */
  readonly foldEvents: number;
  readonly foldRepeats: number;
  /** Tool turns of the long conversation; gaps are taken around `earlyTurn` and at its end. */
  readonly turns: number;
  readonly earlyTurn: number;
  readonly deltas: number;
  readonly sessions: number;
  readonly turnsPerSession: number;
  readonly appends: number;
  readonly logEvents: number;
  readonly logBytes: number;
  /** Runs of what only the machine costs, in one round. */
  readonly groundRepeats: number;
};

const mebibyte = 2 ** 20;

export const fullCounts: Counts = {
  rounds: 5,
  foldEvents: 10_000,
  foldRepeats: 20,
  turns: 1_000,
  earlyTurn: 10,
  deltas: 50_000,
  sessions: 1_000,
  turnsPerSession: 3,
  appends: 500,
  logEvents: 20_000,
  logBytes: 200 * mebibyte,
  groundRepeats: 5,
};

/** A check that everything runs; its figures mean nothing. */
export const smokeCounts: Counts = {
  rounds: 1,
  foldEvents: 400,
  foldRepeats: 2,
  turns: 30,
  earlyTurn: 10,
  deltas: 500,
  sessions: 10,
  turnsPerSession: 3,
  appends: 20,
  logEvents: 400,
  logBytes: 2 * mebibyte,
  groundRepeats: 1,
};
