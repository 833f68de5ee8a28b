/** A call in one line: its tool, what it is about and what came of it. By its data alone: no screen knows a tool. */
import { isObject } from "../kernel/json.ts";
import { shorten } from "../kernel/text.ts";
import type { Display } from "../protocol/tool.ts";
import type { ToolRow } from "./rows.ts";
import { sayCount } from "./say.ts";
import { textOfParts } from "./shown.ts";

export type CallLine = {
  readonly tool: string;
  /** A path, a command, a pattern. Empty where the input says nothing short. */
  readonly about: string;
  /** `120 lines`, `14 files`, `exit code 1`. Empty where there is nothing to say yet. */
  readonly end: string;
  /** Lines of files, where it changed any. */
  readonly added: number;
  readonly removed: number;
};

const maxAbout = 300;

/** The names by which tools, ours and those of servers, call the one thing that a call is about; the first counts. */
const telling = [
  "command",
  "file_path",
  "notebook_path",
  "pattern",
  "query",
  "url",
  "path",
  "description",
  "skill",
  "name",
  "question",
  "prompt",
  "task_id",
  "id",
];

/** Paths below `cwd` are told from there. */
export function callLine(row: ToolRow, cwd = ""): CallLine {
  const { tool, display } = row;
  const about = (display && aboutDisplay(display)) || aboutInput(row);
  const [added, removed] = [row.linesAdded ?? 0, row.linesRemoved ?? 0];
  return {
    tool,
    about: shorten(firstLine(fromFolder(about, cwd)), maxAbout),
    end: endOf(row),
    added,
    removed,
  };
}

function aboutDisplay(display: Display): string {
  if (display.kind === "terminal") return display.command;
  return display.kind === "diff" ? display.path : display.kind === "agent" ? display.name : "";
}

function aboutInput({ input, inputText }: ToolRow): string {
  if (inputText !== undefined && inputText !== "") return aboutUnfinished(inputText);
  if (!isObject(input)) return typeof input === "string" ? input : "";
  const texts = new Map(
    Object.entries(input).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
  const name = telling.find((known) => texts.get(known)) ?? texts.keys().next().value;
  return (name !== undefined && texts.get(name)) || "";
}

/** While its arguments are written: the first telling one, as far as it has come. */
function aboutUnfinished(text: string): string {
  for (const name of telling) {
    const [, found = ""] = new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(text) ?? [];
    if (found !== "") return found.replace(/\\(["\\/])/g, "$1").replace(/\\[nrt]/g, " ");
  }
  return "";
}

const fromFolder = (text: string, cwd: string): string =>
  cwd !== "" && text.startsWith(`${cwd}/`) ? text.slice(cwd.length + 1) : text;

function firstLine(text: string): string {
  const [first = "", ...more] = text.trim().split("\n");
  return more.length === 0 ? first : `${first} …`;
}

function endOf({ status, display, denied, result }: ToolRow): string {
  switch (status) {
    case "writing":
    case "requested":
    case "running":
      return "";
    case "asking":
      return "asks";
    case "denied":
      return denied ? `denied by ${deniers[denied.by]}` : "denied";
    case "interrupted":
      return "interrupted";
    case "not-run":
      return "not run";
    case "failed":
    case "done":
      return (display && endOfDisplay(display)) || (status === "failed" ? "failed" : countLines(result));
  }
}

const deniers = {
  rule: "a rule",
  mode: "the mode",
  hook: "a hook",
  host: "you",
  "no-host": "nobody to ask",
  timeout: "a timeout",
  shutdown: "the shutdown",
  interrupt: "the interrupt",
} as const;

function endOfDisplay(display: Display): string {
  switch (display.kind) {
    case "terminal":
      return display.exitCode === null || display.exitCode === 0 ? "" : `exit code ${display.exitCode}`;
    case "files": {
      const count = display.paths.length;
      return `${sayCount(count)}${display.truncated ? "+" : ""} ${count === 1 ? "file" : "files"}`;
    }
    case "todo": {
      const done = display.items.filter(({ status }) => status === "completed").length;
      return `${done} of ${display.items.length} done`;
    }
    case "table":
      return `${sayCount(display.rows.length)} ${display.rows.length === 1 ? "row" : "rows"}`;
    case "text":
    case "markdown":
    case "diff":
    case "agent":
      return "";
  }
}

function countLines(result: ToolRow["result"]): string {
  const text = textOfParts(result).trimEnd();
  if (text === "") return "";
  const lines = text.split("\n").length;
  return lines === 1 ? "" : `${sayCount(lines)} lines`;
}
