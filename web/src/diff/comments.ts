/** Comments on lines of a diff: written down until they are sent, and known to be old when their lines have changed. */
import type { FileDiff } from "keel/protocol";

export type LineSide = "before" | "after";

/** Lines as one side of the diff counts them, both ends included. */
export type LineRange = { readonly side: LineSide; readonly from: number; readonly to: number };

export type DiffComment = {
  readonly id: string;
  readonly path: string;
  /** The first line that it is about; left out where that is the last one too. */
  readonly from?: number | undefined;
  /** The last line that it is about, as the new file counts them; as the old one does for a removed line. */
  readonly line: number;
  readonly side: LineSide;
  /** The lines that it is about, as they were. */
  readonly quoted: string;
  readonly text: string;
};

type Line = Omit<FileDiff["hunks"][number]["lines"][number], "before" | "after"> & {
  readonly before?: number | null | undefined;
  readonly after?: number | null | undefined;
};

export const rangeOf = ({ side, from, line }: DiffComment): LineRange => ({
  side,
  from: from ?? line,
  to: line,
});

/** What one side reads from a line to another. */
export const textOf = (lines: readonly Line[], { side, from, to }: LineRange): string =>
  lines
    .filter((line) => isWithin(line[side], from, to))
    .map(({ text }) => text)
    .join("\n");

const isWithin = (number: number | null | undefined, from: number, to: number): boolean =>
  number !== null && number !== undefined && from <= number && number <= to;

/**
 * Where the lines of a comment stand now: where they were, else at the nearest place that reads the same, since lines
 * above them may have come or gone. Undefined where no place does: the comment is old.
 */
export function placeOf(comment: DiffComment, lines: readonly Line[]): LineRange | undefined {
  const { side, from, to } = rangeOf(comment);
  const of = lines.filter((line) => (line[side] ?? null) !== null);
  const quoted = comment.quoted.split("\n");
  const found = of.flatMap((first, at) => {
    const run = of.slice(at, at + quoted.length);
    const start = first[side] ?? 0;
    const isSame =
      run.length === quoted.length &&
      run.every((line, index) => line.text === quoted[index] && line[side] === start + index);
    return isSame ? [start] : [];
  });
  const nearest = found.toSorted((left, right) => Math.abs(left - from) - Math.abs(right - from))[0];
  return nearest === undefined ? undefined : { side, from: nearest, to: nearest + to - from };
}

export type PlacedComment = {
  readonly comment: DiffComment;
  /** Undefined for one that is old. */
  readonly place: LineRange | undefined;
};

/** All of them as one message to the agent, which is told which lines are no longer as they were. */
export function asMessage(comments: readonly PlacedComment[]): string {
  const parts = comments.map(({ comment, place }) => {
    const { from, to } = place ?? rangeOf(comment);
    const where = `${comment.path}:${from === to ? to : `${from}-${to}`}`;
    const since = place ? "" : " (changed since this was written)";
    return `${where}${since}\n> ${comment.quoted.replaceAll("\n", "\n> ")}\n${comment.text.trim()}`;
  });
  return parts.join("\n\n");
}

const keyOf = (worker: string): string => `keel.comments.${worker}`;

export function readComments(notes: Pick<Storage, "getItem">, worker: string): readonly DiffComment[] {
  try {
    return JSON.parse(notes.getItem(keyOf(worker)) ?? "[]") as readonly DiffComment[];
  } catch {
    return [];
  }
}

export function keepComments(
  notes: Pick<Storage, "setItem" | "removeItem">,
  worker: string,
  comments: readonly DiffComment[],
): void {
  if (comments.length === 0) notes.removeItem(keyOf(worker));
  else notes.setItem(keyOf(worker), JSON.stringify(comments));
}
