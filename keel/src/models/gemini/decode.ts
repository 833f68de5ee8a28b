/**
 * The chunks of a Gemini reply as ModelEvents: pure, one chunk in, none or more of ours out. A proof of thinking belongs to
 * the very part that carried it: before a call or a text it is kept as a thought of its own, alone as a block that only
 * this provider understands. So the next request can hold it at the same place.
 */
import type { Fault } from "../../kernel/fault.ts";
import {
  asList,
  asObject,
  asText,
  isDeeperThan,
  isObject,
  type Json,
  own,
  present,
  wellFormedJson,
} from "../../kernel/json.ts";
import type { ModelEvent } from "../../ports/model.ts";
import type { Block } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";
import { count, hasOddCount, malformed, maxReplyCharacters } from "../read-answer.ts";
import { givenId } from "./names.ts";

export type GeminiDecoder = {
  /** One chunk, parsed. Throws `stream_malformed`, or what `errorOf` makes of an error of the provider. */
  push(chunk: Json): ModelEvent[];
  isOver(): boolean;
  /** The last events, when the reply is whole; none when it broke off. */
  finish(): ModelEvent[];
};

export type GeminiDecoderOptions = {
  /** Whom we asked. */
  readonly model: string;
  readonly nameOf: (wire: string) => string;
  readonly errorOf: (wire: unknown) => Fault;
};

type GeminiProse = { readonly type: "text" | "thinking"; readonly at: number; text: string };

/** What a part counts for beside its text: no server may send them for ever either. */
const partCharacters = 100;
const maxArgumentDepth = 200;

export function geminiDecoder({ model, nameOf, errorOf }: GeminiDecoderOptions): GeminiDecoder {
  const content: (Block | undefined)[] = [];
  let started = false;
  let providerId: string | undefined;
  let prose: GeminiProse | undefined;
  let calls = 0;
  let stop: Stop | undefined;
  let usage: Usage = noUsage;
  let isUnsure = false;
  let characters = 0;

  const start = (chunk: Record<string, unknown>): ModelEvent[] => {
    if (started) return [];
    started = true;
    providerId = asText(chunk["responseId"]) || undefined;
    return [{ type: "start", ...present({ providerId }), model: asText(chunk["modelVersion"]) || model }];
  };

  const closeProse = (): ModelEvent[] => {
    if (!prose) return [];
    const { type, at: index, text } = prose;
    const block: Block = type === "text" ? { type, text } : { type, text, model };
    content[index] = block;
    prose = undefined;
    return [{ type: "block.end", index, block }];
  };

  const place = (block: Block): { readonly index: number; readonly begun: ModelEvent } => {
    const index = content.push(undefined) - 1;
    return { index, begun: { type: "block.start", index, block } };
  };

  /** A whole block, as it is. */
  const add = (block: Block, shell: Block, between: (index: number) => ModelEvent[]): ModelEvent[] => {
    const before = closeProse();
    const { index, begun } = place(shell);
    content[index] = block;
    return [...before, begun, ...between(index), { type: "block.end", index, block }];
  };

  const addProof = (signature: string): ModelEvent[] =>
    add({ type: "thinking", text: "", signature, model }, { type: "thinking", text: "" }, (index) => [
      { type: "signature", index, text: signature },
    ]);

  const addProse = (type: GeminiProse["type"], text: string): ModelEvent[] => {
    if (text === "") return [];
    const events: ModelEvent[] = [];
    if (prose?.type !== type) {
      events.push(...closeProse());
      const { index, begun } = place({ type, text: "" });
      prose = { type, at: index, text: "" };
      events.push(begun);
    }
    prose.text += text;
    events.push({ type, index: prose.at, text });
    return events;
  };

  const addCall = (wire: Record<string, unknown>): ModelEvent[] => {
    const name = nameOf(asText(wire["name"]));
    if (name === "") throw malformed("a call without a name");
    const args = wire["args"] ?? {};
    const id = asText(wire["id"]) || givenId(providerId ?? model, calls);
    calls += 1;
    const isUsable = isObject(args) && !isDeeperThan(args, maxArgumentDepth);
    const json = isUsable ? wellFormedJson(args) : "";
    const shell: Block = { type: "tool_use", id, name, input: {} };
    const block: Block = isUsable ? { ...shell, input: args as Json } : { ...shell, broken: asText(args) };
    return add(block, shell, (index) => (json === "" ? [] : [{ type: "call", index, json }]));
  };

  const addPart = (part: Record<string, unknown>): ModelEvent[] => {
    const proof = asText(part["thoughtSignature"]);
    const text = asText(part["text"]);
    characters += partCharacters + text.length + proof.length;
    if (characters > maxReplyCharacters) throw malformed("the reply does not end");
    if (isObject(part["functionCall"]))
      return [...(proof === "" ? [] : addProof(proof)), ...addCall(part["functionCall"])];
    if (part["thought"] === true) return addProse("thinking", text);
    if (proof === "") return addProse("text", text);
    if (text !== "") return [...addProof(proof), ...addProse("text", text), ...closeProse()];
    const alone: Block = { type: "foreign", provider: "google", data: { model, thoughtSignature: proof } };
    return add(alone, alone, () => []);
  };

  return {
    push(chunk) {
      if (!isObject(chunk)) throw malformed("a chunk that is no object");
      if (isObject(chunk["error"])) throw errorOf(chunk["error"]);
      const events = start(chunk);
      if (isObject(chunk["usageMetadata"])) {
        usage = decodeUsage(chunk["usageMetadata"]);
        isUnsure = hasOddCount(chunk["usageMetadata"], ["promptTokenCount", "candidatesTokenCount"]);
      }
      // What was asked is refused: there is no reply.
      if (asObject(chunk["promptFeedback"])["blockReason"] !== undefined) stop = "refusal";
      const candidate = asObject(asList(chunk["candidates"])[0]);
      const parts = asList(asObject(candidate["content"])["parts"]).filter(isObject);
      if (stop !== undefined && parts.length > 0) throw malformed("a part after the end of the reply");
      for (const part of parts) events.push(...addPart(part));
      const reason = asText(candidate["finishReason"]);
      if (unreadable.includes(reason))
        throw malformed(`the model wrote a call that cannot be read (${reason})`);
      if (reason !== "") stop = own(stops, reason) ?? "end";
      return events;
    },
    isOver: () => stop !== undefined,
    finish() {
      if (!started || stop === undefined) return [];
      const events = closeProse();
      const whole = content.filter((block) => block !== undefined);
      events.push({
        type: "end",
        stop: stop === "end" && calls > 0 ? "tool_use" : stop,
        usage,
        content: whole,
        ...present({ providerId }),
        ...(isUnsure ? { usageUnsure: true } : {}),
      });
      return events;
    },
  };
}

/** Nothing of such a reply can be used, and the next try is another one. */
const unreadable = ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"];

/** A reason that we do not know ends the reply like any other: what it holds is whole. */
const stops: Readonly<Record<string, Stop>> = {
  STOP: "end",
  MAX_TOKENS: "output_limit",
  SAFETY: "refusal",
  RECITATION: "refusal",
  LANGUAGE: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
  IMAGE_SAFETY: "refusal",
};

/** Prompt tokens include those that the cache read, and thoughts are not among those of the candidates. */
function decodeUsage(wire: Record<string, unknown>): Usage {
  const prompt = count(wire["promptTokenCount"]) + count(wire["toolUsePromptTokenCount"]);
  const read = Math.min(prompt, count(wire["cachedContentTokenCount"]));
  const thought = count(wire["thoughtsTokenCount"]);
  return {
    inputTokens: prompt - read,
    outputTokens: count(wire["candidatesTokenCount"]) + thought,
    cacheReadTokens: read,
    cacheWriteTokens: 0,
    thinkingTokens: thought,
  };
}
