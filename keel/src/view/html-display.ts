/** What a tool shows of its work, as HTML. */
import { never } from "../kernel/never.ts";
import type { DiffHunk, Display } from "../protocol/tool.ts";
import { escapedPlainText, escapedText, type Html, prose, tag } from "./html-text.ts";
import { plainTerminal } from "./readable.ts";

export function display(shown: Display): Html[] {
  switch (shown.kind) {
    case "text":
      return [tag("pre", "", escapedText(shown.text))];
    case "markdown":
      return prose(shown.text);
    case "diff":
      return [tag("p", "notice", escapedText(shown.path)), tag("pre", "diff", ...shown.hunks.flatMap(hunk))];
    case "terminal": {
      const exit =
        shown.exitCode === null ? [] : [tag("p", "notice", escapedText(`Exit code ${shown.exitCode}`))];
      const command = tag("pre", "command", escapedText(`$ ${shown.command}`));
      return [command, tag("pre", "terminal", escapedPlainText(plainTerminal(shown.output))), ...exit];
    }
    case "files": {
      const more = shown.truncated ? [tag("li", "", escapedText("…"))] : [];
      return [tag("ul", "", ...shown.paths.map((path) => tag("li", "", escapedText(path))), ...more)];
    }
    case "todo":
      return [
        tag(
          "ul",
          "",
          ...shown.items.map(({ text, status }) => tag("li", "", escapedText(`${marks[status]} ${text}`))),
        ),
      ];
    case "agent":
      return [tag("p", "notice", escapedText(shown.name)), ...prose(shown.text)];
    default:
      return never(shown);
  }
}

const marks = { pending: "☐", in_progress: "◐", completed: "☑" } as const;

function hunk({ oldStart, oldLines, newStart, newLines, lines }: DiffHunk): Html[] {
  const head = escapedText(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@\n`);
  return [head, ...lines.map((line) => tag("span", classOf(line), escapedText(`${line}\n`)))];
}

function classOf(line: string): string {
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}
