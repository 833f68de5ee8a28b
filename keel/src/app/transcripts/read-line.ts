/** A line of a transcript of the official interface in the words that a log of ours is made of. Pure; what is not understood is left out. */
import { asList, asObject, asText, isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { isUuid } from "../../kernel/uuid.ts";
import { type Block, type InputBlock, type ResultPart, text } from "../../protocol/message.ts";
import { noUsage, plausibleUsage, type Usage } from "../../protocol/usage.ts";
import type { RawLine } from "./index-transcript.ts";
import type { OtherLine } from "./to-events.ts";

export function readLine(raw: RawLine): OtherLine[] {
  const at = timeOf(raw["timestamp"]);
  switch (raw["type"]) {
    case "assistant":
      return replyIn(raw, at);
    case "user":
      return saidIn(raw, at);
    case "attachment":
      return queuedIn(raw, at);
    default:
      return [];
  }
}

const timeOf = (value: unknown): number => {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? 0 : at;
};

/** Words that their harness wrote in the place of a reply are not the model's. */
function replyIn(raw: RawLine, at: number): OtherLine[] {
  const message = asObject(raw["message"]);
  const model = asText(message["model"]);
  if (model === "<synthetic>" || raw["isApiErrorMessage"] === true) return [];
  const content = blocksOf(message["content"]).flatMap((block) => replyBlock(block, model));
  if (content.length === 0) return [];
  const { id } = message;
  const usage = usageIn(message["usage"]);
  const { costUSD } = raw;
  const costUsd = typeof costUSD === "number" && costUSD >= 0 ? costUSD : undefined;
  // Of a line without an id nobody knows what it belongs to: it is a reply of its own.
  const own = asText(id) || asText(raw["uuid"]);
  return [{ kind: "replied", id: own, model, content, usage, costUsd, at }];
}

const blocksOf = (content: unknown): RawLine[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : asList(content).filter(isObject);

function replyBlock(block: RawLine, model: string): Block[] {
  const { type, id, name, input, thinking, signature, data } = block;
  switch (type) {
    case "text":
      return asText(block["text"]).trim() === "" ? [] : [text(asText(block["text"]))];
    case "thinking":
      // Without its proof no provider takes it back.
      if (asText(signature) === "") return [];
      return [{ type, text: asText(thinking), signature: asText(signature), model }];
    case "redacted_thinking":
      return [{ type: "thinking", text: "", hidden: asText(data), model }];
    case "tool_use":
      if (asText(id) === "" || asText(name) === "") return [];
      // What was read from JSON is JSON.
      return [{ type, id: asText(id), name: asText(name), input: asObject(input) as JsonObject }];
    case "server_tool_use":
    case "web_search_tool_result":
    case "web_fetch_tool_result":
      return [{ type: "foreign", provider: "anthropic", data: block as JsonObject }];
    default:
      return [];
  }
}

function usageIn(said: unknown): Usage | undefined {
  if (!isObject(said)) return undefined;
  const count = (value: unknown): number => (typeof value === "number" ? value : 0);
  const long = count(asObject(said["cache_creation"])["ephemeral_1h_input_tokens"]);
  const searches = count(asObject(said["server_tool_use"])["web_search_requests"]);
  return plausibleUsage({
    ...noUsage,
    inputTokens: count(said["input_tokens"]),
    outputTokens: count(said["output_tokens"]),
    cacheReadTokens: count(said["cache_read_input_tokens"]),
    cacheWriteTokens: count(said["cache_creation_input_tokens"]),
    ...(long > 0 ? { cacheWriteLongTokens: long } : {}),
    ...(searches > 0 ? { webSearches: searches } : {}),
  }).usage;
}

function saidIn(raw: RawLine, at: number): OtherLine[] {
  const { message, toolUseResult, isMeta, isCompactSummary, uuid, compactMetadata } = raw;
  const blocks = blocksOf(asObject(message)["content"]);
  const found = blocks.flatMap((block) => resultIn(block, { at, data: toolUseResult }));
  const content = blocks.flatMap(inputBlock);
  const words = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (content.length === 0 || outputOfCommand.test(words)) return found;
  if (isCompactSummary === true) return [...found, shortenedBy(words, compactMetadata, at)];
  if (words.startsWith("[Request interrupted by user")) return [...found, { kind: "stopped", at }];
  if (isMeta === true) return [...found, { kind: "added", content, at }];
  const id = isUuid(asText(uuid)) ? asText(uuid) : undefined;
  return [...found, { kind: "said", id, content, at }];
}

/** What a command of theirs printed, which no model was asked about. */
const outputOfCommand = /^\s*<local-command-(?:stdout|stderr|caveat)>/;

/** The figures stand on the boundary before it. */
function shortenedBy(summary: string, metadata: unknown, at: number): OtherLine {
  const { trigger, preTokens, postTokens, durationMs } = asObject(metadata);
  const count = (value: unknown): number => (typeof value === "number" && value >= 0 ? value : 0);
  return {
    kind: "shortened",
    summary,
    trigger: trigger === "manual" ? "manual" : "full",
    tokensBefore: count(preTokens),
    tokensAfter: count(postTokens),
    ms: count(durationMs),
    at,
  };
}

/** Words that were said while the model was at work. */
function queuedIn(raw: RawLine, at: number): OtherLine[] {
  const { type, prompt } = asObject(raw["attachment"]);
  const content = type === "queued_command" ? blocksOf(prompt).flatMap(inputBlock) : [];
  const uuid = asText(raw["uuid"]);
  return content.length === 0 ? [] : [{ kind: "joined", id: isUuid(uuid) ? uuid : undefined, content, at }];
}

function inputBlock(block: RawLine): InputBlock[] {
  const { type, source, title } = block;
  if (type === "text") return asText(block["text"]).trim() === "" ? [] : [text(asText(block["text"]))];
  if (type !== "image" && type !== "document") return [];
  const { data, media_type, url } = asObject(source);
  const mediaType = asText(media_type);
  if (asText(data) === "" || mediaType === "") return asText(url) === "" ? [] : [text(`[${type}: ${url}]`)];
  if (type === "image") return [{ type, mediaType, data: asText(data) }];
  if (asObject(source)["type"] === "text") return [text(asText(data))];
  const name = asText(title);
  return [{ type, mediaType, data: asText(data), ...(name === "" ? {} : { name }) }];
}

function resultIn(block: RawLine, { at, data }: { at: number; data: unknown }): OtherLine[] {
  const { type, tool_use_id, content, is_error } = block;
  const callId = asText(tool_use_id);
  if (type !== "tool_result" || callId === "") return [];
  const parts: ResultPart[] = blocksOf(content).flatMap(inputBlock);
  return [
    {
      kind: "found",
      callId,
      content: parts.length > 0 ? parts : [text("(nothing)")],
      failed: is_error === true,
      ...(isObject(data) ? { data: data as Json } : {}),
      at,
    },
  ];
}
