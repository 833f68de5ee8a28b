/** A body of the Messages wire as a view. It comes from outside, so nothing about its shape is taken for granted. */
import { isObject } from "../../kernel/json.ts";
import type { ThinkingMode } from "../../protocol/settings.ts";
import type {
  BlockView,
  CacheMark,
  MessageView,
  RequestView,
  SourceView,
  SystemView,
  ToolView,
} from "../request-view.ts";

export function messagesView(body: unknown): RequestView {
  const problems: string[] = [];
  const fields = isObject(body) ? body : {};
  if (!isObject(body)) problems.push("the body is not an object");
  return {
    model: textIn(fields["model"]),
    system: systemIn(fields["system"], problems),
    tools: listIn(fields["tools"], "tools", problems).map(toolIn),
    messages: listIn(fields["messages"], "messages", problems).map((message, index) =>
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
  if (typeof system === "string") return [{ text: system, cache: undefined }];
  return listIn(system, "system", problems).flatMap((block) =>
    isObject(block) ? [{ text: textIn(block["text"]), cache: cacheIn(block) }] : [],
  );
}

function toolIn(tool: unknown): ToolView {
  const fields = isObject(tool) ? tool : {};
  // A tool of the provider has a type of its own and no schema.
  const isProvided = typeof fields["type"] === "string" && fields["type"] !== "custom";
  return {
    name: textIn(fields["name"]),
    description: textIn(fields["description"]),
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
  return { role: textIn(role), blocks: contentIn(content, `${path}.content`, problems) };
}

function contentIn(content: unknown, path: string, problems: string[]): BlockView[] {
  if (typeof content === "string") return [{ type: "text", text: content, cache: undefined }];
  return listIn(content, path, problems).flatMap((block, index) =>
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
      return [{ type: "text", text: textIn(block["text"]), cache }];
    case "image":
      return [{ type: "image", source: sourceIn(block["source"]), cache }];
    case "document":
      return [{ type: "document", source: sourceIn(block["source"]), cache }];
    case "thinking": {
      const signed = textIn(block["signature"]) !== "";
      return [{ type: "thinking", text: textIn(block["thinking"]), signed, hidden: false, cache }];
    }
    case "redacted_thinking":
      return [{ type: "thinking", text: "", signed: true, hidden: true, cache }];
    case "tool_use":
      return [
        {
          type: "tool_use",
          id: textIn(block["id"]),
          name: textIn(block["name"]),
          input: block["input"],
          cache,
        },
      ];
    case "tool_result":
      return [
        {
          type: "tool_result",
          id: textIn(block["tool_use_id"]),
          content: resultIn(block["content"], `${path}.content`, problems),
          failed: block["is_error"] === true,
          cache,
        },
      ];
    default:
      return [{ type: "other", name: block["type"], cache }];
  }
}

/** A result may be left empty: nothing, an empty text and an empty list all mean that. */
function resultIn(content: unknown, path: string, problems: string[]): BlockView[] {
  return content === undefined || content === "" ? [] : contentIn(content, path, problems);
}

function sourceIn(source: unknown): SourceView {
  const fields = isObject(source) ? source : {};
  if (fields["type"] === "base64")
    return { kind: "base64", mediaType: textIn(fields["media_type"]), data: textIn(fields["data"]) };
  return fields["type"] === "text" ? { kind: "text", data: textIn(fields["data"]) } : { kind: "reference" };
}

function thinkingIn(thinking: unknown): ThinkingMode {
  const fields = isObject(thinking) ? thinking : {};
  if (fields["type"] === "adaptive") return { kind: "adaptive" };
  if (fields["type"] === "enabled") return { kind: "budget", tokens: Number(fields["budget_tokens"]) };
  return { kind: "off" };
}

function forcedToolIn(choice: unknown): string | undefined {
  if (!isObject(choice)) return undefined;
  if (choice["type"] === "any") return "*";
  return choice["type"] === "tool" ? textIn(choice["name"]) : undefined;
}

function cacheIn(block: Record<string, unknown>): CacheMark {
  const mark = block["cache_control"];
  if (!isObject(mark)) return undefined;
  return mark["ttl"] === "1h" ? "1h" : "5m";
}

function listIn(value: unknown, path: string, problems: string[]): unknown[] {
  if (Array.isArray(value)) return value;
  if (value !== undefined) problems.push(`${path} is not a list`);
  return [];
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
