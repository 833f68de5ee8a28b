/** A body of the Responses wire, as a view and as the prefix of a cache. It comes from outside, so nothing about its shape is taken for granted. */
import { asList, asObject, asText, isObject, parseJson } from "../../kernel/json.ts";
import type { Section } from "../../protocol/boundary.ts";
import {
  type BlockView,
  type MessageView,
  type RequestView,
  readList,
  type SourceView,
  type ToolView,
} from "../request-view.ts";
import type { MarkedBlock } from "./wire.ts";

export function responsesView(body: unknown): RequestView {
  const problems: string[] = [];
  const fields = asObject(body);
  if (!isObject(body)) problems.push("the body is not an object");
  const instructions = asText(fields["instructions"]);
  const items = itemsIn(fields["input"], problems);
  problems.push(...fieldProblems(fields), ...toolProblems(fields["tools"]), ...itemProblems(items));
  return {
    model: asText(fields["model"]),
    system: [...(instructions === "" ? [] : [{ text: instructions }]), ...items.flatMap(promptIn)],
    tools: readList(fields["tools"], "tools", problems).map(toolIn),
    messages: items.flatMap((item, index) =>
      isPrompt(item) ? [] : [messageIn(item, `input.${index}`, problems)],
    ),
    maxTokens: fields["max_output_tokens"] ?? Number.MAX_SAFE_INTEGER,
    thinking: { kind: isObject(fields["reasoning"]) ? "adaptive" : "off" },
    forcedTool: forcedToolIn(fields["tool_choice"]),
    problems,
  };
}

/** Whether a body is one of this wire. */
export const isResponsesBody = (body: unknown): boolean =>
  isObject(body) && "input" in body && !("messages" in body);

/** A text stands for one message of the user. */
function itemsIn(input: unknown, problems: string[]): Record<string, unknown>[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return readList(input, "input", problems).map(asObject);
}

/** The prompt may also stand among the items. */
const isPrompt = ({ role }: Record<string, unknown>): boolean => role === "system" || role === "developer";

const promptIn = (item: Record<string, unknown>): { text: string }[] =>
  isPrompt(item)
    ? [
        {
          text: partsIn(item["content"], "system", [])
            .map((part) => (part.type === "text" ? part.text : ""))
            .join(""),
        },
      ]
    : [];

/** What the provider itself allows. */
const maxNameCharacters = 64;
const maxIdCharacters = 64;
const known = [
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "stream",
  "store",
  "include",
  "reasoning",
  "max_output_tokens",
  "prompt_cache_key",
  "parallel_tool_calls",
  "text",
  "temperature",
  "top_p",
  "metadata",
  "service_tier",
  "truncation",
];

function fieldProblems(fields: Record<string, unknown>): string[] {
  const limit = fields["max_output_tokens"];
  return [
    ...Object.keys(fields)
      .filter((field) => !known.includes(field))
      .map((field) => `${field}: there is no such field`),
    ...(typeof limit === "number" && limit < 16 ? ["max_output_tokens: at least 16"] : []),
  ];
}

function toolProblems(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => {
    const { type, name, parameters } = asObject(tool);
    if (type !== "function") return [];
    return [
      ...(asText(name) === "" ? ["tools: a function without a name"] : []),
      ...(asText(name).length > maxNameCharacters ? [`tools: the name ${asText(name)} is too long`] : []),
      ...(isObject(parameters) ? [] : [`tools: ${asText(name)} has no parameters`]),
    ];
  });
}

/** Each result answers a call that came before it, each call has one, and a thought is followed by what came of it. */
function itemProblems(items: readonly Record<string, unknown>[]): string[] {
  const found: string[] = [];
  const open = new Set<string>();
  for (const [index, item] of items.entries()) {
    const path = `input.${index}`;
    const type = asText(item["type"]) || "message";
    const id = asText(item["call_id"]);
    if (!itemTypes.includes(type)) found.push(`${path}: there is no item ${JSON.stringify(type)}`);
    if (type === "function_call" || type === "function_call_output") {
      if (id === "" || id.length > maxIdCharacters) found.push(`${path}: the id ${id} is not valid`);
    }
    if (type === "function_call") open.add(id);
    if (type === "function_call_output" && !open.delete(id))
      found.push(`${path}: ${id || "a result"} answers no call`);
    if (type === "message" && asText(item["role"]) === "user" && open.size > 0)
      found.push(`${path}: the calls ${[...open].join(", ")} have no result`);
    const next = asText(items[index + 1]?.["type"]);
    if (type === "reasoning" && !["reasoning", "message", "function_call"].includes(next))
      found.push(`${path}: the reasoning is without its required following item`);
    if (type === "reasoning" && (asText(item["id"]) === "" || !Array.isArray(item["summary"])))
      found.push(`${path}: a reasoning item needs its id and its summary`);
  }
  if (open.size > 0) found.push(`input: the calls ${[...open].join(", ")} have no result`);
  return found;
}

const itemTypes = ["message", "reasoning", "function_call", "function_call_output"];

function toolIn(tool: unknown): ToolView {
  const { name, description, parameters } = asObject(tool);
  return { name: asText(name), description: asText(description), schema: parameters };
}

function messageIn(item: Record<string, unknown>, path: string, problems: string[]): MessageView {
  switch (item["type"]) {
    case "function_call": {
      const input = parseJson(asText(item["arguments"]));
      if (input === undefined) problems.push(`${path}: the arguments are not JSON in a text`);
      const [id, name] = [asText(item["call_id"]), asText(item["name"])];
      return { role: "assistant", blocks: [{ type: "tool_use", id, name, input }] };
    }
    case "function_call_output":
      return { role: "user", blocks: [resultIn(item, path, problems)] };
    case "reasoning": {
      const text = asList(item["summary"])
        .map((part) => asText(asObject(part)["text"]))
        .join("\n\n");
      const signed = typeof item["encrypted_content"] === "string";
      return { role: "assistant", blocks: [{ type: "thinking", text, signed, hidden: false }] };
    }
    default:
      return { role: asText(item["role"]), blocks: partsIn(item["content"], path, problems) };
  }
}

const failureMark = "Error: ";

function resultIn({ call_id, output }: Record<string, unknown>, path: string, problems: string[]): BlockView {
  const parts = partsIn(output, path, problems);
  const [first] = parts;
  const failed = first?.type === "text" && first.text.startsWith(failureMark);
  const content = parts.map(
    (part, index): BlockView =>
      failed && index === 0 && part.type === "text"
        ? { ...part, text: part.text.slice(failureMark.length) }
        : part,
  );
  return { type: "tool_result", id: asText(call_id), content, failed };
}

function partsIn(content: unknown, path: string, problems: string[]): BlockView[] {
  if (content === undefined || content === null || content === "") return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return readList(content, `${path}.content`, problems).map((part) => {
    const { type, text, image_url, file_data } = asObject(part);
    if (type === "input_text" || type === "output_text") return { type: "text", text: asText(text) };
    if (type === "input_image") return { type: "image", source: sourceIn(asText(image_url)) };
    if (type === "input_file") return { type: "document", source: sourceIn(asText(file_data)) };
    problems.push(`${path}: there is no part ${JSON.stringify(type)}`);
    return { type: "other", name: asText(type) };
  });
}

export function sourceIn(url: string): SourceView {
  const [, mediaType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined ? { kind: "reference" } : { kind: "base64", mediaType, data: data ?? "" };
}

function forcedToolIn(choice: unknown): string | undefined {
  if (choice === "required") return "*";
  return isObject(choice) && choice["type"] === "function" ? asText(choice["name"]) : undefined;
}

/** What the provider compares: its instructions, its tools, and then item after item. */
export function responsesPrefix(body: unknown): MarkedBlock[] {
  const fields = asObject(body);
  const { reasoning, tool_choice, text, instructions } = fields;
  return [
    ...asList(fields["tools"]).map((tool) => blockOf("tools", `tool ${toolIn(tool).name || "?"}`, tool)),
    ...(asText(instructions) === "" ? [] : [blockOf("system", "system 1", instructions)]),
    blockOf("thinking", "thinking", { reasoning, tool_choice, text }),
    ...itemsIn(fields["input"], []).map((item) =>
      blockOf("messages", `${asText(item["role"])} ${asText(item["type"])}`.trim(), item),
    ),
  ];
}

/** Whose request it is: a provider that routes by a key is given the session's id. */
export const responsesSession = (body: unknown): string | undefined =>
  asText(asObject(body)["prompt_cache_key"]) || undefined;

function blockOf(section: Section, name: string, part: unknown): MarkedBlock {
  return {
    section,
    name,
    text: `${section === "messages" ? `${name} ` : ""}${JSON.stringify(part)}`,
    mark: undefined,
  };
}
