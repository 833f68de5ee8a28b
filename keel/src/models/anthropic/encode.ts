/**
 * A request as the bytes of a Messages body. Each message, tool and system part is written once and remembered by the
 * object's identity; a body is their bytes joined, so a turn at the end of a long session costs a copy more than one at
 * its start, and nothing else. A body extends the one before it: only the cache marks move.
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

export type Encoder = (request: ModelRequest, info: ModelInfo) => Uint8Array;

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
    return join(request, info, {
      tools: specs,
      system,
      messages: encoded.filter(({ bytes }) => bytes.length > 0),
    });
  };
}

/** The bytes of one or more blocks, and where between them a mark can be set; -1 where none can. */
type Written = { readonly bytes: Uint8Array; readonly markAt: number };

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

function join(request: ModelRequest, info: ModelInfo, { tools, system, messages }: Parts): Uint8Array {
  const cache = info.abilities.cache;
  const marks = cache ? markedMessages(messages) : [];
  const pieces: Uint8Array[] = [Buffer.from(headOf(request, info))];
  const add = (text: string) => pieces.push(Buffer.from(text));
  const addList = (name: string, parts: readonly Written[], last: "marked" | "plain") => {
    if (parts.length === 0) return;
    add(`,"${name}":[`);
    for (const [index, part] of parts.entries()) {
      if (index > 0) pieces.push(comma);
      pieces.push(...(last === "marked" && index === parts.length - 1 ? mark(part) : [part.bytes]));
    }
    add("]");
  };
  addList("tools", tools, cache && system.length === 0 ? "marked" : "plain");
  addList("system", system, cache ? "marked" : "plain");
  add(',"messages":[');
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]?.role;
    if (before === message.role) pieces.push(comma);
    else pieces.push(...(before ? [closing] : []), opening[message.role]);
    if (marks.includes(index)) pieces.push(...mark(message));
    else pieces.push(message.bytes);
  }
  add(messages.length > 0 ? "]}]}" : "]}");
  return Buffer.concat(pieces);
}

/** All but the conversation, without the brace that closes it. */
function headOf(request: ModelRequest, info: ModelInfo): string {
  const head = toJson({
    model: request.model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    ...thinkingFields(request, info),
    metadata: { user_id: request.session },
  });
  return head.slice(0, -1);
}

const comma: Uint8Array = Buffer.from(",");
const closing: Uint8Array = Buffer.from("]},");
const opening: Readonly<Record<Message["role"], Uint8Array>> = {
  user: Buffer.from('{"role":"user","content":['),
  assistant: Buffer.from('{"role":"assistant","content":['),
};

/** Which messages carry marks 2 and 3. */
function markedMessages(messages: readonly EncodedMessage[]): number[] {
  const last = messages.findLastIndex(({ markAt }) => markAt !== -1);
  const reply = messages.findLastIndex(({ role }, index) => index < last && role === "assistant");
  const earlier = messages.findLastIndex(
    ({ role, markAt }, index) => index < reply && role === "user" && markAt !== -1,
  );
  return [last, earlier].filter((index) => index !== -1);
}

const cacheMark: Uint8Array = Buffer.from(',"cache_control":{"type":"ephemeral"}');

const mark = ({ bytes, markAt }: Written): Uint8Array[] =>
  markAt === -1 ? [bytes] : [bytes.subarray(0, markAt), cacheMark, bytes.subarray(markAt)];

function encodeMessage({ role, content }: Message, reader: Reader): EncodedMessage {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let markAt = -1;
  for (const block of content) {
    const encoded = encodeBlock(block, reader);
    if (encoded === undefined) continue;
    const bytes = Buffer.from(`${length > 0 ? "," : ""}${toJson(encoded)}`);
    pieces.push(bytes);
    length += bytes.length;
    // Before the brace that closes it. Thinking takes no mark, and what we only pass on stays as it came.
    if (block.type !== "thinking" && block.type !== "foreign") markAt = length - 1;
  }
  return {
    role,
    bytes: inOwnMemory(pieces, length),
    markAt,
    reader: isReadDifferently(content) ? reader : undefined,
  };
}

/** Small buffers are slices of a common one: what is remembered would keep alive much more than itself. */
function inOwnMemory(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
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
  const bytes = Buffer.from(toJson(value));
  return { bytes: inOwnMemory([bytes], bytes.length), markAt: bytes.length - 1 };
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
