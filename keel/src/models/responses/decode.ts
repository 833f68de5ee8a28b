/**
 * The events of a response as ModelEvents: pure, one event in, none or more of ours out. Each item of the output is a block;
 * an item that is done is what counts, and its pieces before that are only shown.
 */
import type { Fault } from "../../kernel/fault.ts";
import {
  asList,
  asObject,
  asText,
  isObject,
  type Json,
  type JsonObject,
  present,
} from "../../kernel/json.ts";
import { fingerprint } from "../../kernel/text.ts";
import type { ModelEvent } from "../../ports/model.ts";
import type { Block, ToolUse } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";
import { inputOf } from "../openai/open-calls.ts";
import { count, countIn, hasOddCount, malformed, maxReplyCharacters } from "../read-answer.ts";

export type ResponsesDecoder = {
  /** One event, parsed. Throws `stream_malformed`, or what `errorOf` makes of an error of the provider. */
  push(event: Json): ModelEvent[];
  /** The last event, once the reply is whole. */
  ended(): ModelEvent | undefined;
};

export type ResponsesDecoderOptions = {
  /** Whom we asked. */
  readonly model: string;
  readonly nameOf: (wire: string) => string;
  readonly errorOf: (wire: unknown) => Fault;
};

type WireObject = Readonly<Record<string, unknown>>;

/** An item that is on its way. */
type OpenItem = {
  readonly kind: "text" | "thinking" | "call";
  readonly at: number;
  readonly id: string;
  readonly name: string;
  text: string;
  isDone: boolean;
};

/** What an item counts for beside its text: no server may send them for ever either. */
const itemCharacters = 100;

export function responsesDecoder({ model, nameOf, errorOf }: ResponsesDecoderOptions): ResponsesDecoder {
  const content: (Block | undefined)[] = [];
  const items = new Map<number, OpenItem>();
  let started: { readonly providerId: string | undefined } | undefined;
  let isRefused = false;
  let characters = 0;
  let end: ModelEvent | undefined;

  const start = (response: WireObject): ModelEvent[] => {
    if (started) throw malformed("a second start of the response");
    const providerId = asText(response["id"]) || undefined;
    started = { providerId };
    return [{ type: "start", ...present({ providerId }), model: asText(response["model"]) || model }];
  };

  const grow = (by: number): void => {
    characters += by;
    if (characters > maxReplyCharacters) throw malformed("the reply does not end");
  };

  const open = (number: number, kind: OpenItem["kind"], item: WireObject): ModelEvent[] => {
    if (items.has(number)) throw malformed("an item that begins twice");
    grow(itemCharacters);
    const at = content.push(undefined) - 1;
    const id =
      asText(item["call_id"]) || asText(item["id"]) || `call_${fingerprint(started?.providerId ?? "")}_${at}`;
    const name = nameOf(asText(item["name"]));
    if (kind === "call" && name === "") throw malformed("a call without a name");
    items.set(number, { kind, at, id, name, text: "", isDone: false });
    const block: Block =
      kind === "call" ? { type: "tool_use", id, name, input: {} } : { type: kind, text: "" };
    return [{ type: "block.start", index: at, block }];
  };

  /** Text is opened by its first piece: a message may hold nothing. */
  const add = (number: number, kind: OpenItem["kind"], text: string): ModelEvent[] => {
    if (text === "") return [];
    const begun = items.has(number) ? [] : kind === "call" ? undefined : open(number, kind, {});
    const item = items.get(number);
    if (!begun || item?.kind !== kind || item.isDone) throw malformed("a piece of no item");
    grow(text.length);
    item.text += text;
    const { at: index } = item;
    return [...begun, kind === "call" ? { type: "call", index, json: text } : { type: kind, index, text }];
  };

  const close = (number: number, block: Block): ModelEvent[] => {
    const item = items.get(number);
    if (!item || item.isDone) return [];
    item.isDone = true;
    content[item.at] = block;
    return [{ type: "block.end", index: item.at, block }];
  };

  const finishMessage = (number: number, wire: WireObject): ModelEvent[] => {
    const parts = asList(wire["content"]).filter(isObject);
    if (parts.some(({ type }) => type === "refusal")) isRefused = true;
    const whole = parts.map((part) => asText(part["text"] ?? part["refusal"])).join("");
    const said = items.get(number)?.text ?? "";
    const text = whole === "" ? said : whole;
    if (text === "") return [];
    // A server that sends a message only as a whole has shown nothing of it yet.
    const late = said === "" ? add(number, "text", text) : [];
    return [...late, ...close(number, { type: "text", text })];
  };

  const finishThought = (number: number, wire: WireObject): ModelEvent[] => {
    const begun = items.has(number) ? [] : open(number, "thinking", wire);
    const said = items.get(number)?.text ?? "";
    const whole = thoughtText(wire);
    const late = said === "" ? add(number, "thinking", whole) : [];
    const isKept = typeof wire["encrypted_content"] === "string";
    const signature = isKept ? JSON.stringify(wire) : undefined;
    const at = items.get(number)?.at ?? 0;
    return [
      ...begun,
      ...late,
      ...(signature === undefined ? [] : [{ type: "signature", index: at, text: signature } as const]),
      ...close(number, { type: "thinking", text: said || whole, ...present({ signature }), model }),
    ];
  };

  const finishCall = (number: number, wire: WireObject): ModelEvent[] => {
    const begun = items.has(number) ? [] : open(number, "call", wire);
    const item = items.get(number);
    if (item?.kind !== "call") throw malformed("an item that changes its kind");
    const json = asText(wire["arguments"]) || item.text;
    const late = item.text === "" ? add(number, "call", json) : [];
    const ending = wire["status"] === "incomplete" ? "cut" : "whole";
    const { id, name } = item;
    const block: ToolUse = { type: "tool_use", id, name, ...inputOf(json, ending) };
    return [...begun, ...late, ...close(number, block)];
  };

  const finishItem = (number: number, wire: WireObject): ModelEvent[] => {
    switch (wire["type"]) {
      case "message":
        return finishMessage(number, wire);
      case "reasoning":
        return finishThought(number, wire);
      case "function_call":
        return finishCall(number, wire);
      default:
        // A tool of the provider, which none was asked for.
        return [];
    }
  };

  const finish = (response: WireObject, how: "completed" | "incomplete"): ModelEvent[] => {
    const begun = started ? [] : start(response);
    const events = asList(response["output"]).flatMap((item, number) =>
      isObject(item) && !items.get(number)?.isDone ? finishItem(number, item) : [],
    );
    const cut = [...items].flatMap(([number, item]) =>
      item.isDone ? [] : close(number, unfinished(item, model)),
    );
    const whole = content.filter((block) => block !== undefined);
    const calls = whole.filter(({ type }) => type === "tool_use").length;
    const { usage } = response;
    const isUnsure = isObject(usage) && hasOddCount(usage, ["input_tokens", "output_tokens"]);
    end = {
      type: "end",
      stop: stopOf(response, { how, isRefused, calls }),
      usage: decodeUsage(usage),
      content: whole,
      ...present({ providerId: started?.providerId }),
      ...(isUnsure ? { usageUnsure: true } : {}),
    };
    return [...begun, ...events, ...cut];
  };

  return {
    push(event) {
      if (!isObject(event)) throw malformed("an event that is no object");
      const type = asText(event["type"]);
      if (type === "error") throw errorOf(event["error"] ?? { ...event, type: undefined });
      const response = asObject(event["response"]);
      if (type === "response.failed") throw errorOf(response["error"]);
      if (end) throw malformed("an event after the end of the reply");
      if (type === "response.created" || type === "response.queued")
        return started && type === "response.queued" ? [] : start(response);
      if (type === "response.completed") return finish(response, "completed");
      if (type === "response.incomplete") return finish(response, "incomplete");
      if (!started) throw malformed("an event before the start of the response");
      const number = count(event["output_index"]);
      const piece = asText(event["delta"]);
      const item = asObject(event["item"]);
      switch (type) {
        case "response.output_item.added":
          if (item["type"] === "function_call") return open(number, "call", item);
          return item["type"] === "reasoning" ? open(number, "thinking", item) : [];
        case "response.output_item.done":
          return finishItem(number, item);
        case "response.output_text.delta":
          return add(number, "text", piece);
        case "response.refusal.delta":
          isRefused = true;
          return add(number, "text", piece);
        case "response.function_call_arguments.delta":
          return add(number, "call", piece);
        case "response.reasoning_summary_part.added":
          return items.get(number)?.text ? add(number, "thinking", "\n\n") : [];
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          return add(number, "thinking", piece);
        default:
          return [];
      }
    },
    ended: () => end,
  };
}

/** A reply that was cut off leaves an item open: a call that was not whole is never run. */
function unfinished({ kind, id, name, text }: OpenItem, model: string): Block {
  if (kind === "call") return { type: "tool_use", id, name, ...inputOf(text, "cut") };
  return kind === "text" ? { type: "text", text } : { type: "thinking", text, model };
}

const thoughtText = ({ summary, content }: WireObject): string =>
  [...asList(summary), ...asList(content)]
    .map((part) => asText(asObject(part)["text"]))
    .filter((text) => text !== "")
    .join("\n\n");

type Ending = {
  readonly how: "completed" | "incomplete";
  readonly isRefused: boolean;
  readonly calls: number;
};

function stopOf({ incomplete_details }: WireObject, { how, isRefused, calls }: Ending): Stop {
  if (isRefused) return "refusal";
  if (how === "completed") return calls > 0 ? "tool_use" : "end";
  return asObject(incomplete_details)["reason"] === "content_filter" ? "refusal" : "output_limit";
}

/** Input tokens include those that the cache read or wrote; ours do not. No count is made up. */
function decodeUsage(wire: unknown): Usage {
  if (!isObject(wire)) return noUsage;
  const input = count(wire["input_tokens"]);
  const details = wire["input_tokens_details"];
  const read = Math.min(input, countIn(details, "cached_tokens"));
  const written = Math.min(input - read, countIn(details, "cache_write_tokens"));
  return {
    inputTokens: input - read - written,
    outputTokens: count(wire["output_tokens"]),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    thinkingTokens: countIn(wire["output_tokens_details"], "reasoning_tokens"),
  };
}

/** The events of a response that came whole. */
export function* asStream(response: JsonObject): Generator<Json> {
  const { status, error } = response;
  yield { type: "response.created", response: { ...response, output: [] } };
  if (status === "failed" || isObject(error)) yield { type: "response.failed", response };
  else yield { type: status === "incomplete" ? "response.incomplete" : "response.completed", response };
}
