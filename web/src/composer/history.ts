/** What was said before, to be called back: older with each step up, and what was being written at the end. Pure. */

export type Recall = {
  /** How far back; 0 is what is being written. */
  readonly steps: number;
  readonly draft: string;
};

export const noRecall: Recall = { steps: 0, draft: "" };

/** `said` has the newest last. Undefined where there is nothing further. */
export function recall(
  said: readonly string[],
  { steps, draft }: Recall,
  { step, text }: { readonly step: 1 | -1; readonly text: string },
): { readonly text: string; readonly recall: Recall } | undefined {
  const next = steps + step;
  const kept = steps === 0 ? text : draft;
  if (next === 0) return { text: kept, recall: noRecall };
  const found = said.at(-next);
  return next < 0 || found === undefined ? undefined : { text: found, recall: { steps: next, draft: kept } };
}
