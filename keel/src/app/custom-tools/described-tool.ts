/** A tool as its file describes it becomes one that the engine can call; each call is a process of its own. */
import { reasonOf, toFault } from "../../kernel/fault.ts";
import { isJson, isObject, type JsonObject } from "../../kernel/json.ts";
import { failed, ok } from "../../kernel/result.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { plainText, shorten } from "../../kernel/text.ts";
import { wireName } from "../../mcp/names.ts";
import { outcomeOf } from "../../mcp/results.ts";
import { text } from "../../protocol/message.ts";
import { type Display, displaySchema } from "../../protocol/tool.ts";
import { jsonChecker } from "../compose/check-json.ts";
import { type OwnTool, ownTool } from "../compose/own-tools.ts";
import { callTool, type DescribedTool, type ToolPrograms } from "./tool-program.ts";

/** What a call may take that does not say it itself, and the most that it may say. */
export const usualCallMs = 60_000;
const maxCallMs = 60 * 60_000;
const maxDescription = 4_000;
/** What is shown stands in the log: a table of some thousand rows, and no film. */
const maxDisplayCharacters = 200_000;

/** What a result wants to be shown as; words where it is no display. */
export function displayIn(result: unknown): { readonly display?: Display; readonly problem?: string } {
  if (!isObject(result) || result["display"] === undefined) return {};
  const parsed = parseWith(displaySchema, result["display"]);
  if (!parsed.ok) return { problem: `(Its display was left out: ${sayIssues(parsed.error)})` };
  if (parsed.value.kind === "agent") return { problem: "(Its display was left out: it is no agent.)" };
  if (JSON.stringify(parsed.value).length > maxDisplayCharacters)
    return { problem: `(Its display was left out: it has more than ${maxDisplayCharacters} characters.)` };
  return { display: parsed.value };
}

/** A sentence for what is no tool. */
export function describedTool(
  described: DescribedTool,
  { file, programs, server, from }: { file: string; programs: ToolPrograms; server: string; from: string },
): OwnTool | string {
  const { name, description, inputSchema = { type: "object" }, timeoutMs, readOnly, run } = described;
  if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name))
    return `${JSON.stringify(name) ?? "nothing"} is no name of a tool: letters, digits, _ and -, at most 64.`;
  if (typeof description !== "string" || description.trim() === "")
    return `the tool ${name} has no description.`;
  if (run !== "function") return `the tool ${name} has no function \`run\`.`;
  if (!isJson(inputSchema) || !isObject(inputSchema) || inputSchema["type"] !== "object")
    return `the \`inputSchema\` of ${name} is no JSON Schema of an object.`;
  let check: ReturnType<typeof jsonChecker>;
  try {
    check = jsonChecker(inputSchema as JsonObject);
  } catch (thrown) {
    return `the \`inputSchema\` of ${name} is not valid: ${reasonOf(thrown)}`;
  }
  const limitMs =
    typeof timeoutMs === "number" && timeoutMs > 0 ? Math.min(timeoutMs, maxCallMs) : usualCallMs;
  return ownTool({
    name: wireName(server, name),
    description: `${shorten(plainText(description), maxDescription)}\n(${from})`,
    json: inputSchema as JsonObject,
    parse(input) {
      const issues = check(input);
      return issues.length === 0 ? ok(input) : failed(issues);
    },
    readOnly: readOnly === true,
    timeoutMs: limitMs,
    async run(input, { signal }) {
      try {
        const result = await callTool({ file, tool: name, input }, programs, signal);
        const shown = displayIn(result);
        const { content, data, failed: isFailed = false } = outcomeOf(asResult(result));
        const note = shown.problem === undefined ? [] : [text(shown.problem)];
        return { content: [...content, ...note], data, failed: isFailed, display: shown.display };
      } catch (thrown) {
        return { content: [text(plainText(toFault(thrown).message))], failed: true };
      }
    },
  });
}

/** Words as they are, parts as MCP has them, and anything else as JSON. */
function asResult(result: unknown): Parameters<typeof outcomeOf>[0] {
  if (isObject(result) && Array.isArray(result["content"])) return result as Parameters<typeof outcomeOf>[0];
  const said = isObject(result) && "display" in result ? result["text"] : result;
  const words = typeof said === "string" ? said : JSON.stringify(said ?? null);
  return { content: [{ type: "text", text: words }] };
}
