/** The Messages wire, as a server speaks it. Only what is public about it: the shapes of its requests and replies. */
import { asObject } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import type { Stop } from "../../protocol/reasons.ts";
import type { Usage } from "../../protocol/usage.ts";
import { lateCall, malformedHow, type ReadyBlock, type ReadyReply, streamed } from "../answers.ts";
import { errorType } from "../reply.ts";
import { messagesPrefix, messagesSession, messagesView } from "./anthropic-view.ts";
import type { Wire } from "./wire.ts";

export const anthropicWire: Wire = {
  name: "anthropic",
  ping: record({ type: "ping" }),
  view: messagesView,
  prefix: messagesPrefix,
  session: messagesSession,

  wants({ method, path, headers }) {
    if (method === "POST" && path === "/v1/messages") return "reply";
    if (method === "POST" && path === "/v1/messages/count_tokens") return "count";
    // Another wire lists its models under the same path.
    return method === "GET" && path === "/v1/models" && headers["anthropic-version"] ? "models" : undefined;
  },

  keyIn(headers) {
    const key = headers["x-api-key"];
    if (typeof key === "string") return key;
    return /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  },

  violations: ({ headers }) =>
    headers["anthropic-version"] ? [] : ["anthropic-version: the header is missing"],

  errorType,

  error: ({ type, message }, request_id) => ({ type: "error", error: { type, message }, request_id }),

  models: (ids) => ({
    data: ids.map((id) => ({ type: "model", id, display_name: id, created_at: "2026-01-01T00:00:00Z" })),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }),

  count: (tokens) => ({ input_tokens: tokens }),

  wantsStream: (body) => asObject(body)["stream"] === true,

  whole: (reply) => ({
    ...reasonOf(reply),
    content: reply.blocks.map(wholeBlock),
    stop_reason: stopReasons[reply.stop],
    ...usageField(reply, reply.usage),
  }),

  *records(reply) {
    for (const event of eventsOf(reply)) yield typeof event === "string" ? event : record(event);
  },

  errorRecord: (error) => record({ type: "error", error }),
};

type AnthropicStreamEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

function* eventsOf(reply: ReadyReply): Generator<AnthropicStreamEvent | string> {
  const how = malformedHow(reply);
  const start = {
    type: "message_start",
    message: { ...reasonOf(reply), content: [], ...usageField(reply, { ...reply.usage, outputTokens: 1 }) },
  };
  if (how === "delta-before-start") yield deltaEvent(0, { type: "text_delta", text: "early" });
  yield start;
  if (how === "two-message-starts") yield start;
  if (how === "garbage") yield "event: content_block_delta\ndata: {this is not JSON\n\n";
  for (const [index, block] of reply.blocks.entries()) yield* blockEvents(index, block, reply.chunkChars);
  yield {
    type: "message_delta",
    delta: { stop_reason: stopReasons[reply.stop], stop_sequence: null },
    ...usageField(reply, reply.usage),
  };
  yield { type: "message_stop" };
  if (how === "call-after-end")
    yield* blockEvents(reply.blocks.length, lateCall("toolu_scripted_late"), reply.chunkChars);
}

function* blockEvents(index: number, block: ReadyBlock, chars: number): Generator<AnthropicStreamEvent> {
  yield { type: "content_block_start", index, content_block: startedBlock(block) };
  yield* deltas(index, block, chars);
  yield { type: "content_block_stop", index };
}

const deltaFields = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  tool_use: ["input_json_delta", "partial_json"],
  foreign: ["", ""],
} as const;

function* deltas(index: number, block: ReadyBlock, chars: number): Generator<AnthropicStreamEvent> {
  const [type, field] = deltaFields[block.type];
  for (const piece of streamed(block, chars)) yield deltaEvent(index, { type, [field]: piece });
  if (block.type === "thinking" && block.hidden === undefined)
    yield deltaEvent(index, { type: "signature_delta", signature: block.signature });
}

const deltaEvent = (index: number, delta: object): AnthropicStreamEvent => ({
  type: "content_block_delta",
  index,
  delta,
});

/** A block as it starts: its text and its arguments are still to come. */
function startedBlock(block: ReadyBlock): unknown {
  switch (block.type) {
    case "text":
      return wholeBlock({ ...block, text: "" });
    case "thinking":
      return wholeBlock({ ...block, text: "", signature: "" });
    case "tool_use":
      return wholeBlock({ ...block, input: undefined });
    case "foreign":
      return wholeBlock(block);
    default:
      return never(block);
  }
}

function wholeBlock(block: ReadyBlock): unknown {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return block.hidden === undefined
        ? { type: "thinking", thinking: block.text, signature: block.signature }
        : { type: "redacted_thinking", data: block.hidden };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: block.input ?? {} };
    case "foreign":
      return block.data;
    default:
      return never(block);
  }
}

function reasonOf({ id, model }: ReadyReply): object {
  return { id, type: "message", role: "assistant", model, stop_reason: null, stop_sequence: null };
}

/** The count of a reply, or what a script wants in its place. */
function usageField(reply: ReadyReply, usage: Usage): { usage?: object } {
  const how = malformedHow(reply);
  if (how === "missing-usage") return {};
  const sign = how === "negative-usage" ? -1 : 1;
  const long = usage.cacheWriteLongTokens ?? 0;
  return {
    usage: {
      input_tokens: sign * usage.inputTokens,
      output_tokens: sign * usage.outputTokens,
      cache_read_input_tokens: sign * usage.cacheReadTokens,
      cache_creation_input_tokens: sign * usage.cacheWriteTokens,
      cache_creation: {
        ephemeral_5m_input_tokens: sign * (usage.cacheWriteTokens - long),
        ephemeral_1h_input_tokens: sign * long,
      },
      ...(usage.webSearches === undefined
        ? {}
        : { server_tool_use: { web_search_requests: usage.webSearches } }),
    },
  };
}

const stopReasons: Readonly<Record<Stop, string>> = {
  end: "end_turn",
  tool_use: "tool_use",
  output_limit: "max_tokens",
  stop_sequence: "stop_sequence",
  refusal: "refusal",
  pause: "pause_turn",
  window_full: "model_context_window_exceeded",
};

function record(event: AnthropicStreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
