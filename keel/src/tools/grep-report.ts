/** What a text search found, as lines for the model, cut to the window that was asked for. Pure. */

import type { FileMatch, LineMatch } from "../ports/search.ts";
import { shownPath } from "./shown-path.ts";

export type GrepMode = "content" | "files_with_matches" | "count";

export type GrepReport = {
  readonly text: string;
  /** The files that the window shows something of. */
  readonly filenames: string[];
  /** Entries in the window, and in all. */
  readonly shown: number;
  readonly total: number;
  /** Matching lines in all files. */
  readonly matches: number;
  readonly notes: readonly string[];
};

type GrepMatch = FileMatch & { readonly matches: number; readonly lines: readonly LineMatch[] };
type Window = {
  readonly mode: GrepMode;
  readonly offset: number;
  readonly limit: number;
  readonly withNumbers: boolean;
  readonly cwd: string;
};
type GrepEntry = { readonly file: string; readonly text: string };

export function grepReport(files: readonly GrepMatch[], window: Window): GrepReport {
  const { mode, offset, limit } = window;
  const entries = entriesOf(files, window);
  const inWindow = entries.slice(offset, offset + limit);
  return {
    text: inWindow.map((entry) => entry.text).join("\n"),
    filenames: [...new Set(inWindow.map((entry) => entry.file))],
    shown: inWindow.length,
    total: entries.length,
    matches: files.reduce((sum, file) => sum + file.matches, 0),
    notes: notesOf({ total: entries.length, shown: inWindow.length, offset, mode }),
  };
}

function entriesOf(files: readonly GrepMatch[], window: Window): GrepEntry[] {
  const { mode, cwd } = window;
  switch (mode) {
    case "files_with_matches":
      return newestFirst(files).map(({ path }) => ({
        file: shownPath(cwd, path),
        text: shownPath(cwd, path),
      }));
    case "count":
      return files.map(({ path, matches }) => ({
        file: shownPath(cwd, path),
        text: `${shownPath(cwd, path)}:${matches}`,
      }));
    case "content":
      return files.flatMap((file) => linesOf(file, window));
  }
}

/** As search programs write them: `path:12:text` for a match, `path-13-text` for a line beside one. */
function linesOf({ path, lines }: GrepMatch, { cwd, withNumbers }: Window): GrepEntry[] {
  const file = shownPath(cwd, path);
  return lines.map(({ number, text, isMatch }, at) => {
    const sign = isMatch ? ":" : "-";
    const before = lines[at - 1];
    const isGap = before !== undefined && !(before.isMatch && isMatch) && number > before.number + 1;
    const line = `${file}${sign}${withNumbers ? `${number}${sign}` : ""}${text}`;
    return { file, text: isGap ? `--\n${line}` : line };
  });
}

function notesOf({
  total,
  shown,
  offset,
  mode,
}: {
  total: number;
  shown: number;
  offset: number;
  mode: GrepMode;
}): string[] {
  if (shown === total) return [];
  const what = mode === "content" ? "lines" : "files";
  if (shown === 0) return [`There are only ${total} ${what}; offset ${offset} is past their end.`];
  const last = offset + shown;
  const next = last < total ? ` Go on with offset ${last}.` : "";
  return [`${what === "lines" ? "Lines" : "Files"} ${offset + 1} to ${last} of ${total}.${next}`];
}

const newestFirst = (files: readonly GrepMatch[]): GrepMatch[] =>
  files.toSorted((left, right) => right.modifiedMs - left.modifiedMs || (left.path < right.path ? -1 : 1));
