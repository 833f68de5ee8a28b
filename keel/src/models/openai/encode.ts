/**
 * A request as the bytes of a chat completion. Each message, tool and system prompt is written once and remembered by
 * the object's identity; a body is their bytes joined, so a turn at the end of a long session costs a copy more than one
 * at its start, and nothing else. What was said before stays byte for byte: servers of this wire find their cached start
 * by themselves.
 *
 * The order is the one that all of them take: the system prompt, then user and assistant in turn, and the results of
 * calls directly after the message that asked for them.
 */
import { isObject, wellFormedJson } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Block, Message, ResultPart, ToolResult, ToolUse } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { BytesSum, ModelInfo, RequestSums } from "../../protocol/usage.ts";
import { between, bodySums, bytesOf, comma, joined, type WrittenBody } from "../body-sums.ts";
import { holdsImages, isImageType, remember, rememberFor, sumOf } from "../encoding.ts";
import { callId, toolName } from "./names.ts";
import { effortField, type ServerTraits } from "./traits.ts";

export type ChatEncoder = (
  request: ModelRequest,
  info: ModelInfo,
  traits: ServerTraits,
) => { readonly body: Uint8Array; readonly sums: RequestSums };

export function chatEncoder(): ChatEncoder {
  const messages = new WeakMap<Message, ChatEncodedMessage>();
  const tools = new WeakMap<ToolSpec, Uint8Array>();
  const systems = new WeakMap<readonly string[], Uint8Array>();
  const toolSums = new WeakMap<readonly ToolSpec[], BytesSum>();
  const systemSums = new WeakMap<readonly string[], BytesSum>();

  const sumOfBody = bodySums();

  return (request, info, traits) => {
    const reader = { images: info.abilities.images && traits.images };
    const offered = info.abilities.tools && traits.tools ? request.tools : noTools;
    const encoded = request.messages.map(rememberFor(messages, reader, encodeMessage));
    const specs = offered.map((tool) => remember(tools, tool, () => encodeTool(tool)));
    const system = remember(systems, request.system, () => encodeSystem(request.system));
    const written = join(headOf({ ...request, tools: offered }, traits), {
      parallel: traits.parallel,
      tools: specs,
      system,
      messages: encoded.filter(
        ({ results, parts, calls }) => results.length + parts.length + calls.length > 0,
      ),
    });
    return {
      body: joined(written),
      sums: {
        body: sumOfBody(request.session, written),
        ...(specs.length === 0
          ? {}
          : { tools: remember(toolSums, offered, () => sumOf(between(specs, comma))) }),
        ...(system.length === 0
          ? {}
          : { system: remember(systemSums, request.system, () => sumOf([system])) }),
      },
    };
  };
}

const noTools: readonly ToolSpec[] = [];

type ChatRequestParts = {
  readonly parallel: boolean;
  readonly tools: readonly Uint8Array[];
  /** A whole message; empty when there is nothing to say. */
  readonly system: Uint8Array;
  readonly messages: readonly ChatEncodedMessage[];
};

function join(head: string, { parallel, tools, system, messages }: ChatRequestParts): WrittenBody {
  const spoken = turnsOf(messages);
  const turns = parallel ? spoken.map(messagesOf) : inSeries(spoken);
  const earlier = [...(system.length > 0 ? [[system]] : []), ...turns.slice(0, -1).flat()];
  // Whoever speaks next may be joined to the last turn.
  const last = turns.at(-1) ?? [];
  const steady = [
    ...(tools.length > 0 ? [openTools, ...between(tools, comma), closeList] : []),
    openMessages,
    ...earlier.flatMap((pieces, index) => (index > 0 ? [comma, ...pieces] : pieces)),
  ];
  const end = last.flatMap((pieces, index) => (index + earlier.length > 0 ? [comma, ...pieces] : pieces));
  return { head, pieces: [...steady, ...end, closeMessage], steady: steady.length };
}

/** All but the conversation, without the brace that closes it. */
function headOf(request: ModelRequest, traits: ServerTraits): string {
  const effort = effortField(request, traits.effort);
  const head = wellFormedJson({
    model: request.model,
    [traits.limit]: request.maxOutputTokens,
    stream: true,
    ...(traits.countsTokens ? { stream_options: { include_usage: true } } : {}),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(traits.cacheKey ? { prompt_cache_key: request.cacheKey ?? request.session } : {}),
  });
  return head.slice(0, -1);
}

/** Neighbours of one role, which many templates of models refuse, as one turn. */
function turnsOf(messages: readonly ChatEncodedMessage[]): ChatEncodedMessage[][] {
  const turns: ChatEncodedMessage[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.[0]?.role === message.role) last.push(message);
    else turns.push([message]);
  }
  return turns;
}

/** The messages of a turn on the wire, each in pieces. */
function messagesOf(turn: readonly ChatEncodedMessage[]): Uint8Array[][] {
  const parts = turn.flatMap((message) => message.parts);
  const said = parts.filter(({ kind }) => kind === "text");
  if (turn[0]?.role === "assistant") {
    const calls = turn.flatMap((message) => message.calls);
    const content = said.length === 0 ? [nothing] : [quote, ...texts(said), quote];
    const asked = calls.length === 0 ? [] : [openCalls, ...between(calls, comma), closeList];
    return [[assistantContent, ...content, ...asked, closeObject]];
  }
  // Results first, each a message of its own; then what the user says, if anything.
  const results = turn.flatMap((message) => message.results.map((result) => [result]));
  if (parts.length === 0) return results;
  // A plain text where that is enough: not every server takes a list.
  if (said.length === parts.length) return [...results, [userText, ...texts(said), closeText]];
  const list = parts.map(({ kind, bytes }) => (kind === "text" ? [openTextPart, bytes, closeText] : [bytes]));
  const inner = list.flatMap((pieces, index) => (index > 0 ? [comma, ...pieces] : pieces));
  return [...results, [userList, ...inner, closeMessage]];
}

/** Each call in a message of its own, with its result behind it, for models that know no others. */
function inSeries(turns: readonly ChatEncodedMessage[][]): Uint8Array[][][] {
  return turns.map((turn, at) => {
    const calls = turn.flatMap((message) => message.calls);
    const answered = turns[at - 1]?.flatMap((message) => message.calls) ?? [];
    if (turn[0]?.role === "user" && answered.length > 1)
      return messagesOf(turn.map((message) => ({ ...message, results: [] })));
    if (turn[0]?.role !== "assistant" || calls.length < 2) return messagesOf(turn);
    const results = (turns[at + 1] ?? []).flatMap((message) => message.results);
    const words = turn.flatMap((message) => message.parts);
    return calls.flatMap((call, index) => [
      ...messagesOf([
        { role: "assistant", results: [], parts: index === 0 ? words : [], calls: [call], reader: undefined },
      ]),
      ...results.slice(index, index + 1).map((result) => [result]),
    ]);
  });
}

const texts = (parts: readonly ChatPart[]): Uint8Array[] =>
  between(
    parts.map(({ bytes }) => bytes),
    paragraph,
  );

const quote = bytesOf('"');
const nothing = bytesOf("null");
/** Inside a JSON text. */
const paragraph = bytesOf("\\n\\n");
const openTools = bytesOf(',"tools":[');
const openMessages = bytesOf(',"messages":[');
const openCalls = bytesOf(',"tool_calls":[');
const userText = bytesOf('{"role":"user","content":"');
const userList = bytesOf('{"role":"user","content":[');
const assistantContent = bytesOf('{"role":"assistant","content":');
const openTextPart = bytesOf('{"type":"text","text":"');
const closeText = bytesOf('"}');
const closeList = bytesOf("]");
const closeMessage = bytesOf("]}");
const closeObject = bytesOf("}");

function encodeSystem(parts: readonly string[]): Uint8Array {
  const content = parts.filter((part) => part.trim() !== "").join("\n\n");
  return bytesOf(content === "" ? "" : wellFormedJson({ role: "system", content }));
}

function encodeTool({ name, description, input }: ToolSpec): Uint8Array {
  const about = description === "" ? {} : { description };
  return bytesOf(
    wellFormedJson({ type: "function", function: { name: toolName(name), ...about, parameters: input } }),
  );
}

/** What of a request decides how a block is written. */
type ChatBlockTarget = { readonly images: boolean };

/** One part of a user's message; `text` is the inside of a JSON text. */
type ChatPart = { readonly kind: "text" | "image"; readonly bytes: Uint8Array };

type ChatEncodedMessage = {
  readonly role: Message["role"];
  /** Whole messages with the results of calls, which stand before all else that the user says. */
  readonly results: readonly Uint8Array[];
  readonly parts: readonly ChatPart[];
  /** Calls of the assistant. */
  readonly calls: readonly Uint8Array[];
  /** Whom it was written for, when another reader would get it otherwise. */
  readonly reader: ChatBlockTarget | undefined;
};

function encodeMessage({ role, content }: Message, reader: ChatBlockTarget): ChatEncodedMessage {
  const results: Uint8Array[] = [];
  const parts: ChatPart[] = [];
  const calls: Uint8Array[] = [];
  for (const block of content) {
    switch (block.type) {
      case "text":
        if (block.text.trim() !== "") parts.push(textPart(block.text));
        break;
      case "image":
      case "document":
        parts.push(mediaPart(block, reader));
        break;
      case "tool_use":
        calls.push(encodeCall(block));
        break;
      case "tool_result":
        results.push(encodeResult(block, reader));
        parts.push(...resultImages(block, reader));
        break;
      case "thinking":
      case "foreign":
        // This wire has no place for either.
        break;
      default:
        never(block);
    }
  }
  return { role, results, parts, calls, reader: holdsImages(content) ? reader : undefined };
}

const textPart = (text: string): ChatPart => ({
  kind: "text",
  bytes: bytesOf(wellFormedJson(text).slice(1, -1)),
});

/** What was not valid JSON was answered with an error; the call itself must still be an object. */
function encodeCall({ id, name, input, broken }: ToolUse): Uint8Array {
  const args = isObject(input) && broken === undefined ? wellFormedJson(input) : "{}";
  return bytesOf(
    wellFormedJson({ id: callId(id), type: "function", function: { name: toolName(name), arguments: args } }),
  );
}

/** The wire has no mark for a failure: the words say it. */
const failureMark = "Error: ";

function encodeResult({ callId: id, content, failed }: ToolResult, reader: ChatBlockTarget): Uint8Array {
  const words = content
    .map((part) => resultText(part, reader))
    .filter((text) => text.trim() !== "")
    .join("\n");
  const said = words === "" ? (failed ? "the tool failed without a word." : "(no output)") : words;
  return bytesOf(
    wellFormedJson({
      role: "tool",
      tool_call_id: callId(id),
      content: failed ? `${failureMark}${said}` : said,
    }),
  );
}

function resultText(part: ResultPart, reader: ChatBlockTarget): string {
  if (part.type === "text") return part.text;
  return isShown(part, reader) ? "[An image, which follows below.]" : mediaText(part);
}

/** A result can only hold text here: its images follow in the words of the user. */
function resultImages({ callId: id, content }: ToolResult, reader: ChatBlockTarget): ChatPart[] {
  return content.flatMap((part) =>
    part.type !== "text" && isShown(part, reader)
      ? [textPart(`[The image in the result of the call ${callId(id)}:]`), mediaPart(part, reader)]
      : [],
  );
}

type ChatMedia = Extract<Block, { type: "image" | "document" }>;

function mediaPart(block: ChatMedia, reader: ChatBlockTarget): ChatPart {
  if (!isShown(block, reader)) return textPart(mediaText(block));
  const url = `data:${block.mediaType};base64,${block.data}`;
  return { kind: "image", bytes: bytesOf(wellFormedJson({ type: "image_url", image_url: { url } })) };
}

const isShown = ({ type, mediaType }: ChatMedia, { images }: ChatBlockTarget): boolean =>
  type === "image" && images && isImageType(mediaType);

/** One attachment that the model cannot read must not make every later request of the session fail. */
function mediaText(block: ChatMedia): string {
  const { mediaType, data } = block;
  if (block.type === "image") return `[An image (${mediaType}) was left out: this model cannot read it.]`;
  const name = block.name === undefined ? "" : ` ${block.name}`;
  if (!mediaType.startsWith("text/") && mediaType !== "application/json")
    return `[The document${name} (${mediaType}) was left out: this model cannot read it.]`;
  return `[The document${name}:]\n${Buffer.from(data, "base64").toString("utf8")}`;
}
