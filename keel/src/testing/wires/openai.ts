/** The wire of chat completions, as a server speaks it. Only what is public about it: the shapes of requests and replies. */
import { asObject } from "../../kernel/json.ts";
import type { Stop } from "../../protocol/reasons.ts";
import type { Usage } from "../../protocol/usage.ts";
import { lateCall, malformedHow, type ReadyBlock, type ReadyReply, streamed } from "../answers.ts";
import { chatPrefix, chatSession, chatView } from "./openai-view.ts";
import type { Wire, WireError } from "./wire.ts";

export const openaiWire: Wire = {
  name: "openai",
  ping: ": keep-alive\n\n",
  view: chatView,
  prefix: chatPrefix,
  session: chatSession,

  wants({ method, path, headers }) {
    if (method === "POST" && path.endsWith("/chat/completions")) return "reply";
    // The other wire lists its models under the same path.
    return method === "GET" && path === "/v1/models" && !headers["anthropic-version"] ? "models" : undefined;
  },

  keyIn: (headers) => /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1],

  violations: () => [],

  errorType: (status) => (status >= 500 ? "server_error" : "invalid_request_error"),

  error: (error) => ({ error: errorOf(error) }),

  models: (ids) => ({
    object: "list",
    data: ids.map((id) => ({ id, object: "model", created: 1_767_225_600, owned_by: "scripted" })),
  }),

  count: (tokens) => ({ tokens }),

  wantsStream: (body) => asObject(body)["stream"] === true,

  whole: (reply) => ({
    ...completionOf(reply, "chat.completion"),
    choices: [{ index: 0, message: reasonOf(reply), finish_reason: finishReasons[reply.stop] }],
    ...usageField(reply),
  }),

  *records(reply) {
    for (const chunk of chunksOf(reply)) yield typeof chunk === "string" ? chunk : record(chunk);
  },

  errorRecord: (error) => record({ error: errorOf(error) }),
};

function* chunksOf(reply: ReadyReply): Generator<object | string> {
  const how = malformedHow(reply);
  // This wire has no start that could come twice or late: a chunk that is none stands for both.
  if (how === "delta-before-start" || how === "two-message-starts") yield 'data: "early"\n\n';
  yield delta(reply, { role: "assistant", content: "" });
  if (how === "garbage") yield "data: {this is not JSON\n\n";
  let calls = 0;
  for (const block of reply.blocks) {
    yield* blockDeltas(reply, block, calls);
    if (block.type === "tool_use") calls += 1;
  }
  yield {
    ...completionOf(reply),
    choices: [{ index: 0, delta: {}, finish_reason: finishReasons[reply.stop] }],
  };
  const usage = usageField(reply);
  if (usage.usage) yield { ...completionOf(reply), choices: [], ...usage };
  yield "data: [DONE]\n\n";
  if (how === "call-after-end") yield* blockDeltas(reply, lateCall("call_scripted_late"), calls);
}

function* blockDeltas(reply: ReadyReply, block: ReadyBlock, index: number): Generator<object> {
  if (block.type === "tool_use") {
    const { id, name } = block;
    yield delta(reply, {
      tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }],
    });
  }
  for (const piece of streamed(block, reply.chunkChars)) {
    if (block.type === "text") yield delta(reply, { content: piece });
    else if (block.type === "thinking") yield delta(reply, { reasoning_content: piece });
    else yield delta(reply, { tool_calls: [{ index, function: { arguments: piece } }] });
  }
}

const delta = (reply: ReadyReply, content: object): object => ({
  ...completionOf(reply),
  choices: [{ index: 0, delta: content, finish_reason: null }],
});

function reasonOf({ blocks }: ReadyReply): object {
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  const thought = blocks.flatMap((block) => (block.type === "thinking" ? [block.text] : [])).join("");
  const calls = blocks.flatMap((block) =>
    block.type === "tool_use"
      ? [{ id: block.id, type: "function", function: { name: block.name, arguments: block.json } }]
      : [],
  );
  return {
    role: "assistant",
    content: text === "" ? null : text,
    ...(thought === "" ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function completionOf({ id, model }: ReadyReply, object = "chat.completion.chunk"): object {
  return { id, object, created: 1_767_225_600, model };
}

/** The count of a reply, or what a script wants in its place. The prompt includes what the cache read and wrote. */
function usageField(reply: ReadyReply): { usage?: object } {
  const how = malformedHow(reply);
  if (how === "missing-usage") return {};
  const sign = how === "negative-usage" ? -1 : 1;
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }: Usage = reply.usage;
  const prompt = sign * (inputTokens + cacheReadTokens + cacheWriteTokens);
  return {
    usage: {
      prompt_tokens: prompt,
      completion_tokens: sign * outputTokens,
      total_tokens: prompt + sign * outputTokens,
      prompt_tokens_details: {
        cached_tokens: sign * cacheReadTokens,
        cache_write_tokens: sign * cacheWriteTokens,
      },
    },
  };
}

/** What this wire has no word for ends like any other reply. */
const finishReasons: Readonly<Record<Stop, string>> = {
  end: "stop",
  tool_use: "tool_calls",
  output_limit: "length",
  stop_sequence: "stop",
  refusal: "content_filter",
  pause: "stop",
  window_full: "length",
};

/** Scripts name errors once, in the words of the other wire; here they get the names of this one. */
function errorOf({ type, message }: Omit<WireError, "status">): object {
  const isTooLong = type === "invalid_request_error" && /too long/i.test(message);
  const [ownType, code] = isTooLong
    ? ["invalid_request_error", "context_length_exceeded"]
    : (errorNames[type] ?? [type, null]);
  return { message, type: ownType, param: null, code };
}

const errorNames: Readonly<Record<string, readonly [type: string, code: string | null]>> = {
  authentication_error: ["invalid_request_error", "invalid_api_key"],
  billing_error: ["insufficient_quota", "insufficient_quota"],
  not_found_error: ["invalid_request_error", "model_not_found"],
  rate_limit_error: ["requests", "rate_limit_exceeded"],
  api_error: ["server_error", null],
  timeout_error: ["server_error", null],
};

const record = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
