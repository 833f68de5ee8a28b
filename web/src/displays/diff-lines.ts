/** The lines of a hunk with their numbers, what changed within a line, and the two sides of it beside each other. */

export type DiffLine = {
  readonly kind: "same" | "added" | "removed";
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
  /** The part of the text that differs from the line that it replaces or that replaced it. */
  readonly changed: readonly [from: number, to: number] | null;
};

export type SideBySide = { readonly left: DiffLine | null; readonly right: DiffLine | null };

type Hunk = { readonly oldStart: number; readonly newStart: number; readonly lines: readonly string[] };

/** Lines as a display has them: each begins with a blank, `-` or `+`. */
export function linesOfHunk({ oldStart, newStart, lines }: Hunk): readonly DiffLine[] {
  let before = oldStart;
  let after = newStart;
  const all = lines.map((line): DiffLine => {
    const text = line.slice(1);
    switch (line[0]) {
      case "+":
        return { kind: "added", before: null, after: after++, text, changed: null };
      case "-":
        return { kind: "removed", before: before++, after: null, text, changed: null };
      default:
        return { kind: "same", before: before++, after: after++, text, changed: null };
    }
  });
  return withChanges(all);
}

/** A run of removed lines and a run of added ones behind it are compared line by line where they are as many. */
export function withChanges(lines: readonly DiffLine[]): readonly DiffLine[] {
  const marked = [...lines];
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, "removed");
    const added = runOf(lines, at + removed, "added");
    if (removed > 0 && removed === added)
      for (let index = 0; index < removed; index += 1) {
        const [left, right] = [lines[at + index], lines[at + removed + index]];
        if (!left || !right) continue;
        const [from, leftTo, rightTo] = difference(left.text, right.text);
        // Where hardly anything is the same the marks would only be noise.
        if (from - indentOf(left.text) + left.text.length - leftTo < left.text.trim().length * 0.5) continue;
        marked[at + index] = { ...left, changed: [from, leftTo] };
        marked[at + removed + index] = { ...right, changed: [from, rightTo] };
      }
    at += Math.max(1, removed + added);
  }
  return marked;
}

const indentOf = (text: string): number => text.length - text.trimStart().length;

const runOf = (lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number => {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return end - from;
};

function difference(left: string, right: string): readonly [from: number, leftTo: number, rightTo: number] {
  const most = Math.min(left.length, right.length);
  let from = 0;
  while (from < most && left[from] === right[from]) from += 1;
  let same = 0;
  while (same < most - from && left[left.length - 1 - same] === right[right.length - 1 - same]) same += 1;
  return [from, left.length - same, right.length - same];
}

export function sideBySide(lines: readonly DiffLine[]): readonly SideBySide[] {
  const rows: SideBySide[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, "removed");
    const added = runOf(lines, at + removed, "added");
    for (let index = 0; index < Math.max(removed, added); index += 1)
      rows.push({
        left: index < removed ? (lines[at + index] ?? null) : null,
        right: index < added ? (lines[at + removed + index] ?? null) : null,
      });
    at += removed + added;
    const same = lines[at];
    if (removed + added === 0 && same) {
      rows.push({ left: same, right: same });
      at += 1;
    }
  }
  return rows;
}
