/** A body of the Messages wire, as a view and as the prefix of a cache. It comes from outside, so nothing about its shape is taken for granted. */
import { asList, asObject, asText, isObject } from "../../kernel/json.ts";
import type { Section } from "../../protocol/boundary.ts";
import type { ThinkingMode } from "../../protocol/settings.ts";
import {
  type BlockView,
  type CacheMark,
  type MessageView,
  type RequestView,
  readList,
  type SourceView,
  type SystemView,
  type ToolView,
} from "../request-view.ts";
import type { MarkedBlock } from "./wire.ts";

export function messagesView(body: unknown): RequestView {
  const problems: string[] = [];
  const fields = asObject(body);
  if (!isObject(body)) problems.push("the body is not an object");
  return {
    model: asText(fields["model"]),
    system: systemIn(fields["system"], problems),
    tools: readList(fields["tools"], "tools", problems).map(toolIn),
    messages: readList(fields["messages"], "messages", problems).map((message, index) =>
      messageIn(message, `messages.${index}`, problems),
    ),
    maxTokens: fields["max_tokens"],
    thinking: thinkingIn(fields["thinking"]),
    forcedTool: forcedToolIn(fields["tool_choice"]),
    problems,
  };
}

function systemIn(system: unknown, problems: string[]): SystemView[] {
  // An empty text stands for no system prompt; an empty block is refused, so only the first is passed over.
  if (system === undefined || system === "") return [];
  if (typeof system === "string") return [{ text: system }];
  return readList(system, "system", problems)
    .filter(isObject)
    .map((block) => ({ text: asText(block["text"]), cache: cacheIn(block) }));
}

function toolIn(tool: unknown): ToolView {
  const fields = asObject(tool);
  // A tool of the provider has a type of its own and no schema.
  const isProvided = typeof fields["type"] === "string" && fields["type"] !== "custom";
  return {
    name: asText(fields["name"]),
    description: asText(fields["description"]),
    schema: isProvided ? { type: "object" } : fields["input_schema"],
    cache: cacheIn(fields),
  };
}

function messageIn(message: unknown, path: string, problems: string[]): MessageView {
  if (!isObject(message)) {
    problems.push(`${path} is not an object`);
    return { role: "user", blocks: [] };
  }
  const { role, content } = message;
  return { role: asText(role), blocks: contentIn(content, `${path}.content`, problems) };
}

function contentIn(content: unknown, path: string, problems: string[]): BlockView[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return readList(content, path, problems).flatMap((block, index) =>
    blockIn(block, `${path}.${index}`, problems),
  );
}

function blockIn(block: unknown, path: string, problems: string[]): BlockView[] {
  if (!isObject(block) || typeof block["type"] !== "string") {
    problems.push(`${path} has no type`);
    return [];
  }
  const cache = cacheIn(block);
  switch (block["type"]) {
    case "text":
      return [{ type: "text", text: asText(block["text"]), cache }];
    case "image":
    case "document":
      return [{ type: block["type"], source: sourceIn(block["source"]), cache }];
    case "thinking": {
      const signed = asText(block["signature"]) !== "";
      return [{ type: "thinking", text: asText(block["thinking"]), signed, hidden: false, cache }];
    }
    case "redacted_thinking":
      return [{ type: "thinking", text: "", signed: true, hidden: true, cache }];
    case "tool_use": {
      const { id, name, input } = block;
      return [{ type: "tool_use", id: asText(id), name: asText(name), input, cache }];
    }
    case "tool_result": {
      const content = resultIn(block["content"], `${path}.content`, problems);
      const failed = block["is_error"] === true;
      return [{ type: "tool_result", id: asText(block["tool_use_id"]), content, failed, cache }];
    }
    default:
      return [{ type: "other", name: block["type"], cache }];
  }
}

/** A result may be left empty: nothing, an empty text and an empty list all mean that. */
function resultIn(content: unknown, path: string, problems: string[]): BlockView[] {
  return content === undefined || content === "" ? [] : contentIn(content, path, problems);
}

function sourceIn(source: unknown): SourceView {
  const fields = asObject(source);
  if (fields["type"] === "base64")
    return { kind: "base64", mediaType: asText(fields["media_type"]), data: asText(fields["data"]) };
  return fields["type"] === "text" ? { kind: "text", data: asText(fields["data"]) } : { kind: "reference" };
}

function thinkingIn(thinking: unknown): ThinkingMode {
  const fields = asObject(thinking);
  if (fields["type"] === "adaptive") return { kind: "adaptive" };
  if (fields["type"] === "enabled") return { kind: "budget", tokens: Number(fields["budget_tokens"]) };
  return { kind: "off" };
}

function forcedToolIn(choice: unknown): string | undefined {
  if (!isObject(choice)) return undefined;
  if (choice["type"] === "any") return "*";
  return choice["type"] === "tool" ? asText(choice["name"]) : undefined;
}

function cacheIn(block: unknown): CacheMark {
  const mark = asObject(block)["cache_control"];
  if (!isObject(mark)) return undefined;
  return mark["ttl"] === "1h" ? "1h" : "5m";
}

/** The cache prefix of a body, and where it is marked. */
export function messagesPrefix(body: unknown): MarkedBlock[] {
  const fields = asObject(body);
  const { thinking, output_config, tool_choice } = fields;
  return [
    ...asList(fields["tools"]).map((tool) =>
      blockOf("tools", `tool ${asText(asObject(tool)["name"]) || "?"}`, tool),
    ),
    ...partsIn(fields["system"]).map((part, index) => blockOf("system", `system ${index + 1}`, part)),
    blockOf("thinking", "thinking", { thinking, output_config, tool_choice }),
    ...asList(fields["messages"]).flatMap((message) => {
      const { role, content } = asObject(message);
      return partsIn(content).map((part) =>
        blockOf("messages", `${String(role)} ${asText(asObject(part)["type"]) || "?"}`, part),
      );
    }),
  ];
}

/** Whose request it is, if it says so: our own adapter names the session. */
export function messagesSession(body: unknown): string | undefined {
  return asText(asObject(asObject(body)["metadata"])["user_id"]) || undefined;
}

function blockOf(section: Section, name: string, part: unknown): MarkedBlock {
  const inner = asList(asObject(part)["content"]);
  const marks = [part, ...inner].flatMap((block) => cacheIn(block) ?? []);
  // Whose block it is belongs to what is compared; in which message it stands does not.
  const owner = section === "messages" ? `${name} ` : "";
  return { section, name, text: `${owner}${JSON.stringify(unmarked(part))}`, mark: marks[0] };
}

/** A result may be marked inside; deeper down, and in schemas and inputs, the word is only a word. */
function unmarked(part: unknown): unknown {
  if (!isObject(part)) return part;
  const { cache_control: _, ...rest } = part;
  return Array.isArray(rest["content"]) ? { ...rest, content: rest["content"].map(unmarked) } : rest;
}

/** A text stands for a list of one text block. */
function partsIn(content: unknown): unknown[] {
  if (typeof content !== "string") return asList(content);
  return content === "" ? [] : [{ type: "text", text: content }];
}
