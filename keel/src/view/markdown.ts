/** A session as one Markdown page. Nothing on it loads anything or runs, in whatever viewer it is opened. */

import { never } from "../kernel/result.ts";
import { plainTerminal, readable } from "../kernel/text.ts";
import type { Display } from "../protocol/tool.ts";
import { displayText, hunkHead } from "./display-text.ts";
import type { SessionDocument } from "./document.ts";
import { codeSpan, fenced, inertLine, inertMarkdown } from "./inert-markdown.ts";
import type { ConversationRow, ToolRow } from "./rows.ts";
import {
  sayAnswer,
  sayAttachments,
  sayCompaction,
  sayFacts,
  sayOutcome,
  saySender,
  sayTurnEnd,
} from "./say-row.ts";
import { textOfParts } from "./shown.ts";

export function toMarkdown(document: SessionDocument): string {
  const title = document.title ?? "Session";
  const facts = sayFacts(document).map(([name, value]) => `- ${name}: ${code(value)}`);
  const sections = document.rows.map(sectionOf);
  return `${[`# ${line(title)}`, facts.join("\n"), ...sections].join("\n\n")}\n`;
}

function sectionOf(row: ConversationRow): string {
  switch (row.kind) {
    case "user": {
      const attached = sayAttachments(row.content).map((words) => `- ${code(words)}`);
      const dropped = row.reason === undefined ? [] : [`> ${line(row.reason)}`];
      return section(`## ${line(saySender(row))}`, [
        prose(textOfParts(row.content)),
        ...attached,
        ...dropped,
      ]);
    }
    case "text":
      return section("## Assistant", [prose(row.text)]);
    case "thinking":
      return section("## Thinking", [row.hidden ? "(not shown by the provider)" : quoted(row.text)]);
    case "tool":
      return toolSection(row);
    case "notice":
      return `> ${row.level === "warning" ? "Warning: " : ""}${quotedLines(row.text)}`;
    case "ask":
      return `> ${line(row.ask.title)} ${line(sayAnswer(row))}`;
    case "compaction":
      return section(`---\n\n${sayCompaction(row)}`, [quoted(row.summary)]);
    case "turn-end":
      return `*${line(sayTurnEnd(row))}*\n\n---`;
    default:
      return never(row);
  }
}

function toolSection(row: ToolRow): string {
  const shown = row.display === null ? undefined : displayed(row.display);
  const input = row.inputText ?? JSON.stringify(row.input, null, 2);
  const attached = sayAttachments(row.result).map((words) => `- ${code(words)}`);
  const spilled = row.spilledTo === undefined ? [] : [`The whole output is in ${code(row.spilledTo)}.`];
  return section(`### ${line(row.tool)}: ${line(sayOutcome(row))}`, [
    fenced(readable(input), "json"),
    ...(shown === undefined ? [] : [shown]),
    ...attached,
    ...spilled,
  ]);
}

function displayed(display: Display): string {
  const { title, text, end } = displayText(display);
  switch (display.kind) {
    case "text":
      return fenced(readable(text));
    case "markdown":
      return prose(text);
    case "diff": {
      const lines = display.hunks.flatMap((hunk) => [hunkHead(hunk), ...hunk.lines]);
      return `${code(title)}\n\n${fenced(readable(lines.join("\n")), "diff")}`;
    }
    case "terminal": {
      const shown = fenced(`$ ${readable(title)}\n${plainTerminal(text)}`, "console");
      return end === "" ? shown : `${shown}\n\n${end}`;
    }
    case "files":
      return [...display.paths.map((path) => `- ${code(path)}`), ...(end === "" ? [] : [`- ${end}`])].join(
        "\n",
      );
    case "todo":
      return display.items
        .map((item) => `- [${item.status === "completed" ? "x" : " "}] ${line(item.text)}`)
        .join("\n");
    case "agent":
      return `${line(title)}:\n\n${prose(text)}`;
    case "table": {
      const row = (cells: readonly string[]): string =>
        `| ${display.columns.map((_, index) => line(cells[index] ?? "").replaceAll("|", "\\|")).join(" | ")} |`;
      return [row(display.columns), row(display.columns.map(() => "---")), ...display.rows.map(row)].join(
        "\n",
      );
    }
    default:
      return never(display);
  }
}

const section = (heading: string, parts: readonly string[]): string =>
  [heading, ...parts.filter((part) => part !== "")].join("\n\n");

const prose = (text: string): string => inertMarkdown(readable(text));
const quotedLines = (text: string): string => prose(text).replaceAll("\n", "\n> ");
const quoted = (text: string): string => `> ${quotedLines(text)}`;
const code = (text: string): string => codeSpan(readable(text));

/** One line of plain words. */
const line = (text: string): string => inertLine(readable(text).replace(/\s+/g, " ").trim());
