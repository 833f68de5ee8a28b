/** A session as one Markdown page. Nothing on it loads anything or runs, in whatever viewer it is opened. */
import { never } from "../kernel/never.ts";
import type { Display } from "../protocol/tool.ts";
import type { SessionDocument } from "./document.ts";
import { codeSpan, fenced, inertLine, inertMarkdown } from "./inert-markdown.ts";
import { plainTerminal, readable } from "./readable.ts";
import type { ConversationRow, ToolRow } from "./rows.ts";
import {
  sayAnswer,
  sayAttachments,
  sayCompaction,
  sayFacts,
  sayOutcome,
  saySender,
  sayTurnEnd,
  textOfParts,
} from "./say-row.ts";

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
  switch (display.kind) {
    case "text":
      return fenced(readable(display.text));
    case "markdown":
      return prose(display.text);
    case "diff": {
      const hunks = display.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
        [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join("\n"),
      );
      return `${code(display.path)}\n\n${fenced(readable(hunks.join("\n")), "diff")}`;
    }
    case "terminal": {
      const exit = display.exitCode === null ? "" : `\n\nExit code ${display.exitCode}`;
      return fenced(`$ ${readable(display.command)}\n${plainTerminal(display.output)}`, "console") + exit;
    }
    case "files": {
      const more = display.truncated ? ["- …"] : [];
      return [...display.paths.map((path) => `- ${code(path)}`), ...more].join("\n");
    }
    case "todo":
      return display.items
        .map(({ text, status }) => `- [${status === "completed" ? "x" : " "}] ${line(text)}`)
        .join("\n");
    case "agent":
      return `${line(display.name)}:\n\n${prose(display.text)}`;
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
