/**
 * A request as the bytes of a chat completion. Each message, tool and system prompt is written once and remembered by
 * the object's identity; a body is their bytes joined, so a turn at the end of a long session costs a copy more than one
 * at its start, and nothing else. What was said before stays byte for byte: servers of this wire find their cached start
 * by themselves.
 *
 * The order is the one that all of them take: the system prompt, then user and assistant in turn, and the results of
 * calls directly after the message that asked for them.
 */
import type { ModelRequest } from "../../engine/ports.ts";
import type { Message } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { toolName } from "./names.ts";
import { bytesOf, type EncodedMessage, encodeMessage, toJson } from "./parts.ts";
import { effortField, type Traits } from "./traits.ts";

export type Encoder = (request: ModelRequest, info: ModelInfo, traits: Traits) => Uint8Array;

export function chatEncoder(): Encoder {
  const messages = new WeakMap<Message, EncodedMessage>();
  const tools = new WeakMap<ToolSpec, Uint8Array>();
  const systems = new WeakMap<readonly string[], Uint8Array>();

  return (request, info, traits) => {
    const reader = { images: info.abilities.images };
    const encoded = request.messages.map((message) => {
      const before = messages.get(message);
      if (before && (before.reader === undefined || before.reader.images === reader.images)) return before;
      const made = encodeMessage(message, reader);
      messages.set(message, made);
      return made;
    });
    return join(request, traits, {
      tools: request.tools.map((tool) => remember(tools, tool, () => encodeTool(tool))),
      system: remember(systems, request.system, () => encodeSystem(request.system)),
      messages: encoded.filter(
        ({ results, parts, calls }) => results.length + parts.length + calls.length > 0,
      ),
    });
  };
}

type Parts = {
  readonly tools: readonly Uint8Array[];
  /** A whole message; empty when there is nothing to say. */
  readonly system: Uint8Array;
  readonly messages: readonly EncodedMessage[];
};

function join(request: ModelRequest, traits: Traits, { tools, system, messages }: Parts): Uint8Array {
  const pieces: Uint8Array[] = [bytesOf(headOf(request, traits))];
  if (tools.length > 0) pieces.push(bytesOf(',"tools":['), ...between(tools, comma), bytesOf("]"));
  pieces.push(bytesOf(',"messages":['));
  const whole: Uint8Array[][] = system.length > 0 ? [[system]] : [];
  for (const turn of turnsOf(messages))
    whole.push(...(turn[0]?.role === "user" ? userTurn(turn) : [assistantTurn(turn)]));
  for (const [index, message] of whole.entries()) pieces.push(...(index > 0 ? [comma] : []), ...message);
  pieces.push(bytesOf("]}"));
  return Buffer.concat(pieces);
}

/** All but the conversation, without the brace that closes it. */
function headOf(request: ModelRequest, traits: Traits): string {
  const effort = effortField(request, traits.effort);
  const head = toJson({
    model: request.model,
    [traits.limit]: request.maxOutputTokens,
    stream: true,
    ...(traits.countsTokens ? { stream_options: { include_usage: true } } : {}),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(traits.cacheKey ? { prompt_cache_key: request.session } : {}),
  });
  return head.slice(0, -1);
}

/** Neighbours of one role, which many templates of models refuse, as one turn. */
function turnsOf(messages: readonly EncodedMessage[]): EncodedMessage[][] {
  const turns: EncodedMessage[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.[0]?.role === message.role) last.push(message);
    else turns.push([message]);
  }
  return turns;
}

/** Results first, each a message of its own; then what the user says, if anything. */
function userTurn(turn: readonly EncodedMessage[]): Uint8Array[][] {
  const results = turn.flatMap((message) => message.results.map((result) => [result]));
  const parts = turn.flatMap((message) => message.parts);
  if (parts.length === 0) return results;
  // A plain text where that is enough: not every server takes a list.
  if (parts.every(({ kind }) => kind === "text"))
    return [...results, [userText, ...between(bytesIn(parts), paragraph), closeText]];
  const listed = parts.map(({ kind, bytes }) =>
    kind === "image" ? [bytes] : [openTextPart, bytes, closeText],
  );
  const list = listed.flatMap((piece, index) => (index > 0 ? [comma, ...piece] : piece));
  return [...results, [userList, ...list, bytesOf("]}")]];
}

function assistantTurn(turn: readonly EncodedMessage[]): Uint8Array[] {
  const said = bytesIn(turn.flatMap(({ parts }) => parts.filter(({ kind }) => kind === "text")));
  const calls = turn.flatMap((message) => message.calls);
  const text = said.length === 0 ? [bytesOf("null")] : [quote, ...between(said, paragraph), quote];
  const asked =
    calls.length === 0 ? [] : [bytesOf(',"tool_calls":['), ...between(calls, comma), bytesOf("]")];
  return [bytesOf('{"role":"assistant","content":'), ...text, ...asked, bytesOf("}")];
}

const comma = bytesOf(",");
const quote = bytesOf('"');
/** Inside a JSON text. */
const paragraph = bytesOf("\\n\\n");
const userText = bytesOf('{"role":"user","content":"');
const userList = bytesOf('{"role":"user","content":[');
const openTextPart = bytesOf('{"type":"text","text":"');
const closeText = bytesOf('"}');

const bytesIn = (parts: readonly { readonly bytes: Uint8Array }[]): Uint8Array[] =>
  parts.map(({ bytes }) => bytes);

const between = (pieces: readonly Uint8Array[], mark: Uint8Array): Uint8Array[] =>
  pieces.flatMap((piece, index) => (index > 0 ? [mark, piece] : [piece]));

function encodeSystem(parts: readonly string[]): Uint8Array {
  const content = parts.filter((part) => part.trim() !== "").join("\n\n");
  return bytesOf(content === "" ? "" : toJson({ role: "system", content }));
}

function encodeTool({ name, description, input }: ToolSpec): Uint8Array {
  const about = description === "" ? {} : { description };
  return bytesOf(
    toJson({ type: "function", function: { name: toolName(name), ...about, parameters: input } }),
  );
}

function remember<K extends object, V>(memo: WeakMap<K, V>, key: K, make: () => V): V {
  const before = memo.get(key);
  if (before !== undefined) return before;
  const made = make();
  memo.set(key, made);
  return made;
}
