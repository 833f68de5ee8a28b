/** A body of the chat wire, as a view and as the prefix of a cache. It comes from outside, so nothing about its shape is taken for granted. */
import { asList, asObject, asText, isObject, parseJson } from "../../kernel/json.ts";
import type { Section } from "../../protocol/boundary.ts";
import {
  type BlockView,
  type MessageView,
  type RequestView,
  readList,
  type SourceView,
  type SystemView,
  type ToolView,
} from "../request-view.ts";
import type { MarkedBlock } from "./wire.ts";

export function chatView(body: unknown): RequestView {
  const problems: string[] = [];
  const fields = asObject(body);
  if (!isObject(body)) problems.push("the body is not an object");
  const messages = readList(fields["messages"], "messages", problems);
  problems.push(...limitProblems(fields), ...toolProblems(fields["tools"]), ...orderProblems(messages));
  return {
    model: asText(fields["model"]),
    system: messages.flatMap(systemIn),
    tools: readList(fields["tools"], "tools", problems).map(toolIn),
    messages: messages.flatMap((message, index) => messageIn(message, `messages.${index}`, problems)),
    // The limit may be left out.
    maxTokens: fields["max_completion_tokens"] ?? fields["max_tokens"] ?? Number.MAX_SAFE_INTEGER,
    thinking: { kind: "off" },
    forcedTool: forcedToolIn(fields["tool_choice"]),
    problems,
  };
}

/** Whether a body is one of this wire and not of the Messages wire; undecided is no. */
export function isChatBody(body: unknown): boolean {
  if (!isObject(body) || "system" in body) return false;
  const messages = asList(body["messages"]).filter(isObject);
  const tools = asList(body["tools"]).filter(isObject);
  if (tools.length > 0) return tools.some(({ type }) => type === "function");
  return (
    ["stream_options", "max_completion_tokens", "reasoning_effort"].some((field) => field in body) ||
    messages.some(({ role, tool_calls }) => tool_calls !== undefined || ownRoles.includes(asText(role)))
  );
}

const ownRoles = ["system", "developer", "tool"];
const roles = [...ownRoles, "user", "assistant"];
/** What the provider itself allows. */
const maxNameCharacters = 64;
const maxIdCharacters = 40;
const maxTools = 128;

function limitProblems(fields: Record<string, unknown>): string[] {
  const both = fields["max_tokens"] !== undefined && fields["max_completion_tokens"] !== undefined;
  const lonely = fields["stream_options"] !== undefined && fields["stream"] !== true;
  return [
    ...(both ? ["max_tokens: only one of the two limits may be given"] : []),
    ...(lonely ? ["stream_options: only a stream may have them"] : []),
  ];
}

function toolProblems(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  const long = tools.map(toolIn).filter(({ name }) => name.length > maxNameCharacters);
  return [
    ...(tools.length > maxTools ? [`tools: at most ${maxTools} are allowed, there are ${tools.length}`] : []),
    ...(tools.length === 0 ? ["tools: an empty list is not allowed"] : []),
    ...long.map(({ name }) => `tools: the name ${name} is longer than ${maxNameCharacters} characters`),
  ];
}

/** Results stand directly behind the message that asked for them, each for one of its calls, and none is missing. */
function orderProblems(messages: readonly unknown[]): string[] {
  const found: string[] = [];
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    const fields = asObject(message);
    const role = asText(fields["role"]);
    if (!roles.includes(role)) found.push(`${path}: there is no role ${JSON.stringify(role)}`);
    if (role === "tool") {
      const id = asText(fields["tool_call_id"]);
      if (!open.includes(id))
        found.push(`${path}: ${id || "a result"} answers no call of the message before`);
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) found.push(`${path}: the calls ${open.join(", ")} have no result`);
    if (role === "system" && index > 0) found.push(`${path}: the system prompt must come first`);
    open = callsIn(fields).map(({ id }) => asText(id));
    const long = open.filter((id) => id.length > maxIdCharacters);
    found.push(...long.map((id) => `${path}: the id ${id} is longer than ${maxIdCharacters} characters`));
  }
  if (open.length > 0) found.push(`messages: the calls ${open.join(", ")} have no result`);
  return found;
}

const callsIn = ({ tool_calls }: Record<string, unknown>): Record<string, unknown>[] =>
  asList(tool_calls).filter(isObject);

function systemIn(message: unknown): SystemView[] {
  if (!isObject(message) || !["system", "developer"].includes(asText(message["role"]))) return [];
  return [{ text: contentText(message["content"]) }];
}

function toolIn(tool: unknown): ToolView {
  const { name, description, parameters } = asObject(asObject(tool)["function"]);
  return { name: asText(name), description: asText(description), schema: parameters };
}

/** Results are what the user says; the system prompt is no message. */
function messageIn(message: unknown, path: string, problems: string[]): MessageView[] {
  if (!isObject(message)) {
    problems.push(`${path} is not an object`);
    return [];
  }
  const { role, content } = message;
  switch (role) {
    case "system":
    case "developer":
      return [];
    case "tool":
      return [{ role: "user", blocks: [resultIn(message)] }];
    case "assistant":
      return [
        {
          role,
          blocks: [
            ...partsIn(content, path, problems, callsIn(message).length > 0),
            ...callBlocks(message, path, problems),
          ],
        },
      ];
    default:
      return [{ role: asText(role), blocks: partsIn(content, path, problems) }];
  }
}

const failureMark = "Error: ";

function resultIn(message: Record<string, unknown>): BlockView {
  const text = contentText(message["content"]);
  const failed = text.startsWith(failureMark);
  const words = failed ? text.slice(failureMark.length) : text;
  const content: BlockView[] = words === "" ? [] : [{ type: "text", text: words }];
  return { type: "tool_result", id: asText(message["tool_call_id"]), content, failed };
}

function callBlocks(message: Record<string, unknown>, path: string, problems: string[]): BlockView[] {
  return callsIn(message).map((call) => {
    const { name, arguments: json } = asObject(call["function"]);
    const id = asText(call["id"]);
    const input = parseJson(asText(json));
    if (input === undefined) problems.push(`${path}: the arguments of ${id} are not JSON in a text`);
    return { type: "tool_use", id, name: asText(name), input };
  });
}

function partsIn(content: unknown, path: string, problems: string[], hasCalls = false): BlockView[] {
  if (content === undefined || content === null) return [];
  // Beside calls an empty text is nothing.
  if (content === "" && hasCalls) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return readList(content, `${path}.content`, problems).map((part) => {
    const { type, text, image_url } = asObject(part);
    if (type === "text") return { type: "text", text: asText(text) };
    if (type === "image_url") return { type: "image", source: sourceIn(image_url) };
    return { type: "other", name: asText(type) };
  });
}

function sourceIn(image: unknown): SourceView {
  const url = asText(asObject(image)["url"]);
  const [, mediaType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined ? { kind: "reference" } : { kind: "base64", mediaType, data: data ?? "" };
}

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(asObject(part)["text"])).join("");
}

function forcedToolIn(choice: unknown): string | undefined {
  if (choice === "required") return "*";
  return isObject(choice) && isObject(choice["function"]) ? asText(choice["function"]["name"]) : undefined;
}

/**
 * What a server of this wire compares, as blocks. Neighbouring texts of one role are sent as one, with a blank line
 * between them, so a text counts by its paragraphs: what is added to it extends it.
 */
export function chatPrefix(body: unknown): MarkedBlock[] {
  const fields = asObject(body);
  const { reasoning_effort, tool_choice, response_format } = fields;
  const messages = asList(fields["messages"]).filter(isObject);
  const isPrompt = ({ role }: Record<string, unknown>) => role === "system" || role === "developer";
  return [
    ...asList(fields["tools"]).map((tool) => blockOf("tools", `tool ${toolIn(tool).name || "?"}`, tool)),
    ...messages
      .filter(isPrompt)
      .flatMap(paragraphsOf)
      .map((words, index) => blockOf("system", `system ${index + 1}`, words)),
    blockOf("thinking", "thinking", { reasoning_effort, tool_choice, response_format }),
    ...messages.filter((message) => !isPrompt(message)).flatMap(messageBlocks),
  ];
}

/** Whose request it is: a server that routes by a key is given the session's id. */
export function chatSession(body: unknown): string | undefined {
  const { prompt_cache_key, user } = asObject(body);
  return asText(prompt_cache_key ?? user) || undefined;
}

function messageBlocks(message: Record<string, unknown>): MarkedBlock[] {
  const { role, tool_calls: calls } = message;
  if (role === "tool") return [blockOf("messages", "user tool_result", message)];
  return [
    ...paragraphsOf(message).map((part) =>
      blockOf("messages", `${String(role)} ${typeof part === "string" ? "text" : "part"}`, part),
    ),
    ...asList(calls).map((call) => blockOf("messages", `${String(role)} tool_use`, call)),
  ];
}

function paragraphsOf({ content }: Record<string, unknown>): unknown[] {
  if (typeof content === "string") return content.split("\n\n");
  return asList(content).flatMap((part): unknown[] =>
    isObject(part) && typeof part["text"] === "string" ? part["text"].split("\n\n") : [part],
  );
}

function blockOf(section: Section, name: string, part: unknown): MarkedBlock {
  const owner = section === "messages" ? `${name} ` : "";
  return { section, name, text: `${owner}${JSON.stringify(part)}`, mark: undefined };
}
