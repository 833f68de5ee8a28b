/**
 * A request as the bytes of a chat completion. Each message, tool and system prompt is written once and remembered by
 * the object's identity; a body is their bytes joined, so a turn at the end of a long session costs a copy more than one
 * at its start, and nothing else. What was said before stays byte for byte: servers of this wire find their cached start
 * by themselves.
 *
 * The order is the one that all of them take: the system prompt, then user and assistant in turn, and the results of
 * calls directly after the message that asked for them.
 */
import { wellFormedJson } from "../../kernel/json.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Message } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { remember, rememberFor } from "../encoding.ts";
import { toolName } from "./names.ts";
import { bytesOf, type ChatEncodedMessage, type ChatPart, encodeMessage } from "./parts.ts";
import { effortField, type ServerTraits } from "./traits.ts";

export type ChatEncoder = (request: ModelRequest, info: ModelInfo, traits: ServerTraits) => Uint8Array;

export function chatEncoder(): ChatEncoder {
  const messages = new WeakMap<Message, ChatEncodedMessage>();
  const tools = new WeakMap<ToolSpec, Uint8Array>();
  const systems = new WeakMap<readonly string[], Uint8Array>();

  return (request, info, traits) => {
    const reader = { images: info.abilities.images };
    const encoded = request.messages.map((message) =>
      rememberFor(messages, { key: message, reader }, () => encodeMessage(message, reader)),
    );
    return join(request, traits, {
      tools: request.tools.map((tool) => remember(tools, tool, () => encodeTool(tool))),
      system: remember(systems, request.system, () => encodeSystem(request.system)),
      messages: encoded.filter(
        ({ results, parts, calls }) => results.length + parts.length + calls.length > 0,
      ),
    });
  };
}

type ChatRequestParts = {
  readonly tools: readonly Uint8Array[];
  /** A whole message; empty when there is nothing to say. */
  readonly system: Uint8Array;
  readonly messages: readonly ChatEncodedMessage[];
};

function join(
  request: ModelRequest,
  traits: ServerTraits,
  { tools, system, messages }: ChatRequestParts,
): Uint8Array {
  const all = [...(system.length > 0 ? [[system]] : []), ...turnsOf(messages).flatMap(messagesOf)];
  return Buffer.concat([
    bytesOf(headOf(request, traits)),
    ...(tools.length > 0 ? [openTools, ...between(tools, comma), closeList] : []),
    openMessages,
    ...all.flatMap((pieces, index) => (index > 0 ? [comma, ...pieces] : pieces)),
    closeMessage,
  ]);
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

const texts = (parts: readonly ChatPart[]): Uint8Array[] =>
  between(
    parts.map(({ bytes }) => bytes),
    paragraph,
  );

const between = (pieces: readonly Uint8Array[], mark: Uint8Array): Uint8Array[] =>
  pieces.flatMap((piece, index) => (index > 0 ? [mark, piece] : [piece]));

const comma = bytesOf(",");
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
