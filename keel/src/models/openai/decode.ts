/**
 * The chunks of a chat completion as ModelEvents: pure, one chunk in, none or more of ours out. Blocks close when the
 * reply ends, since only then it is certain that nothing more belongs to them.
 */
import type { Fault } from "../../kernel/fault.ts";
import { asText, isObject, type Json, type JsonObject, present } from "../../kernel/json.ts";
import { fingerprint } from "../../kernel/text.ts";
import type { ModelEvent } from "../../ports/model.ts";
import type { Block } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";
import { count, countIn, hasOddCount, malformed, maxReplyCharacters } from "../read-answer.ts";
import { callsInText } from "./calls-in-text.ts";
import { openCalls } from "./open-calls.ts";
import { thinkTags } from "./think-tags.ts";

export type ChatDecoder = {
  /** One chunk, parsed. Throws `stream_malformed`, or what `errorOf` makes of an error of the provider. */
  push(chunk: Json): ModelEvent[];
  /** The server says that nothing follows. */
  done(): void;
  /** The last events, when the reply is whole; none when it broke off. */
  finish(): ModelEvent[];
};

export type ChatDecoderOptions = {
  /** Whom we asked. */
  readonly model: string;
  readonly nameOf: (wire: string) => string;
  /** Whether there is such a tool, for calls that stand in the text. */
  readonly isTool?: ((name: string) => boolean) | undefined;
  readonly errorOf: (wire: unknown) => Fault;
};

/** What an empty call counts for: no server may send them for ever either. */
const callCharacters = 100;

type Prose = { readonly type: "text" | "thinking"; readonly at: number; text: string };

export function chatDecoder({ model, nameOf, isTool, errorOf }: ChatDecoderOptions): ChatDecoder {
  const content: (Block | undefined)[] = [];
  const place = (): number => content.push(undefined) - 1;
  const calls = openCalls({
    place,
    nameOf,
    idOf: (position) => `call_${fingerprint(providerId ?? "")}_${position}`,
  });
  const tags = thinkTags();
  let started = false;
  let isDone = false;
  let providerId: string | undefined;
  let prose: Prose | undefined;
  let stop: Stop | undefined;
  let usage: Usage = noUsage;
  let isUnsure = false;
  let characters = 0;

  const start = (chunk: JsonObject): ModelEvent[] => {
    if (started) return [];
    started = true;
    providerId = asText(chunk["id"]) || undefined;
    return [{ type: "start", ...present({ providerId }), model: asText(chunk["model"]) || model }];
  };

  const closeProse = (): ModelEvent[] => {
    if (!prose) return [];
    const { type, at: index, text } = prose;
    const block: Block = type === "text" ? { type, text } : { type, text, model };
    content[index] = block;
    prose = undefined;
    return [{ type: "block.end", index, block }];
  };

  const addProse = (type: Prose["type"], text: string): ModelEvent[] => {
    const events: ModelEvent[] = [];
    if (prose?.type !== type) {
      events.push(...closeProse());
      prose = { type, at: place(), text: "" };
      events.push({ type: "block.start", index: prose.at, block: { type, text: "" } });
    }
    prose.text += text;
    characters += text.length;
    events.push({ type, index: prose.at, text });
    return events;
  };

  const addCall = (wire: Json): ModelEvent[] => {
    const before = calls.count();
    const events = calls.add(wire);
    for (const event of events) if (event.type === "call") characters += event.json.length;
    if (calls.count() === before) return events;
    characters += callCharacters;
    return [...closeProse(), ...events];
  };

  const addDelta = (delta: JsonObject): ModelEvent[] => {
    const events = contentPieces(delta)
      .flatMap((piece) => (piece.type === "text" ? tags.add(piece.text) : [piece]))
      .flatMap(({ type, text }) => addProse(type, text));
    const refusal = asText(delta["refusal"]);
    if (refusal !== "") {
      events.push(...addProse("text", refusal));
      stop = "refusal";
    }
    for (const call of callsIn(delta)) events.push(...addCall(call));
    if (characters > maxReplyCharacters) throw malformed("the reply does not end");
    return events;
  };

  return {
    push(chunk) {
      if (!isObject(chunk)) throw malformed("a chunk that is no object");
      const error = errorIn(chunk);
      if (error !== undefined) throw errorOf(error);
      if (isDone) throw malformed("a chunk after the end of the reply");
      const events = start(chunk);
      if (isObject(chunk["usage"])) {
        usage = decodeUsage(chunk["usage"]);
        isUnsure = hasOddCount(chunk["usage"], ["prompt_tokens", "completion_tokens"]);
      }
      const choice = choiceIn(chunk);
      if (!choice) return events;
      const delta = choice["delta"] ?? choice["message"];
      if (isObject(delta)) events.push(...addDelta(delta));
      const reason = choice["finish_reason"];
      if (typeof reason === "string" && stop !== "refusal") stop = stopOf(reason);
      return events;
    },
    done() {
      isDone = true;
    },
    finish() {
      if (!started || (stop === undefined && !isDone)) return [];
      const events = [...tags.end().flatMap(({ type, text }) => addProse(type, text)), ...closeProse()];
      if (calls.count() === 0 && isTool && (stop === undefined || stop === "end"))
        events.push(...addTextCalls(content, isTool, `call_${fingerprint(providerId ?? "")}`));
      for (const { at, events: last, block } of calls.close(stop === "output_limit" ? "cut" : "whole")) {
        content[at] = block;
        events.push(...last);
      }
      const whole = content.filter((block) => block !== undefined);
      events.push({
        type: "end",
        stop: finalStop(stop, whole.filter(({ type }) => type === "tool_use").length),
        usage,
        content: whole,
        ...present({ providerId }),
        ...(isUnsure ? { usageUnsure: true } : {}),
      });
      return events;
    },
  };
}

/** The text stays beside what it was taken for: it was shown, and the model finds it there again. */
function addTextCalls(
  content: (Block | undefined)[],
  isTool: (name: string) => boolean,
  id: string,
): ModelEvent[] {
  const texts = content.flatMap((block) => (block?.type === "text" ? [block.text] : []));
  return callsInText(texts.join("\n"), isTool).flatMap(({ name, input, text }, position): ModelEvent[] => {
    const shell: Block = { type: "tool_use", id: `${id}_text_${position}`, name, input: {} };
    const block: Block = input ? { ...shell, input, repaired: text } : { ...shell, broken: text };
    const index = content.push(block) - 1;
    return [
      { type: "block.start", index, block: shell },
      { type: "call", index, json: JSON.stringify(block.input) },
      { type: "block.end", index, block },
    ];
  });
}

/** Servers use these reasons freely: whether there are calls is seen from the calls. */
function finalStop(stop: Stop | undefined, calls: number): Stop {
  if (stop === undefined || stop === "end" || stop === "tool_use") return calls > 0 ? "tool_use" : "end";
  return stop;
}

const stops: Readonly<Record<string, Stop>> = {
  stop: "end",
  length: "output_limit",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal",
};

/** A reason that we do not know ends the reply like any other: what it holds is whole. */
const stopOf = (reason: string): Stop => (Object.hasOwn(stops, reason) ? (stops[reason] ?? "end") : "end");

/** Only one reply is asked for; what belongs to a second one is passed over. */
function choiceIn({ choices }: JsonObject): JsonObject | undefined {
  for (const choice of Array.isArray(choices) ? choices : [])
    if (isObject(choice) && (typeof choice["index"] !== "number" || choice["index"] === 0)) return choice;
  return undefined;
}

/** An error where a chunk should be, as the several servers write it. */
function errorIn(chunk: JsonObject): Json | undefined {
  const { error, object } = chunk;
  if (object === "error") return chunk;
  return error === null ? undefined : error;
}

/** Also the single call of the wire's first version. */
function callsIn({ tool_calls, function_call }: JsonObject): Json[] {
  if (Array.isArray(tool_calls)) return tool_calls;
  return isObject(function_call) ? [{ index: 0, function: function_call }] : [];
}

/**
 * Token counts as servers of this wire send them, made safe. Prompt tokens include those that the cache read or wrote;
 * ours do not. A server that counts nothing has used nothing that we know of: no count is made up.
 */
function decodeUsage(wire: unknown): Usage {
  if (!isObject(wire)) return noUsage;
  const prompt = count(wire["prompt_tokens"]);
  const details = wire["prompt_tokens_details"];
  // A server that tells of hits and misses instead of details means the same by a hit.
  const read = Math.min(prompt, countIn(details, "cached_tokens") || count(wire["prompt_cache_hit_tokens"]));
  const written = Math.min(prompt - read, countIn(details, "cache_write_tokens"));
  return {
    inputTokens: prompt - read - written,
    outputTokens: count(wire["completion_tokens"]),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    thinkingTokens: countIn(wire["completion_tokens_details"], "reasoning_tokens"),
  };
}

/** What of a delta is to be read: text and thinking, under the names that the several servers have for them. */
type ContentPiece = { readonly type: "text" | "thinking"; readonly text: string };

/** In the order in which a model writes: it thinks before it speaks. */
export function contentPieces(delta: JsonObject): ContentPiece[] {
  const thought = asText(delta["reasoning_content"]) || asText(delta["reasoning"]);
  const pieces: ContentPiece[] = [{ type: "thinking", text: thought }, ...partsIn(delta["content"])];
  return pieces.filter(({ text }) => text !== "");
}

/** A text, or a list of parts, of which some may be thoughts. */
function partsIn(content: Json | undefined): ContentPiece[] {
  if (!Array.isArray(content)) return [{ type: "text", text: asText(content) }];
  return content.flatMap((part): ContentPiece[] => {
    if (!isObject(part)) return [];
    const thought = part["thinking"];
    if (thought === undefined) return [{ type: "text", text: asText(part["text"]) }];
    const inner = Array.isArray(thought) ? thought : [thought];
    return inner.map((piece) => ({
      type: "thinking",
      text: isObject(piece) ? asText(piece["text"]) : asText(piece),
    }));
  });
}
