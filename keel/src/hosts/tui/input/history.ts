/** What was typed before: going back and forth in it, and searching. Where it is kept is `history-file.ts`. Pure. */

export type InputHistory = {
  /** The oldest first. */
  readonly entries: readonly string[];
  /** Which one is shown; as many as there are entries: what is being typed. */
  readonly at: number;
  /** What was being typed when somebody went back. */
  readonly draft: string;
};

export const maxHistory = 2_000;

export const historyOf = (entries: readonly string[]): InputHistory => ({
  entries,
  at: entries.length,
  draft: "",
});

/** The same as the one before it is not kept twice. */
export function remembered(before: InputHistory, entry: string): InputHistory {
  const isNew = entry.trim() !== "" && before.entries.at(-1) !== entry;
  return historyOf(isNew ? [...before.entries, entry].slice(-maxHistory) : before.entries);
}

/** What is to be shown, or undefined at the end. */
export function older(
  before: InputHistory,
  typed: string,
): { history: InputHistory; text: string } | undefined {
  const at = before.at - 1;
  const text = before.entries[at];
  if (text === undefined) return undefined;
  const draft = before.at === before.entries.length ? typed : before.draft;
  return { history: { ...before, at, draft }, text };
}

export function newer(before: InputHistory): { history: InputHistory; text: string } | undefined {
  if (before.at >= before.entries.length) return undefined;
  const at = before.at + 1;
  return { history: { ...before, at }, text: before.entries[at] ?? before.draft };
}

/** The newest that has the words, then older ones; each text once. */
export function searchHistory({ entries }: InputHistory, typed: string, most: number): string[] {
  const wanted = typed.toLowerCase();
  const found = new Set<string>();
  for (let index = entries.length - 1; index >= 0 && found.size < most; index--) {
    const entry = entries[index] ?? "";
    if (entry.toLowerCase().includes(wanted)) found.add(entry);
  }
  return [...found];
}
