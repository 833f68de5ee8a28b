/** The parts of a package's stream as ModelEvents: pure, one part in, none or more of ours out. */
import { asObject, asText, isObject, present } from "../../kernel/json.ts";
import type { ModelEvent } from "../../ports/model.ts";
import type { Block } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";
import { inputOf } from "../openai/open-calls.ts";
import { count, countIn, malformed, maxReplyCharacters } from "../read-answer.ts";
import type { StreamPart } from "./contract.ts";

export type PartDecoder = {
  /** Throws `stream_malformed`, or what stands in a part that is an error. */
  push(part: StreamPart): ModelEvent[];
  /** The last event, once the reply is whole. */
  ended(): ModelEvent | undefined;
};

export type PartDecoderOptions = {
  /** Whom we asked. */
  readonly model: string;
  readonly nameOf: (wire: string) => string;
  readonly errorOf: (thrown: unknown) => Error;
};

type OpenPart = {
  readonly kind: "text" | "thinking" | "call";
  readonly at: number;
  readonly name: string;
  text: string;
  metadata: unknown;
};

/** What a part counts for beside its text: no server may send them for ever either. */
const partCharacters = 100;

export function partDecoder({ model, nameOf, errorOf }: PartDecoderOptions): PartDecoder {
  const content: (Block | undefined)[] = [];
  const open = new Map<string, OpenPart>();
  let isStarted = false;
  let providerId: string | undefined;
  let calls = 0;
  let characters = 0;
  let end: ModelEvent | undefined;

  const start = (part: StreamPart): ModelEvent[] => {
    if (isStarted) return [];
    isStarted = true;
    providerId = asText(part["id"]) || undefined;
    return [{ type: "start", ...present({ providerId }), model: asText(part["modelId"]) || model }];
  };

  const begin = (kind: OpenPart["kind"], id: string, name = ""): ModelEvent[] => {
    const key = `${kind} ${id}`;
    if (open.has(key)) return [];
    const at = content.push(undefined) - 1;
    open.set(key, { kind, at, name: nameOf(name), text: "", metadata: undefined });
    const block: Block =
      kind === "call" ? { type: "tool_use", id, name: nameOf(name), input: {} } : { type: kind, text: "" };
    return [{ type: "block.start", index: at, block }];
  };

  const add = (kind: OpenPart["kind"], part: StreamPart): ModelEvent[] => {
    const id = asText(part["id"]);
    const text = asText(part["delta"]);
    // An empty piece of text may carry what the package wants back, and is no text.
    if (kind === "text" && text === "" && !open.has(`text ${id}`))
      return addProof(part["providerMetadata"], "text");
    const begun = kind === "call" ? [] : begin(kind, id);
    const found = open.get(`${kind} ${id}`);
    if (!found) throw malformed("a piece of no call");
    found.metadata = part["providerMetadata"] ?? found.metadata;
    if (text === "") return begun;
    found.text += text;
    const { at: index } = found;
    return [...begun, kind === "call" ? { type: "call", index, json: text } : { type: kind, index, text }];
  };

  const close = (key: string, block: Block): ModelEvent[] => {
    const index = open.get(key)?.at ?? 0;
    open.delete(key);
    content[index] = block;
    return [{ type: "block.end", index, block }];
  };

  const endProse = (kind: "text" | "thinking", part: StreamPart): ModelEvent[] => {
    const key = `${kind} ${asText(part["id"])}`;
    const found = open.get(key);
    if (!found) return [];
    const { text, at: index } = found;
    const metadata = part["providerMetadata"] ?? found.metadata;
    if (kind === "text") return [...close(key, { type: "text", text }), ...addProof(metadata, "text")];
    const signature = isObject(metadata) ? JSON.stringify({ on: "reasoning", metadata }) : undefined;
    const proof: ModelEvent[] =
      signature === undefined ? [] : [{ type: "signature", index, text: signature }];
    return [...proof, ...close(key, { type: "thinking", text, ...present({ signature }), model })];
  };

  /** What the package wants back with a call stands before it, as a thought without words; with a text, behind it. */
  const addProof = (metadata: unknown, on: "call" | "text"): ModelEvent[] => {
    if (!isObject(metadata) || Object.keys(metadata).length === 0) return [];
    const signature = JSON.stringify({ on, metadata });
    const index = content.push(undefined) - 1;
    const block: Block = { type: "thinking", text: "", signature, model };
    content[index] = block;
    return [
      { type: "block.start", index, block: { type: "thinking", text: "" } },
      { type: "signature", index, text: signature },
      { type: "block.end", index, block },
    ];
  };

  const finishCall = (part: StreamPart): ModelEvent[] => {
    const id = asText(part["toolCallId"]);
    const name = asText(part["toolName"]);
    if (id === "" || name === "") throw malformed("a call without an id or a name");
    // Proofs of a call that has begun already are behind its place: a block cannot move.
    const isBegun = open.has(`call ${id}`);
    const proof = isBegun ? [] : addProof(part["providerMetadata"], "call");
    const begun = begin("call", id, name);
    const found = open.get(`call ${id}`);
    const input = part["input"];
    const json = typeof input === "string" ? input : JSON.stringify(input ?? {});
    const late: ModelEvent[] =
      found && found.text === "" && json !== "" ? [{ type: "call", index: found.at, json }] : [];
    calls += 1;
    const block: Block = { type: "tool_use", id, name: nameOf(name), ...inputOf(json, "whole") };
    return [...proof, ...begun, ...late, ...close(`call ${id}`, block)];
  };

  /** What is still open was cut off: a call that was not whole is never run. */
  const closeAll = (): ModelEvent[] =>
    [...open].flatMap(([key, { kind, text, name }]) => {
      if (kind !== "call")
        return close(key, kind === "text" ? { type: kind, text } : { type: kind, text, model });
      calls += 1;
      return close(key, { type: "tool_use", id: key.slice("call ".length), name, ...inputOf(text, "cut") });
    });

  const finish = (part: StreamPart): ModelEvent[] => {
    const reason = reasonOf(part["finishReason"]);
    // A stream that ends without a word of its provider ends so, whatever it held.
    if (reason === undefined) return [];
    if (reason === "error") throw malformed("the provider ended the reply with an error");
    const closed = closeAll();
    end = {
      type: "end",
      stop: stopOf(reason, calls),
      usage: decodeUsage(part["usage"]),
      content: content.filter((block) => block !== undefined),
      ...present({ providerId }),
    };
    return closed;
  };

  return {
    push(part) {
      const type = asText(part["type"]);
      if (type === "error") throw errorOf(part["error"]);
      if (end) throw malformed("a part after the end of the reply");
      characters += partCharacters + asText(part["delta"]).length;
      if (characters > maxReplyCharacters) throw malformed("the reply does not end");
      if (type === "stream-start" || type === "raw" || type === "ping") return [];
      const begun = start(part);
      switch (type) {
        case "text-delta":
          return [...begun, ...add("text", part)];
        case "reasoning-start":
          return [...begun, ...begin("thinking", asText(part["id"]))];
        case "reasoning-delta":
          return [...begun, ...add("thinking", part)];
        case "text-end":
          return [...begun, ...endProse("text", part)];
        case "reasoning-end":
          return [...begun, ...endProse("thinking", part)];
        case "tool-input-start":
          return [
            ...begun,
            ...addProof(part["providerMetadata"], "call"),
            ...begin("call", asText(part["id"]), asText(part["toolName"])),
          ];
        case "tool-input-delta":
          return [...begun, ...add("call", part)];
        case "tool-call":
          return [...begun, ...finishCall(part)];
        case "finish":
          return [...begun, ...finish(part)];
        default:
          return begun;
      }
    },
    ended: () => end,
  };
}

/** A word in the oldest contract, and since then an object that also has the provider's own; undefined when it gave none. */
function reasonOf(said: unknown): string | undefined {
  const reason = typeof said === "string" ? said : asText(asObject(said)["unified"]);
  const isSilent = isObject(said) && reason === "other" && said["raw"] === undefined;
  return reason === "unknown" || reason === "" || isSilent ? undefined : reason;
}

function stopOf(reason: string, calls: number): Stop {
  if (reason === "length") return "output_limit";
  if (reason === "content-filter") return "refusal";
  return calls > 0 ? "tool_use" : "end";
}

/** Numbers in the oldest contract, and since then objects. Input includes what the cache read or wrote. */
function decodeUsage(wire: unknown): Usage {
  if (!isObject(wire)) return noUsage;
  const { inputTokens, outputTokens } = wire;
  const input = isObject(inputTokens) ? countIn(inputTokens, "total") : count(inputTokens);
  const told = isObject(inputTokens) ? countIn(inputTokens, "cacheRead") : count(wire["cachedInputTokens"]);
  const read = Math.min(input, told);
  const written = isObject(inputTokens) ? Math.min(input - read, countIn(inputTokens, "cacheWrite")) : 0;
  return {
    inputTokens: input - read - written,
    outputTokens: isObject(outputTokens) ? countIn(outputTokens, "total") : count(outputTokens),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    thinkingTokens: isObject(outputTokens)
      ? countIn(outputTokens, "reasoning")
      : count(wire["reasoningTokens"]),
  };
}
