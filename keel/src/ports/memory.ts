/** What is kept over sessions: short notes, each a topic, and an index of them that the model reads at the start. */
import type { Refused } from "../kernel/result.ts";

export const noteTypes = ["user", "feedback", "project", "reference"] as const;
export type NoteType = (typeof noteTypes)[number];

export type Note = {
  /** Letters, digits and hyphens: it is the name of a file too. */
  readonly name: string;
  readonly type: NoteType;
  /** One line, for the index. */
  readonly description: string;
  readonly content: string;
};

export interface Memory {
  /** Where a person finds it. */
  readonly place: string;
  /** The index within its bounds, empty where there is none; a text from outside. Read once for a session. */
  index(): Promise<string>;
  /** The notes that hold these words, the best first; all when there are none. */
  recall(query: string, most: number): Promise<readonly Note[]>;
  /** A new note, or the new text of one. */
  remember(note: Note): Promise<{ readonly ok: true } | Refused>;
}
