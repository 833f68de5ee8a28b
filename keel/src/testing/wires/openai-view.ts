/** A body of the chat wire as a view. It comes from outside, so nothing about its shape is taken for granted. */
import { isObject } from "../../kernel/json.ts";
import type {
  BlockView,
  MessageView,
  RequestView,
  SourceView,
  SystemView,
  ToolView,
} from "../request-view.ts";

export function chatView(body: unknown): RequestView {
  const problems: string[] = [];
  const fields = isObject(body) ? body : {};
  if (!isObject(body)) problems.push("the body is not an object");
  const messages = listIn(fields["messages"], "messages", problems);
  problems.push(...limitProblems(fields), ...toolProblems(fields["tools"]), ...orderProblems(messages));
  return {
    model: textIn(fields["model"]),
    system: messages.flatMap(systemIn),
    tools: listIn(fields["tools"], "tools", problems).map(toolIn),
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
  const messages = Array.isArray(body["messages"]) ? body["messages"].filter(isObject) : [];
  const tools = Array.isArray(body["tools"]) ? body["tools"].filter(isObject) : [];
  if (tools.length > 0) return tools.some(({ type }) => type === "function");
  return (
    ["stream_options", "max_completion_tokens", "reasoning_effort"].some((field) => field in body) ||
    messages.some(({ role, tool_calls }) => tool_calls !== undefined || ownRoles.includes(textIn(role)))
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
    const fields = isObject(message) ? message : {};
    const role = textIn(fields["role"]);
    if (!roles.includes(role)) found.push(`${path}: there is no role ${JSON.stringify(role)}`);
    if (role === "tool") {
      const id = textIn(fields["tool_call_id"]);
      if (!open.includes(id))
        found.push(`${path}: ${id || "a result"} answers no call of the message before`);
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) found.push(`${path}: the calls ${open.join(", ")} have no result`);
    if (role === "system" && index > 0) found.push(`${path}: the system prompt must come first`);
    open = callsIn(fields).map(({ id }) => textIn(id));
    const long = open.filter((id) => id.length > maxIdCharacters);
    found.push(...long.map((id) => `${path}: the id ${id} is longer than ${maxIdCharacters} characters`));
  }
  if (open.length > 0) found.push(`messages: the calls ${open.join(", ")} have no result`);
  return found;
}

const callsIn = ({ tool_calls }: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(tool_calls) ? tool_calls.filter(isObject) : [];

function systemIn(message: unknown): SystemView[] {
  if (!isObject(message) || !["system", "developer"].includes(textIn(message["role"]))) return [];
  return [{ text: contentText(message["content"]), cache: undefined }];
}

function toolIn(tool: unknown): ToolView {
  const named = isObject(tool) && isObject(tool["function"]) ? tool["function"] : {};
  return {
    name: textIn(named["name"]),
    description: textIn(named["description"]),
    schema: named["parameters"],
    cache: undefined,
  };
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
        { role, blocks: [...partsIn(content, path, problems), ...callBlocks(message, path, problems)] },
      ];
    default:
      return [{ role: textIn(role), blocks: partsIn(content, path, problems) }];
  }
}

const failureMark = "Error: ";

function resultIn(message: Record<string, unknown>): BlockView {
  const text = contentText(message["content"]);
  const failed = text.startsWith(failureMark);
  const words = failed ? text.slice(failureMark.length) : text;
  return {
    type: "tool_result",
    id: textIn(message["tool_call_id"]),
    content: words === "" ? [] : [{ type: "text", text: words, cache: undefined }],
    failed,
    cache: undefined,
  };
}

function callBlocks(message: Record<string, unknown>, path: string, problems: string[]): BlockView[] {
  return callsIn(message).map((call) => {
    const named = isObject(call["function"]) ? call["function"] : {};
    const input = parsed(named["arguments"]);
    if (input === undefined)
      problems.push(`${path}: the arguments of ${textIn(call["id"])} are not JSON in a text`);
    return { type: "tool_use", id: textIn(call["id"]), name: textIn(named["name"]), input, cache: undefined };
  });
}

function partsIn(content: unknown, path: string, problems: string[]): BlockView[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return [{ type: "text", text: content, cache: undefined }];
  return listIn(content, `${path}.content`, problems).map((part) => {
    const fields = isObject(part) ? part : {};
    if (fields["type"] === "text") return { type: "text", text: textIn(fields["text"]), cache: undefined };
    if (fields["type"] === "image_url")
      return { type: "image", source: sourceIn(fields["image_url"]), cache: undefined };
    return { type: "other", name: textIn(fields["type"]), cache: undefined };
  });
}

function sourceIn(image: unknown): SourceView {
  const url = isObject(image) ? textIn(image["url"]) : "";
  const [, mediaType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined ? { kind: "reference" } : { kind: "base64", mediaType, data: data ?? "" };
}

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return textIn(content);
  return content.map((part) => (isObject(part) ? textIn(part["text"]) : "")).join("");
}

function forcedToolIn(choice: unknown): string | undefined {
  if (choice === "required") return "*";
  return isObject(choice) && isObject(choice["function"]) ? textIn(choice["function"]["name"]) : undefined;
}

function parsed(json: unknown): unknown {
  try {
    return typeof json === "string" ? JSON.parse(json) : undefined;
  } catch {
    // Said by the caller: the arguments are not JSON.
    return undefined;
  }
}

function listIn(value: unknown, path: string, problems: string[]): unknown[] {
  if (Array.isArray(value)) return value;
  if (value !== undefined) problems.push(`${path} is not a list`);
  return [];
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
