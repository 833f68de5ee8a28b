/** A call of a tool as editors show it: what kind it is, what it is about, where, and what came of it. Pure. */
import path from "node:path";
import type { Content, ContentBlock, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { asObject, type Json } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import type { ResultPart } from "../../protocol/message.ts";
import type { Display, Todo, ToolFamily } from "../../protocol/tool.ts";
import { familyOf } from "../../protocol/tool-families.ts";
import { callLine } from "../../view/call-line.ts";
import { linesOf } from "./diffs.ts";

export type Call = { readonly tool: string; readonly input: Json };

const kindsByName: Readonly<Record<string, ToolKind>> = {
  Glob: "search",
  Grep: "search",
  ToolSearch: "search",
  EnterPlanMode: "switch_mode",
  ExitPlanMode: "switch_mode",
  TodoWrite: "think",
  TaskCreate: "think",
  TaskUpdate: "think",
};

const kindsByFamily: Readonly<Record<ToolFamily, ToolKind>> = {
  reads: "read",
  edits: "edit",
  shell: "execute",
  web: "fetch",
  agents: "think",
  person: "other",
};

export function kindOf(tool: string): ToolKind {
  const family = familyOf(tool);
  return kindsByName[tool] ?? (family ? kindsByFamily[family] : "other");
}

/** Signs that would not be seen are written out: whoever reads it decides by it. */
export function titleOf({ tool, input }: Call, cwd: string): string {
  const { about } = callLine(
    { ...noRow, callId: "", tool, input, status: "requested", display: null, result: [], ms: null },
    cwd,
  );
  if (about === "") return visible(tool);
  return visible(familyOf(tool) === "shell" ? about : `${tool} ${about}`).replaceAll("\n", " ");
}

const noRow = { kind: "tool", id: "", at: 0, requestId: "", live: false } as const;

/** The file that a call is about, by the names that tools have for it. */
export function locationsOf({ input }: Call, cwd: string): ToolCallLocation[] {
  const given = asObject(input);
  const named = [given["file_path"], given["notebook_path"], given["path"]].find(
    (value): value is string => typeof value === "string" && value !== "",
  );
  if (named === undefined) return [];
  const { offset } = given;
  return [
    {
      path: path.resolve(cwd, named),
      ...(typeof offset === "number" && Number.isInteger(offset) && offset > 0 ? { line: offset } : {}),
    },
  ];
}

/** What an editor is told of a call when it is asked for. */
export const callFields = (call: Call, cwd: string) => ({
  title: titleOf(call, cwd),
  name: call.tool,
  kind: kindOf(call.tool),
  locations: locationsOf(call, cwd),
  rawInput: call.input,
});
export type CallFields = ReturnType<typeof callFields>;

export type ShownContent = Content & { readonly type: "content" };

export const textContent = (text: string): ShownContent => ({
  type: "content",
  content: { type: "text", text },
});

/** What no version has words of its own for: anything but changes of files. */
export function contentOf(display: Exclude<Display, { kind: "diff" }>): ShownContent[] {
  switch (display.kind) {
    case "text":
    case "markdown":
    case "agent":
      return display.text.trim() === "" ? [] : [textContent(display.text)];
    case "terminal": {
      const { command, output, exitCode } = display;
      const end = exitCode === null || exitCode === 0 ? "" : `\n(exit code ${exitCode})`;
      return [textContent(fenced(`$ ${command}\n${output}${end}`, "console"))];
    }
    case "files":
      return display.paths.length === 0
        ? []
        : [textContent([...display.paths, ...(display.truncated ? ["…"] : [])].join("\n"))];
    case "table":
      return [textContent(tableOf(display))];
    // The list of what is to be done has an update of its own.
    case "todo":
      return [];
  }
}

const tableOf = ({ columns, rows }: Extract<Display, { kind: "table" }>): string =>
  [columns, columns.map(() => "---"), ...rows]
    .map((cells) => `| ${columns.map((_, index) => cellOf(cells[index] ?? "")).join(" | ")} |`)
    .join("\n");

const cellOf = (text: string): string => text.replace(/\s+/g, " ").replaceAll("|", "\\|");

export const imagesOf = (result: readonly ResultPart[]): ShownContent[] =>
  result.flatMap((part) => (part.type === "image" ? [{ type: "content", content: imageOf(part) }] : []));

const imageOf = ({ mediaType, data }: Extract<ResultPart, { type: "image" }>): ContentBlock => ({
  type: "image",
  mimeType: mediaType,
  data,
});

/** In a fence that nothing in the text ends. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

export const planEntry = ({ text, status }: Todo) => ({ content: text, status, priority: "medium" }) as const;

/** Where an end leaves lines to look at, they are told with it. */
export const placesOf = (display: Display): { locations?: ToolCallLocation[] } =>
  display.kind === "diff" ? { locations: linesOf(display) } : {};
