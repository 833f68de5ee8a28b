/** Changes of a file as editors show them: the text before and after, from hunks. Pure. */
import type { ToolCallContent, ToolCallLocation } from "@agentclientprotocol/sdk";
import type { ToolCallContent as ContentV2, DiffChange } from "@agentclientprotocol/sdk/experimental/v2";
import { applyHunks } from "../../protocol/apply-hunks.ts";
import type { DiffHunk, Display } from "../../protocol/tool.ts";

type ShownDiff = Extract<Display, { kind: "diff" }>;

/** Each hunk by itself: all that is known of the file by then. A file that was not there has no text before. */
export const diffsOf = ({ path, hunks }: ShownDiff): ToolCallContent[] =>
  hunks.map((hunk) => ({
    type: "diff",
    path,
    oldText: hunk.oldLines === 0 && hunks.length === 1 ? null : sideOf(hunk, "-"),
    newText: sideOf(hunk, "+"),
  }));

/** The whole file before and after; undefined where the hunks do not fit what the file is now. */
export function wholeDiff({ path, hunks }: ShownDiff, before: string): ToolCallContent | undefined {
  const after = applyHunks(before, hunks);
  return after === undefined ? undefined : { type: "diff", path, oldText: before, newText: after };
}

/** In version 2: the file as changed, and the change as git would write it, with the path as it is. */
export function diffOf({ path, hunks }: ShownDiff): ContentV2 {
  const isNew = hunks.length === 1 && hunks[0]?.oldLines === 0 && hunks[0].oldStart === 0;
  const change: DiffChange = isNew
    ? { operation: "add", path, fileType: "text" }
    : { operation: "modify", path, fileType: "text" };
  // A name that git would quote goes without the text of the change.
  if (!/^[\x20!#-[\]-~]+$/.test(path) || hunks.length === 0) return { type: "diff", changes: [change] };
  const head = [
    `diff --git ${path} ${path}`,
    ...(isNew ? ["new file mode 100644"] : []),
    `--- ${isNew ? "/dev/null" : path}`,
    `+++ ${path}`,
  ];
  const body = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  const text = `${[...head, ...body].join("\n")}\n`;
  return { type: "diff", changes: [change], patch: { format: "git_patch", text } };
}

export const linesOf = ({ path, hunks }: ShownDiff): ToolCallLocation[] =>
  hunks.length === 0 ? [{ path }] : hunks.map(({ newStart }) => ({ path, line: Math.max(1, newStart) }));

function sideOf({ lines }: DiffHunk, sign: "-" | "+"): string {
  const kept = lines.filter((line) => line.startsWith(" ") || line.startsWith(sign));
  return kept.map((line) => `${line.slice(1)}\n`).join("");
}
