/**
 * A request as the text of a Messages body. Each message, tool and system part is written once and remembered by the
 * object's identity; a body is their texts joined, so a turn costs no more CPU at the end of a long session than at its
 * start. A body extends the one before it: only the cache marks move.
 *
 * Cache marks, three of the four that are allowed. The provider keeps everything up to a mark (order: tools, system,
 * messages) and, at the next request, looks for a kept start at each mark and at the 20 blocks before it.
 * 1. The last system part (the last tool when there is none): sessions with the same prompt share it.
 * 2. The last block of the last message: what the next request will read.
 * 3. The last block of the user message before the last reply, which is where the request before this one ended: a turn
 *    of more than 20 blocks would otherwise lose the way back to what that request kept.
 */
import type { ModelRequest } from "../../engine/ports.ts";
import type { Message } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { encodeBlock, type Reader } from "./blocks.ts";
import { thinkingFields } from "./thinking.ts";

export type Encoder = (request: ModelRequest, info: ModelInfo) => string;

export function messagesEncoder(): Encoder {
  const messages = new WeakMap<Message, EncodedMessage>();
  const tools = new WeakMap<ToolSpec, Written>();
  const systems = new WeakMap<readonly string[], Written[]>();

  return (request, info) => {
    const reader = { model: request.model, images: info.abilities.images };
    const system = remember(systems, request.system, () => encodeSystem(request.system));
    const specs = request.tools.map((tool) => remember(tools, tool, () => encodeTool(tool)));
    const encoded = request.messages.map((message) => {
      const before = messages.get(message);
      if (before && (before.reader === undefined || sameReader(before.reader, reader))) return before;
      const made = encodeMessage(message, reader);
      messages.set(message, made);
      return made;
    });
    return join(request, info, { tools: specs, system, messages: encoded.filter(({ text }) => text !== "") });
  };
}

/** A text of one or more blocks, and where in it a mark can be set; -1 where none can. */
type Written = { readonly text: string; readonly markAt: number };

type EncodedMessage = Written & {
  readonly role: Message["role"];
  /** Whom it was written for, when another reader would get it otherwise. */
  readonly reader: Reader | undefined;
};

type Parts = {
  readonly tools: readonly Written[];
  readonly system: readonly Written[];
  readonly messages: readonly EncodedMessage[];
};

function join(request: ModelRequest, info: ModelInfo, { tools, system, messages }: Parts): string {
  const cache = info.abilities.cache;
  const marks = cache ? markedMessages(messages) : [];
  const head = toJson({
    model: request.model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    ...thinkingFields(request, info),
    metadata: { user_id: request.session },
  });
  const pieces = [head.slice(0, -1)];
  if (tools.length > 0)
    pieces.push(',"tools":[', listed(tools, cache && system.length === 0 ? "marked" : "plain"), "]");
  if (system.length > 0) pieces.push(',"system":[', listed(system, cache ? "marked" : "plain"), "]");
  pieces.push(',"messages":[');
  for (const [index, message] of messages.entries()) {
    const joins = messages[index - 1]?.role === message.role;
    if (joins) pieces.push(",");
    else pieces.push(`${index > 0 ? "]}," : ""}{"role":"${message.role}","content":[`);
    pieces.push(marks.includes(index) ? mark(message) : message.text);
  }
  pieces.push(messages.length > 0 ? "]}]}" : "]}");
  return pieces.join("");
}

const listed = (parts: readonly Written[], last: "marked" | "plain"): string =>
  parts.map((part, at) => (last === "marked" && at === parts.length - 1 ? mark(part) : part.text)).join(",");

/** Which messages carry marks 2 and 3. */
function markedMessages(messages: readonly EncodedMessage[]): number[] {
  const last = messages.findLastIndex(({ markAt }) => markAt !== -1);
  const reply = messages.findLastIndex(({ role }, index) => index < last && role === "assistant");
  const earlier = messages.findLastIndex(
    ({ role, markAt }, index) => index < reply && role === "user" && markAt !== -1,
  );
  return [last, earlier].filter((index) => index !== -1);
}

const cacheMark = ',"cache_control":{"type":"ephemeral"}';

const mark = ({ text, markAt }: Written): string =>
  markAt === -1 ? text : text.slice(0, markAt) + cacheMark + text.slice(markAt);

function encodeMessage({ role, content }: Message, reader: Reader): EncodedMessage {
  const texts: string[] = [];
  let length = 0;
  let markAt = -1;
  for (const block of content) {
    const encoded = encodeBlock(block, reader);
    if (encoded === undefined) continue;
    const text = toJson(encoded);
    length += text.length + (texts.length > 0 ? 1 : 0);
    texts.push(text);
    // Thinking takes no mark, and what we only pass on stays as it came.
    if (block.type !== "thinking" && block.type !== "foreign") markAt = length - 1;
  }
  return { role, text: texts.join(","), markAt, reader: isReadDifferently(content) ? reader : undefined };
}

const isReadDifferently = (content: Message["content"]): boolean =>
  content.some(
    (block) =>
      block.type === "thinking" ||
      block.type === "image" ||
      (block.type === "tool_result" && block.content.some(({ type }) => type === "image")),
  );

const sameReader = (left: Reader, right: Reader): boolean =>
  left.model === right.model && left.images === right.images;

function encodeSystem(parts: readonly string[]): Written[] {
  return parts.filter((part) => part.trim() !== "").map((part) => written({ type: "text", text: part }));
}

function encodeTool({ name, description, input }: ToolSpec): Written {
  return written({ name, ...(description === "" ? {} : { description }), input_schema: input });
}

function written(value: object): Written {
  const text = toJson(value);
  return { text, markAt: text.length - 1 };
}

/** Half a surrogate pair is no Unicode: the provider would refuse the whole request for it. */
function toJson(value: object): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part));
}

function remember<K extends object, V>(memo: WeakMap<K, V>, key: K, make: () => V): V {
  const before = memo.get(key);
  if (before !== undefined) return before;
  const made = make();
  memo.set(key, made);
  return made;
}
