/** What a tool shows of its work, as HTML. */

import { never } from "../kernel/never.ts";
import { plainTerminal } from "../kernel/text.ts";
import type { DiffHunk, Display } from "../protocol/tool.ts";
import { displayText, hunkHead } from "./display-text.ts";
import { escapedPlainText, escapedText, type Html, prose, tag } from "./html-text.ts";

export function display(shown: Display): Html[] {
  const { title, text, end } = displayText(shown);
  const below = end === "" ? [] : [escapedText(end)];
  switch (shown.kind) {
    case "text":
      return [tag("pre", "", escapedText(text))];
    case "markdown":
      return prose(text);
    case "diff":
      return [tag("p", "notice", escapedText(title)), tag("pre", "diff", ...shown.hunks.flatMap(hunk))];
    case "terminal":
      return [
        tag("pre", "command", escapedText(`$ ${title}`)),
        tag("pre", "terminal", escapedPlainText(plainTerminal(text))),
        ...below.map((exit) => tag("p", "notice", exit)),
      ];
    case "files":
      return [
        tag("ul", "", ...[...shown.paths.map(escapedText), ...below].map((path) => tag("li", "", path))),
      ];
    case "todo":
      return [
        tag(
          "ul",
          "",
          ...shown.items.map((item) => tag("li", "", escapedText(`${marks[item.status]} ${item.text}`))),
        ),
      ];
    case "agent":
      return [tag("p", "notice", escapedText(title)), ...prose(text)];
    default:
      return never(shown);
  }
}

const marks = { pending: "☐", in_progress: "◐", completed: "☑" } as const;

function hunk(shown: DiffHunk): Html[] {
  return [
    escapedText(`${hunkHead(shown)}\n`),
    ...shown.lines.map((line) => tag("span", classOf(line), escapedText(`${line}\n`))),
  ];
}

function classOf(line: string): string {
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}
