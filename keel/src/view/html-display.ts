/** What a tool shows of its work, as HTML. */
import { never } from "../kernel/never.ts";
import type { DiffHunk, Display } from "../protocol/tool.ts";
import { displayText, hunkHead } from "./display-text.ts";
import { type Html, plainWords, prose, tag, words } from "./html-text.ts";
import { plainTerminal } from "./readable.ts";

export function display(shown: Display): Html[] {
  const { title, text, end } = displayText(shown);
  const below = end === "" ? [] : [words(end)];
  switch (shown.kind) {
    case "text":
      return [tag("pre", "", words(text))];
    case "markdown":
      return prose(text);
    case "diff":
      return [tag("p", "notice", words(title)), tag("pre", "diff", ...shown.hunks.flatMap(hunk))];
    case "terminal":
      return [
        tag("pre", "command", words(`$ ${title}`)),
        tag("pre", "terminal", plainWords(plainTerminal(text))),
        ...below.map((exit) => tag("p", "notice", exit)),
      ];
    case "files":
      return [tag("ul", "", ...[...shown.paths.map(words), ...below].map((path) => tag("li", "", path)))];
    case "todo":
      return [
        tag(
          "ul",
          "",
          ...shown.items.map((item) => tag("li", "", words(`${marks[item.status]} ${item.text}`))),
        ),
      ];
    case "agent":
      return [tag("p", "notice", words(title)), ...prose(text)];
    default:
      return never(shown);
  }
}

const marks = { pending: "☐", in_progress: "◐", completed: "☑" } as const;

function hunk(shown: DiffHunk): Html[] {
  return [
    words(`${hunkHead(shown)}\n`),
    ...shown.lines.map((line) => tag("span", classOf(line), words(`${line}\n`))),
  ];
}

function classOf(line: string): string {
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}
