/** A body of the Gemini wire, as a view and as the prefix of a cache. It comes from outside, so nothing about its shape is taken for granted. */
import { asList, asObject, asText, isObject } from "../../kernel/json.ts";
import type { Section } from "../../protocol/boundary.ts";
import {
  type BlockView,
  type MessageView,
  type RequestView,
  readList,
  type ToolView,
} from "../request-view.ts";
import type { MarkedBlock } from "./wire.ts";

export function geminiView(body: unknown): RequestView {
  const problems: string[] = [];
  const fields = asObject(body);
  if (!isObject(body)) problems.push("the body is not an object");
  const contents = readList(fields["contents"], "contents", problems).map(asObject);
  const config = asObject(fields["generationConfig"]);
  problems.push(
    ...fieldProblems(fields),
    ...toolProblems(fields["tools"]),
    ...contentProblems(contents, fields),
  );
  return {
    model: asText(fields["model"]),
    system: partsOf(fields["systemInstruction"]).map((part) => ({ text: asText(part["text"]) })),
    tools: declarationsIn(fields["tools"]).map(toolIn),
    messages: messagesIn(contents, problems),
    maxTokens: config["maxOutputTokens"] ?? Number.MAX_SAFE_INTEGER,
    thinking: { kind: isObject(config["thinkingConfig"]) ? "adaptive" : "off" },
    forcedTool: forcedToolIn(fields["toolConfig"]),
    problems,
  };
}

/** Whether a body is one of this wire. */
export const isGeminiBody = (body: unknown): boolean => isObject(body) && "contents" in body;

const partsOf = (content: unknown): Record<string, unknown>[] =>
  asList(asObject(content)["parts"]).filter(isObject);

const declarationsIn = (tools: unknown): unknown[] =>
  asList(tools).flatMap((tool) => asList(asObject(tool)["functionDeclarations"]));

/** `model` and `stream` stand in the address, and are put beside the body by whoever reads it. */
const known = [
  "model",
  "stream",
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  "safetySettings",
];
const maxNameCharacters = 64;

const fieldProblems = (fields: Record<string, unknown>): string[] =>
  Object.keys(fields)
    .filter((field) => !known.includes(field))
    .map((field) => `${field}: there is no such field`);

function toolProblems(tools: unknown): string[] {
  return declarationsIn(tools).flatMap((declaration) => {
    const { name, parametersJsonSchema, parameters } = asObject(declaration);
    const isName = /^[a-zA-Z_][\w.:-]*$/.test(asText(name)) && asText(name).length <= maxNameCharacters;
    return [
      ...(isName ? [] : [`tools: the name ${JSON.stringify(name)} is not valid`]),
      ...(isObject(parametersJsonSchema ?? parameters) ? [] : [`tools: ${asText(name)} has no parameters`]),
    ];
  });
}

/** A turn that calls is followed by one response for each call, in which nothing stands before them. */
function contentProblems(
  contents: readonly Record<string, unknown>[],
  { model }: Record<string, unknown>,
): string[] {
  const found: string[] = [];
  let open: string[] = [];
  for (const [index, content] of contents.entries()) {
    const path = `contents.${index}`;
    const role = asText(content["role"]);
    const parts = partsOf(content);
    if (!["user", "model"].includes(role)) found.push(`${path}: there is no role ${JSON.stringify(role)}`);
    if (parts.length === 0) found.push(`${path}: it has no parts`);
    const answers = parts.filter((part) => isObject(part["functionResponse"]));
    const names = answers.map((part) => asText(asObject(part["functionResponse"])["name"]));
    if (JSON.stringify(names) !== JSON.stringify(open))
      found.push(
        `${path}: the responses (${names.join(", ")}) are not those of the calls (${open.join(", ")})`,
      );
    const calls = parts.filter((part) => isObject(part["functionCall"]));
    open = calls.map((part) => asText(asObject(part["functionCall"])["name"]));
    const isSigned = /^gemini-[3-9]/.test(asText(model));
    if (isSigned && calls[0] && asText(calls[0]["thoughtSignature"]) === "")
      found.push(`${path}: the function call is missing a thought_signature`);
  }
  if (open.length > 0) found.push(`contents: the calls ${open.join(", ")} have no response`);
  return found;
}

function toolIn(declaration: unknown): ToolView {
  const { name, description, parametersJsonSchema, parameters } = asObject(declaration);
  return { name: asText(name), description: asText(description), schema: parametersJsonSchema ?? parameters };
}

/** Calls need no ids on this wire: the responses of the next turn stand in their order. */
function messagesIn(contents: readonly Record<string, unknown>[], problems: string[]): MessageView[] {
  let calls = 0;
  let answers = 0;
  return contents.map((content, index) => {
    const isModel = content["role"] === "model";
    const blocks = partsOf(content).flatMap((part): BlockView[] => {
      if (isObject(part["functionCall"])) {
        calls += 1;
        const { name, args = {} } = part["functionCall"];
        const call: BlockView = { type: "tool_use", id: `call-${calls}`, name: asText(name), input: args };
        return [...proofIn(part), call];
      }
      if (isObject(part["functionResponse"])) {
        answers += 1;
        return [resultIn(part["functionResponse"], `call-${answers}`)];
      }
      return partIn(part, `contents.${index}`, problems);
    });
    return { role: isModel ? "assistant" : "user", blocks };
  });
}

const proofIn = (part: Record<string, unknown>): BlockView[] =>
  asText(part["thoughtSignature"]) === "" || part["thoughtSignature"] === "skip_thought_signature_validator"
    ? []
    : [{ type: "thinking", text: "", signed: true, hidden: false }];

function resultIn({ response }: Record<string, unknown>, id: string): BlockView {
  // What it is called is free.
  const { output, content, result, error } = asObject(response);
  const text = asText(error ?? output ?? content ?? result);
  return {
    type: "tool_result",
    id,
    content: text === "" ? [] : [{ type: "text", text }],
    failed: error !== undefined,
  };
}

function partIn(part: Record<string, unknown>, path: string, problems: string[]): BlockView[] {
  if (typeof part["text"] === "string")
    return [
      ...proofIn(part),
      ...(part["text"] === "" ? [] : [{ type: "text", text: part["text"] } as const]),
    ];
  if (isObject(part["inlineData"])) {
    const { mimeType, data } = part["inlineData"];
    const type = asText(mimeType).startsWith("image/") ? "image" : "document";
    return [{ type, source: { kind: "base64", mediaType: asText(mimeType), data: asText(data) } }];
  }
  problems.push(`${path}: there is no part with ${Object.keys(part).join(", ")}`);
  return [];
}

function forcedToolIn(config: unknown): string | undefined {
  const { mode, allowedFunctionNames } = asObject(asObject(config)["functionCallingConfig"]);
  return mode === "ANY" ? asText(asList(allowedFunctionNames)[0]) || "*" : undefined;
}

/** What the provider compares: its instruction, its tools, and then part after part. */
export function geminiPrefix(body: unknown): MarkedBlock[] {
  const fields = asObject(body);
  const { thinkingConfig } = asObject(fields["generationConfig"]);
  return [
    ...declarationsIn(fields["tools"]).map((tool) =>
      blockOf("tools", `tool ${toolIn(tool).name || "?"}`, tool),
    ),
    ...partsOf(fields["systemInstruction"]).map((part, index) =>
      blockOf("system", `system ${index + 1}`, part),
    ),
    blockOf("thinking", "thinking", { thinkingConfig, toolConfig: fields["toolConfig"] }),
    ...asList(fields["contents"]).flatMap((content) =>
      partsOf(content).map((part) =>
        blockOf("messages", `${asText(asObject(content)["role"])} ${Object.keys(part)[0] ?? "part"}`, part),
      ),
    ),
  ];
}

function blockOf(section: Section, name: string, part: unknown): MarkedBlock {
  const owner = section === "messages" ? `${name} ` : "";
  return { section, name, text: `${owner}${JSON.stringify(part)}`, mark: undefined };
}
