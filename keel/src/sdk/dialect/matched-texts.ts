/**
 * Sentences that programs of the interface look for and decide by: each stands here in the interface's words, and
 * `matched-texts.test.ts` holds them. Those of faults stand in the table of faults.
 */
export const matchedTexts = {
  aborted: "Claude Code process aborted by user",
  exited: (code: number | string | null) => `Claude Code process exited with code ${code}`,
  maxTurns: (turns: number) => `Reached maximum number of turns (${turns})`,
  maxBudget: "Reached maximum budget",
} as const;
