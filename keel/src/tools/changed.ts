/** The outcome of a change to a text file: words for the model, a diff for a screen, counts for the bill. */

import type { Json } from "../kernel/json.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import type { DiffHunk } from "../protocol/tool.ts";
import { boundedHunks, countLines, hunksOf } from "./hunks.ts";

/** A whole text is part of the result for programs, but the log must not grow by a large file per change. */
const maxKeptCharacters = 256 * 1024;

export const boundedText = (whole: string): string | null =>
  whole.length > maxKeptCharacters ? null : whole;

type EditedText = {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly stamp: string;
  /** What was done, without the counts. */
  readonly said: string;
  /** What is there now, where the words alone would not tell it. */
  readonly shows?: string;
  readonly data: (hunks: DiffHunk[]) => Json;
};

export function changed({ path, before, after, stamp, said, shows, data }: EditedText): ToolOutcome {
  const whole = hunksOf(before, after);
  const { added, removed } = countLines(whole);
  const hunks = boundedHunks(whole);
  return {
    content: [text(`${said} (+${added} -${removed} lines).${shows ? `\n\n${shows}` : ""}`)],
    display: { kind: "diff", path, hunks },
    data: data(hunks),
    seen: [{ path, stamp }],
    linesAdded: added,
    linesRemoved: removed,
  };
}
