/** Comments on lines of a diff: written down until they are sent, and known to be old when their lines have changed. */

export type DiffComment = {
  readonly id: string;
  readonly path: string;
  /** The last line that it is about, as the new file counts them; as the old one does for a removed line. */
  readonly line: number;
  readonly side: "before" | "after";
  /** The lines that it is about, as they were. */
  readonly quoted: string;
  readonly text: string;
};

/** Old where the line that it was about no longer reads as it did. */
export const isStale = (comment: DiffComment, now: string | undefined): boolean => now !== comment.quoted;

/** All of them as one message to the agent. */
export function asMessage(comments: readonly DiffComment[]): string {
  const parts = comments.map(
    ({ path, line, quoted, text }) => `${path}:${line}\n> ${quoted.replaceAll("\n", "\n> ")}\n${text.trim()}`,
  );
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
