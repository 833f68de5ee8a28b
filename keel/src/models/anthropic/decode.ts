/**
 * The events of a Messages stream as ModelEvents: pure, one wire event in, none or more of ours out. What breaks the
 * wire's own rules throws `stream_malformed`; what is merely unknown is kept (`foreign`) or passed over.
 */
import type { Fault } from "../../kernel/fault.ts";
import { asObject, asText, isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { ModelEvent } from "../../ports/model.ts";
import { type Block, toolUses } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { joinUsage, noUsage, type Usage } from "../../protocol/usage.ts";
import { count, countIn, hasOddCount, malformed, maxReplyCharacters } from "../read-answer.ts";
import { type OpenBlock, openBlock, pieceOf, startOf } from "./open-block.ts";

export type MessagesDecoder = {
  /** The data of one event, parsed. Throws `stream_malformed`, or what `errorOf` makes of an error of the provider. */
  push(event: Json): ModelEvent[];
  /** A further piece of what is being written, from an event as it stands on the wire. Undefined: it must be parsed. */
  addPiece(record: string): ModelEvent | undefined;
  /** The reply is whole: the event to end with. Nothing may be pushed after it but keep-alives. */
  ended(): Extract<ModelEvent, { type: "end" }> | undefined;
};

export type MessagesDecoderOptions = {
  /** Whom we asked: it signs its thinking. */
  readonly model: string;
  readonly errorOf: (wire: unknown) => Fault;
};

export function messagesDecoder({ model, errorOf }: MessagesDecoderOptions): MessagesDecoder {
  const open = new Map<number, { at: number; block: OpenBlock }>();
  const content: (Block | undefined)[] = [];
  const used = new Set<number>();
  const callIds = new Set<string>();
  let started: { providerId?: string } | undefined;
  let stop: Stop | undefined;
  let usage: Usage = noUsage;
  let isUnsure = false;
  let end: Extract<ModelEvent, { type: "end" }> | undefined;
  let characters = 0;
  /** The block that the newest event added to: the next one most often does too. */
  let writing: { readonly start: string; add(piece: string): ModelEvent } | undefined;

  const start = (message: Json | undefined): ModelEvent[] => {
    if (started) throw malformed("a second start of the message");
    if (!isObject(message)) throw malformed("a start without a message");
    const { id, model: name } = message;
    started = typeof id === "string" ? { providerId: id } : {};
    usage = decodeUsage(message["usage"]);
    isUnsure = hasOddCount(message["usage"], countFields);
    return [{ type: "start", ...started, model: typeof name === "string" ? name : model, usage }];
  };

  const startBlock = (index: number, wire: Json | undefined): ModelEvent[] => {
    if (used.has(index)) throw malformed(`block ${index} started twice`);
    if (!isObject(wire)) throw malformed("a block without content");
    used.add(index);
    const block = openBlock(wire, model);
    if (block.callId !== undefined) {
      if (callIds.has(block.callId)) throw malformed("two calls with the same id");
      callIds.add(block.callId);
    }
    const at = content.push(undefined) - 1;
    open.set(index, { at, block });
    return [{ type: "block.start", index: at, block: block.shell }, ...block.first(at)];
  };

  const opened = (index: number) => {
    const found = open.get(index);
    if (!found) throw malformed(`block ${index} is not open`);
    return found;
  };

  const measure = (more: number): void => {
    characters += more;
    if (characters > maxReplyCharacters) throw malformed("the reply does not end");
  };

  const addToBlock = (index: number, delta: Json | undefined): ModelEvent[] => {
    const { at, block } = opened(index);
    if (!isObject(delta)) throw malformed("a delta without content");
    const events = block.add(delta, at);
    for (const event of events) measure(lengthOf(event));
    const { pieces } = block;
    if (pieces && pieces.type === delta["type"])
      writing = { start: startOf(pieces.type, index), add: (piece) => pieces.add(piece, at) };
    return events;
  };

  const endBlock = (index: number): ModelEvent[] => {
    const { at, block } = opened(index);
    open.delete(index);
    const closed = block.close();
    content[at] = closed;
    return [{ type: "block.end", index: at, block: closed }];
  };

  const finish = (): void => {
    if (open.size > 0) throw malformed("the message ended inside a block");
    if (stop === undefined) throw malformed("the message ended without a reason");
    const whole = content.filter((block) => block !== undefined);
    // Some servers say "end" although they ask for tools.
    const reason = stop === "end" && toolUses(whole).length > 0 ? "tool_use" : stop;
    end = { type: "end", stop: reason, usage, content: whole, ...started };
    if (isUnsure) end.usageUnsure = true;
  };

  const mustRun = (type: string): void => {
    if (end) throw malformed(`${type} after the end of the message`);
    if (!started && type !== "message_start") throw malformed(`${type} before the start of the message`);
  };

  const handlers: Readonly<Record<string, (event: JsonObject) => ModelEvent[]>> = {
    message_start: (event) => start(event["message"]),
    content_block_start: (event) => startBlock(indexOf(event), event["content_block"]),
    content_block_delta: (event) => addToBlock(indexOf(event), event["delta"]),
    content_block_stop: (event) => endBlock(indexOf(event)),
    message_delta(event) {
      stop = stopOf(event["delta"]) ?? stop;
      // Counts are totals so far, and some servers leave out in one event what they said in another: the larger one holds.
      usage = joinUsage(usage, decodeUsage(event["usage"]), Math.max);
      isUnsure ||= hasOddCount(event["usage"], countFields);
      return [];
    },
    message_stop() {
      finish();
      return [];
    },
  };

  return {
    ended: () => end,
    addPiece(record) {
      const piece = writing && pieceOf(record, writing.start);
      if (!writing || !piece) return undefined;
      measure(piece.length);
      return writing.add(piece);
    },
    push(event) {
      writing = undefined;
      if (!isObject(event)) throw malformed("an event that is no object");
      const type = asText(event["type"]);
      if (type === "error") throw errorOf(event["error"]);
      const handle = Object.hasOwn(handlers, type) ? handlers[type] : undefined;
      if (!handle) return [];
      mustRun(type);
      return handle(event);
    },
  };
}

/** A whole message, from a server that does not stream, as the events that would have streamed it. */
export function* asStream(message: JsonObject): Generator<Json> {
  const { content = [], stop_reason = null, usage = null, ...head } = message;
  yield { type: "message_start", message: { ...head, usage } };
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    yield { type: "content_block_start", index, content_block: block };
    yield { type: "content_block_stop", index };
  }
  yield { type: "message_delta", delta: { stop_reason }, usage };
  yield { type: "message_stop" };
}

const stops: Readonly<Record<string, Stop>> = {
  end_turn: "end",
  tool_use: "tool_use",
  max_tokens: "output_limit",
  model_context_window_exceeded: "window_full",
  stop_sequence: "stop_sequence",
  pause_turn: "pause",
  refusal: "refusal",
};

/** A reason that we do not know ends the reply like any other: what it holds is whole. */
function stopOf(delta: Json | undefined): Stop | undefined {
  const reason = asObject(delta)["stop_reason"];
  if (typeof reason !== "string") return undefined;
  return Object.hasOwn(stops, reason) ? stops[reason] : "end";
}

function indexOf({ index }: JsonObject): number {
  if (typeof index !== "number" || !Number.isSafeInteger(index) || index < 0)
    throw malformed("a block without index");
  return index;
}

function lengthOf(event: ModelEvent): number {
  switch (event.type) {
    case "text":
    case "thinking":
    case "signature":
      return event.text.length;
    case "call":
      return event.json.length;
    default:
      return 0;
  }
}

const countFields = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
];

/** Token counts as the provider sends them, made safe: what is missing, negative or no number counts as nothing. */
function decodeUsage(wire: unknown): Usage {
  if (!isObject(wire)) return noUsage;
  const cacheWriteTokens = count(wire["cache_creation_input_tokens"]);
  return {
    inputTokens: count(wire["input_tokens"]),
    outputTokens: count(wire["output_tokens"]),
    cacheReadTokens: count(wire["cache_read_input_tokens"]),
    cacheWriteTokens,
    // A part of the writes, whatever is claimed: the bill must not go below zero.
    cacheWriteLongTokens: Math.min(
      cacheWriteTokens,
      countIn(wire["cache_creation"], "ephemeral_1h_input_tokens"),
    ),
    thinkingTokens: countIn(wire["output_tokens_details"], "thinking_tokens"),
    webSearches: countIn(wire["server_tool_use"], "web_search_requests"),
  };
}
