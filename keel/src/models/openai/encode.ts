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
import type { BytesSum, RequestSums } from "../../protocol/request-sums.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { RunningDigest, sumOf } from "../digest.ts";
import { remember } from "../encoding.ts";
import { toolName } from "./names.ts";
import { bytesOf, type ChatEncodedMessage, type ChatPart, encodeMessage } from "./parts.ts";
import { effortField, type ServerTraits } from "./traits.ts";

export type ChatEncoder = (
  request: ModelRequest,
  info: ModelInfo,
  traits: ServerTraits,
) => { readonly body: Uint8Array; readonly sums: RequestSums };

/** A session and some agents of it: one more makes the oldest be hashed anew when it speaks next. */
const maxHashed = 8;

export function chatEncoder(): ChatEncoder {
  const messages = new WeakMap<Message, ChatEncodedMessage>();
  const tools = new WeakMap<ToolSpec, Uint8Array>();
  const systems = new WeakMap<readonly string[], Uint8Array>();
  const toolSums = new WeakMap<readonly ToolSpec[], BytesSum>();
  const systemSums = new WeakMap<readonly string[], BytesSum>();
  const hashed = new Map<string, HashedStart>();

  /** The sum of a body: only what it adds to the start of the one before it is read. */
  const sumOfBody = (session: string, { head, pieces, steady }: ChatBody): BytesSum => {
    const before = hashed.get(session);
    const isSame =
      before?.head === head &&
      before.pieces.length <= steady &&
      before.pieces.every((one, at) => one === pieces[at]);
    const found = isSame ? before : { head, pieces: [], digest: new RunningDigest() };
    hashed.delete(session);
    hashed.set(session, found);
    if (hashed.size > maxHashed) hashed.delete([...hashed.keys()][0] ?? "");
    if (!isSame) found.digest.add(bytesOf(head));
    for (const piece of pieces.slice(found.pieces.length, steady)) {
      found.digest.add(piece);
      found.pieces.push(piece);
    }
    return found.digest.sumWith(pieces.slice(steady));
  };

  return (request, info, traits) => {
    const reader = { images: info.abilities.images };
    const encoded = request.messages.map((message) => {
      const before = messages.get(message);
      if (before && (before.reader === undefined || before.reader.images === reader.images)) return before;
      const made = encodeMessage(message, reader);
      messages.set(message, made);
      return made;
    });
    const specs = request.tools.map((tool) => remember(tools, tool, () => encodeTool(tool)));
    const system = remember(systems, request.system, () => encodeSystem(request.system));
    const written = join(headOf(request, traits), {
      tools: specs,
      system,
      messages: encoded.filter(
        ({ results, parts, calls }) => results.length + parts.length + calls.length > 0,
      ),
    });
    return {
      body: Buffer.concat([bytesOf(written.head), ...written.pieces]),
      sums: {
        body: sumOfBody(request.session, written),
        ...(specs.length === 0
          ? {}
          : { tools: remember(toolSums, request.tools, () => sumOf(specs.flatMap(afterComma))) }),
        ...(system.length === 0
          ? {}
          : { system: remember(systemSums, request.system, () => sumOf([system])) }),
      },
    };
  };
}

const afterComma = (piece: Uint8Array, index: number): Uint8Array[] =>
  index === 0 ? [piece] : [comma, piece];

/** A body in pieces, of which the first `steady` stand at the same place in the next request too. */
type ChatBody = {
  readonly head: string;
  readonly pieces: readonly Uint8Array[];
  readonly steady: number;
};

/** What the running digest of a session has read, by the pieces themselves. */
type HashedStart = { readonly head: string; readonly pieces: Uint8Array[]; readonly digest: RunningDigest };

type ChatRequestParts = {
  readonly tools: readonly Uint8Array[];
  /** A whole message; empty when there is nothing to say. */
  readonly system: Uint8Array;
  readonly messages: readonly ChatEncodedMessage[];
};

function join(head: string, { tools, system, messages }: ChatRequestParts): ChatBody {
  const pieces: Uint8Array[] = [];
  const put = (piece: Uint8Array): void => void pieces.push(piece);
  if (tools.length > 0) {
    put(openTools);
    putList(put, tools, comma);
    put(closeList);
  }
  put(openMessages);
  let count = 0;
  /** Starts a message. */
  const next = (): void => {
    if (count > 0) put(comma);
    count += 1;
  };
  if (system.length > 0) {
    next();
    put(system);
  }
  // Whoever speaks next may be joined to the last turn.
  let steady = pieces.length;
  for (const turn of turnsOf(messages)) {
    steady = pieces.length;
    if (turn[0]?.role === "user") putUser(turn, put, next);
    else putAssistant(turn, put, next);
  }
  put(closeBody);
  return { head, pieces, steady };
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

type Put = (piece: Uint8Array) => void;

/** Results first, each a message of its own; then what the user says, if anything. */
function putUser(turn: readonly ChatEncodedMessage[], put: Put, next: () => void): void {
  for (const { results } of turn) {
    for (const result of results) {
      next();
      put(result);
    }
  }
  const parts = turn.length === 1 ? (turn[0]?.parts ?? []) : turn.flatMap((message) => message.parts);
  if (parts.length === 0) return;
  next();
  // A plain text where that is enough: not every server takes a list.
  if (parts.every(({ kind }) => kind === "text")) {
    put(userText);
    putTexts(put, parts);
    return put(closeText);
  }
  put(userList);
  for (const [index, { kind, bytes }] of parts.entries()) {
    if (index > 0) put(comma);
    if (kind === "text") put(openTextPart);
    put(bytes);
    if (kind === "text") put(closeText);
  }
  put(closeMessage);
}

function putAssistant(turn: readonly ChatEncodedMessage[], put: Put, next: () => void): void {
  const said = turn.flatMap(({ parts }) => parts.filter(({ kind }) => kind === "text"));
  const calls = turn.flatMap((message) => message.calls);
  next();
  put(assistantContent);
  if (said.length === 0) put(nothing);
  else {
    put(quote);
    putTexts(put, said);
    put(quote);
  }
  if (calls.length > 0) {
    put(openCalls);
    putList(put, calls, comma);
    put(closeList);
  }
  put(closeObject);
}

const putTexts = (put: Put, parts: readonly ChatPart[]): void =>
  putList(
    put,
    parts.map(({ bytes }) => bytes),
    paragraph,
  );

function putList(put: Put, pieces: readonly Uint8Array[], mark: Uint8Array): void {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) put(mark);
    put(piece);
  }
}

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
const closeBody = bytesOf("]}");

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
