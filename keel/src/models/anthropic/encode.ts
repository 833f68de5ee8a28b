/**
 * A request as the bytes of a Messages body, in pieces. Each message, tool and system part is written once and remembered
 * by the object's identity. A body extends the one before it, and only the cache marks move: what stands before them is
 * kept as it was sent, so that a turn at the end of a long session costs no more than one at its start.
 *
 * Cache marks, three of the four that are allowed. The provider keeps everything up to a mark (order: tools, system,
 * messages) and, at the next request, looks for a kept start at each mark and at the 20 blocks before it.
 * 1. The last system part (the last tool when there is none): sessions with the same prompt share it.
 * 2. The last block of the last message: what the next request will read.
 * 3. The last block of the user message before the last reply, which is where the request before this one ended: a turn
 *    of more than 20 blocks would otherwise lose the way back to what that request kept.
 */
import type { ContentBlockParam, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import { isObject, wellFormedJson } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Block, Message, ResultPart, ToolResult } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { BytesSum, ModelInfo, RequestSums } from "../../protocol/usage.ts";
import {
  GrowingBytes,
  holdsImages,
  type IdRule,
  isImageType,
  RunningDigest,
  remember,
  rememberFor,
  sumOf,
  wireId,
} from "../encoding.ts";
import { thinkingFields } from "./thinking.ts";

export type MessagesEncoder = (request: ModelRequest, info: ModelInfo) => WrittenRequest;
export type WrittenRequest = { readonly body: readonly Uint8Array[]; readonly sums: RequestSums };

/** A session and some agents of it: one more makes the oldest be written anew when it speaks next. */
const maxSettled = 8;

export function messagesEncoder(): MessagesEncoder {
  const messages = new WeakMap<Message, MessagesEncodedMessage>();
  const tools = new WeakMap<ToolSpec, WrittenBlocks>();
  const systems = new WeakMap<readonly string[], WrittenBlocks[]>();
  const toolSums = new WeakMap<readonly ToolSpec[], BytesSum>();
  const systemSums = new WeakMap<readonly string[], BytesSum>();
  const settled = new Map<string, SettledMessages>();

  /** What was sent before in this session and stands at the same place, continued up to `end`. */
  const settle = (session: string, all: readonly MessagesEncodedMessage[], end: number): SettledMessages => {
    const before = settled.get(session);
    const isSame =
      before && before.messages.length <= end && before.messages.every((one, at) => one === all[at]);
    const found = isSame
      ? before
      : { messages: [], bytes: new GrowingBytes(), digest: new RunningDigest(), whole: undefined };
    settled.delete(session);
    settled.set(session, found);
    if (settled.size > maxSettled) settled.delete([...settled.keys()][0] ?? "");
    for (const message of all.slice(found.messages.length, end)) {
      const joint = between(found.messages.at(-1), message);
      found.bytes.add(joint);
      const { written } = message;
      message.written = typeof written === "string" ? found.bytes.addText(written) : found.bytes.add(written);
      found.messages.push(message);
      for (const bytes of [joint, message.written]) {
        found.digest.add(bytes);
        found.whole?.digest.add(bytes);
      }
    }
    return found;
  };

  return (request, info) => {
    const reader = { model: request.model, images: info.abilities.images };
    const system = remember(systems, request.system, () => encodeSystem(request.system));
    const specs = request.tools.map((tool) => remember(tools, tool, () => encodeTool(tool)));
    const encoded = request.messages.map(rememberFor(messages, reader, encodeMessage));
    const spoken = encoded.every(isSpoken) ? encoded : encoded.filter(isSpoken);
    const marks = info.abilities.cache ? markedMessages(spoken) : [];
    const before = settle(request.session, spoken, Math.min(spoken.length, ...marks));
    const parts = { tools: specs, system, messages: spoken, marks };
    const head = headOf(request, info);
    const end = endOf(parts);
    const about = { head, tools: request.tools, system: request.system, marked: info.abilities.cache };
    const { start, digest } = wholeStart(before, about, () => startOf(head, info, parts));
    return {
      body: [start, ...before.bytes.pieces(), ...end],
      sums: {
        body: digest.sumWith(end),
        ...(specs.length === 0 ? {} : { tools: remember(toolSums, request.tools, () => sumOfList(specs)) }),
        ...(system.length === 0
          ? {}
          : { system: remember(systemSums, request.system, () => sumOfList(system)) }),
        ...(marks.length === 0 ? {} : { prefixes: prefixSums(before.digest, parts) }),
      },
    };
  };
}

/**
 * What stands before the messages, in one piece, and the digest of all before the first mark; both are made anew only
 * where the request starts otherwise than the one before it.
 */
function wholeStart(before: SettledMessages, about: RequestStart, write: () => Uint8Array[]): WholeStart {
  if (before.whole && isSameStart(before.whole.about, about)) return before.whole;
  const start = inOwnMemory(Buffer.concat(write()));
  const digest = new RunningDigest();
  for (const piece of [start, ...before.bytes.pieces()]) digest.add(piece);
  before.whole = { about, start, digest };
  return before.whole;
}

/** What the bytes before the messages are made of. */
type RequestStart = Pick<ModelRequest, "tools" | "system"> & {
  readonly head: string;
  /** Whose marks they carry. */
  readonly marked: boolean;
};

const isSameStart = (left: RequestStart, right: RequestStart): boolean =>
  left.head === right.head &&
  left.tools === right.tools &&
  left.system === right.system &&
  left.marked === right.marked;

/** Up to each mark, as if there were none. */
function prefixSums(
  settled: RunningDigest,
  { messages, marks }: MessagesRequestParts,
): NonNullable<RequestSums["prefixes"]> {
  const first = Math.min(...marks);
  return marks.map((last) => {
    const pieces = messages
      .slice(first, last + 1)
      .flatMap((message, offset) => [between(messages[first + offset - 1], message), bytesOf(message)]);
    return { messages: last + 1, ...settled.sumWith(pieces) };
  });
}

/** The bytes of one or more blocks, and where between them a mark can be set; -1 where none can. */
type WrittenBlocks = { readonly bytes: Uint8Array; readonly markAt: number };

/** The messages before the first mark, and their bytes with what stands between them. */
type SettledMessages = {
  readonly messages: MessagesEncodedMessage[];
  readonly bytes: GrowingBytes;
  /** Of these bytes. */
  readonly digest: RunningDigest;
  /** Of these bytes and all that stands before them. */
  whole: WholeStart | undefined;
};

type WholeStart = {
  readonly about: RequestStart;
  readonly start: Uint8Array;
  readonly digest: RunningDigest;
};

type MessagesEncodedMessage = {
  /** Its blocks: as text until they are sent, then the bytes at the place where they stand, so that nothing is held twice. */
  written: string | Uint8Array;
  readonly markAt: number;
  readonly role: Message["role"];
  /** Whom it was written for, when another reader would get it otherwise. */
  readonly reader: MessagesBlockTarget | undefined;
};

const isSpoken = ({ written }: MessagesEncodedMessage): boolean => written.length > 0;

type MessagesRequestParts = {
  readonly tools: readonly WrittenBlocks[];
  readonly system: readonly WrittenBlocks[];
  readonly messages: readonly MessagesEncodedMessage[];
  /** Ascending; the first of them is the first that is not settled. */
  readonly marks: readonly number[];
};

/** All that stands before the messages. */
function startOf(
  head: string,
  { abilities: { cache } }: ModelInfo,
  { tools, system }: MessagesRequestParts,
): Uint8Array[] {
  const pieces: Uint8Array[] = [Buffer.from(head)];
  const add = (text: string) => pieces.push(Buffer.from(text));
  const addList = (name: string, parts: readonly WrittenBlocks[], last: "marked" | "plain") => {
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
  return pieces;
}

/** The messages from the first mark on, and what closes the body. */
function endOf({ messages, marks }: MessagesRequestParts): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const first = Math.min(messages.length, ...marks);
  for (const [offset, message] of messages.slice(first).entries()) {
    pieces.push(between(messages[first + offset - 1], message));
    const bytes = bytesOf(message);
    if (marks.includes(first + offset)) pieces.push(...mark({ bytes, markAt: message.markAt }));
    else pieces.push(bytes);
  }
  pieces.push(Buffer.from(messages.length > 0 ? "]}]}" : "]}"));
  return pieces;
}

/** Messages of one role in a row are one to the provider. */
function between(before: MessagesEncodedMessage | undefined, { role }: MessagesEncodedMessage): Uint8Array {
  if (before?.role === role) return comma;
  return before ? turning[role] : opening[role];
}

/** All but the conversation, without the brace that closes it. */
function headOf(request: ModelRequest, info: ModelInfo): string {
  const head = wellFormedJson({
    model: request.model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    ...thinkingFields(request, info),
    metadata: { user_id: request.session },
  });
  return head.slice(0, -1);
}

const sumOfList = (parts: readonly WrittenBlocks[]): BytesSum =>
  sumOf(parts.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [comma, bytes])));

const comma: Uint8Array = Buffer.from(",");
const opening: Readonly<Record<Message["role"], Uint8Array>> = {
  user: Buffer.from('{"role":"user","content":['),
  assistant: Buffer.from('{"role":"assistant","content":['),
};
const turning: Readonly<Record<Message["role"], Uint8Array>> = {
  user: Buffer.from(']},{"role":"user","content":['),
  assistant: Buffer.from(']},{"role":"assistant","content":['),
};

/** Which messages carry marks 2 and 3. */
function markedMessages(messages: readonly MessagesEncodedMessage[]): number[] {
  const last = messages.findLastIndex(({ markAt }) => markAt !== -1);
  const reply = messages.findLastIndex(({ role }, index) => index < last && role === "assistant");
  const earlier = messages.findLastIndex(
    ({ role, markAt }, index) => index < reply && role === "user" && markAt !== -1,
  );
  return [earlier, last].filter((index) => index !== -1);
}

const cacheMark: Uint8Array = Buffer.from(',"cache_control":{"type":"ephemeral"}');

const mark = ({ bytes, markAt }: WrittenBlocks): Uint8Array[] =>
  markAt === -1 ? [bytes] : [bytes.subarray(0, markAt), cacheMark, bytes.subarray(markAt)];

function encodeMessage({ role, content }: Message, reader: MessagesBlockTarget): MessagesEncodedMessage {
  let written = "";
  let marked = 0;
  for (const block of content) {
    const encoded = encodeBlock(block, reader);
    if (encoded === undefined) continue;
    written += `${written === "" ? "" : ","}${wellFormedJson(encoded)}`;
    // Before the brace that closes it. Thinking takes no mark, and what we only pass on stays as it came.
    if (block.type !== "thinking" && block.type !== "foreign") marked = written.length;
  }
  return {
    role,
    written,
    markAt: Buffer.byteLength(marked === written.length ? written : written.slice(0, marked)) - 1,
    reader: isReadDifferently(content) ? reader : undefined,
  };
}

function bytesOf(message: MessagesEncodedMessage): Uint8Array {
  if (typeof message.written !== "string") return message.written;
  const bytes = Buffer.from(message.written);
  message.written = inOwnMemory(bytes);
  return message.written;
}

/** Small buffers are slices of a common one: what is remembered would keep alive much more than itself. */
function inOwnMemory(bytes: Uint8Array): Uint8Array {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

const isReadDifferently = (content: Message["content"]): boolean =>
  holdsImages(content) || content.some(({ type }) => type === "thinking");

function encodeSystem(parts: readonly string[]): WrittenBlocks[] {
  return parts.filter((part) => part.trim() !== "").map((part) => written({ type: "text", text: part }));
}

function encodeTool({ name, description, input }: ToolSpec): WrittenBlocks {
  return written({ name, ...(description === "" ? {} : { description }), input_schema: input });
}

function written(value: object): WrittenBlocks {
  const bytes = Buffer.from(wellFormedJson(value));
  return { bytes: inOwnMemory(bytes), markAt: bytes.length - 1 };
}

/** What of a request decides how a block is written. */
type MessagesBlockTarget = { readonly model: string; readonly images: boolean };

/** Calls that another provider's model made may have ids that this wire refuses. */
const idRule: IdRule = { allowed: /^[a-zA-Z0-9_-]+$/, maxCharacters: Number.POSITIVE_INFINITY };

/** Undefined when the block must not be sent. */
function encodeBlock(block: Block, reader: MessagesBlockTarget): ContentBlockParam | JsonBlock | undefined {
  switch (block.type) {
    case "text":
      // A blank text is refused by the provider.
      return block.text.trim() === "" ? undefined : { type: "text", text: block.text };
    case "image":
    case "document":
      return encodeMedia(block, reader);
    case "thinking":
      return encodeThinking(block, reader);
    case "tool_use":
      // What was not valid JSON was answered with an error; the call itself must still be an object.
      return {
        type: "tool_use",
        id: wireId(block.id, idRule),
        name: block.name,
        input: isObject(block.input) && block.broken === undefined ? block.input : {},
      };
    case "tool_result":
      return encodeResult(block, reader);
    case "foreign":
      return block.provider === "anthropic" && isObject(block.data) ? block.data : undefined;
    default:
      return never(block);
  }
}

/** A block of the provider's own that we keep without knowing its shape. */
type JsonBlock = Readonly<Record<string, unknown>>;

type Thinking = Extract<Block, { type: "thinking" }>;
type MessagesMedia = Extract<Block, { type: "image" | "document" }>;

/** Thinking goes back only with its proof, and only to the model that gave it. */
function encodeThinking(block: Thinking, { model }: MessagesBlockTarget): ContentBlockParam | undefined {
  if (block.model !== undefined && block.model !== model) return undefined;
  if (block.hidden !== undefined) return { type: "redacted_thinking", data: block.hidden };
  if (block.signature === undefined) return undefined;
  return { type: "thinking", thinking: block.text, signature: block.signature };
}

function encodeResult(
  { callId, content, failed }: ToolResult,
  reader: MessagesBlockTarget,
): ToolResultBlockParam {
  const parts = content.map((part) => encodePart(part, reader)).filter((part) => part !== undefined);
  // An error without words is refused by the provider; any other result may be empty.
  if (failed && parts.length === 0) parts.push({ type: "text", text: "The tool failed without a word." });
  return {
    type: "tool_result",
    tool_use_id: wireId(callId, idRule),
    ...(parts.length > 0 ? { content: parts } : {}),
    ...(failed ? { is_error: true } : {}),
  };
}

type ResultContentPart = Exclude<ToolResultBlockParam["content"], string | undefined>[number];

function encodePart(part: ResultPart, reader: MessagesBlockTarget): ResultContentPart | undefined {
  if (part.type !== "text") return encodeMedia(part, reader);
  return part.text.trim() === "" ? undefined : { type: "text", text: part.text };
}

type MediaParam = Extract<ContentBlockParam, { type: "image" | "document" | "text" }>;

function encodeMedia(block: MessagesMedia, { images }: MessagesBlockTarget): MediaParam {
  const { mediaType, data } = block;
  if (block.type === "image") {
    if (!images || !isImageType(mediaType)) return leftOut("An image", mediaType);
    return { type: "image", source: { type: "base64", media_type: mediaType, data } };
  }
  const title = block.name === undefined ? {} : { title: block.name };
  if (mediaType === "application/pdf") {
    return { type: "document", source: { type: "base64", media_type: mediaType, data }, ...title };
  }
  if (!mediaType.startsWith("text/") && mediaType !== "application/json")
    return leftOut("A document", mediaType);
  const text = Buffer.from(data, "base64").toString("utf8");
  if (text.trim() === "") return leftOut("An empty document", mediaType);
  return { type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title };
}

/** One attachment that the model cannot read must not make every later request of the session fail. */
const leftOut = (what: string, mediaType: string): MediaParam => ({
  type: "text",
  text: `[${what} (${mediaType}) was left out: this model cannot read it.]`,
});
