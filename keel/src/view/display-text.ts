/** What a tool shows of its work, as plain text in three parts. Every screen and export that shows text takes it from here. */
import { never } from "../kernel/result.ts";
import type { DiffHunk, Display } from "../protocol/tool.ts";

export type DisplayText = {
  /** What it is about: a path, a command, the name of an agent. Empty where the text says it all. */
  readonly title: string;
  readonly text: string;
  /** What is left to say below the text. Empty where nothing is. */
  readonly end: string;
};

export function displayText(display: Display): DisplayText {
  switch (display.kind) {
    case "text":
    case "markdown":
      return { title: "", text: display.text, end: "" };
    case "agent":
      return { title: display.name, text: display.text, end: "" };
    case "diff": {
      const lines = display.hunks.flatMap((hunk) => hunk.lines);
      return { title: display.path, text: lines.join("\n"), end: "" };
    }
    case "terminal": {
      const end = display.exitCode === null ? "" : `Exit code ${display.exitCode}`;
      return { title: display.command, text: display.output, end };
    }
    case "files":
      return { title: "", text: display.paths.join("\n"), end: display.truncated ? "…" : "" };
    case "todo":
      return { title: "", text: display.items.map(({ text }) => text).join("\n"), end: "" };
    case "table":
      return { title: "", text: [display.columns, ...display.rows].map(tabbed).join("\n"), end: "" };
    default:
      return never(display);
  }
}

const tabbed = (cells: readonly string[]): string =>
  cells.map((cell) => cell.replace(/\s+/g, " ")).join("\t");

/** What a person is asked about: a command rather than its output, a file with what would change in it. */
export function askedText(display: Display): string {
  const { title, text } = displayText(display);
  if (display.kind === "terminal") return title;
  return display.kind === "diff" ? [title, ...(text === "" ? [] : [text])].join("\n") : text;
}

/** The line above the lines of a hunk. */
export const hunkHead = ({ oldStart, oldLines, newStart, newLines }: DiffHunk): string =>
  `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
