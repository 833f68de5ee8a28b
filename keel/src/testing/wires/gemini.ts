/** The Gemini wire, as a server speaks it. Only what is public about it: the shapes of its requests and chunks. */
import { asObject } from "../../kernel/json.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { lateCall, malformedHow, pieces, type ReadyBlock, type ReadyReply } from "../answers.ts";
import { geminiPrefix, geminiView } from "./gemini-view.ts";
import type { Wire, WireError } from "./wire.ts";

const path = /^\/v1beta\/models\/([^/:]+):(streamGenerateContent|generateContent|countTokens)$/;

export const geminiWire: Wire = {
  name: "gemini",
  ping: ": keep-alive\n\n",
  view: geminiView,
  prefix: geminiPrefix,

  wants({ method, path: at }) {
    const [, , verb] = path.exec(at) ?? [];
    if (method === "POST" && verb) return verb === "countTokens" ? "count" : "reply";
    return method === "GET" && at === "/v1beta/models" ? "models" : undefined;
  },

  bodyOf({ path: at }, body) {
    const [, model = "", verb] = path.exec(at) ?? [];
    return { model: decodeURIComponent(model), stream: verb === "streamGenerateContent", ...body };
  },

  keyIn(headers) {
    const key = headers["x-goog-api-key"];
    return typeof key === "string" ? key : /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  },

  violations: () => [],
  errorType: (status) => statusNames[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT"),
  error: (error) => ({ error: errorOf(error) }),
  models: (ids) => ({ models: ids.map((id) => ({ name: `models/${id}`, displayName: id })) }),
  count: (tokens) => ({ totalTokens: tokens }),
  wantsStream: (body) => asObject(body)["stream"] === true,
  whole: (reply) =>
    chunkOf(
      reply,
      reply.blocks.flatMap((block) => partsOf(block)),
      "last",
    ),
  said: (reply) =>
    geminiPrefix({
      contents: [
        {
          role: "model",
          parts: reply.blocks.flatMap((block) => partsOf(block)).filter((part) => !("thought" in part)),
        },
      ],
    }),

  *records(reply) {
    const how = malformedHow(reply);
    // This wire has no start that could come twice or late: a chunk that is none stands for both.
    if (how === "delta-before-start" || how === "two-message-starts") yield 'data: "early"\n\n';
    yield record(chunkOf(reply, []));
    if (how === "garbage") yield "data: {this is not JSON\n\n";
    for (const block of reply.blocks)
      for (const part of streamedParts(block, reply.chunkChars)) yield record(chunkOf(reply, [part]));
    yield record(chunkOf(reply, [], "last"));
    if (how === "call-after-end") yield record(chunkOf(reply, partsOf(lateCall("late"))));
  },

  errorRecord: (error) => record({ error: errorOf({ status: 500, ...error }) }),
};

type GeminiPart = Readonly<Record<string, unknown>>;

/** A call comes whole, and its proof with it; thoughts are summed up, and their proof stands with what follows them. */
function partsOf(block: ReadyBlock): GeminiPart[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text }];
    case "thinking": {
      const shown =
        block.hidden === undefined && block.text !== "" ? [{ text: block.text, thought: true }] : [];
      return [...shown, { text: "", thoughtSignature: block.hidden ?? block.signature }];
    }
    case "tool_use":
      return [{ functionCall: { name: block.name, args: block.input ?? block.json } }];
    default:
      return [{ ...block.data }];
  }
}

function* streamedParts(block: ReadyBlock, chars: number): Generator<GeminiPart> {
  for (const part of partsOf(block)) {
    const { text } = part;
    if (typeof text !== "string" || text === "") yield part;
    else for (const piece of pieces(text, chars)) yield { ...part, text: piece };
  }
}

function chunkOf(reply: ReadyReply, parts: readonly GeminiPart[], which?: "last"): object {
  const finishReason = which === "last" ? { finishReason: finishReasons[reply.stop] } : {};
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...finishReason }],
    ...(which === "last" ? usageField(reply) : {}),
    modelVersion: reply.model,
    responseId: reply.id,
  };
}

/** The count of a reply, or what a script wants in its place. The prompt includes what the cache read. */
function usageField(reply: ReadyReply): object {
  const how = malformedHow(reply);
  if (how === "missing-usage") return {};
  const sign = how === "negative-usage" ? -1 : 1;
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, thinkingTokens = 0 } = reply.usage;
  const promptTokenCount = sign * (inputTokens + cacheReadTokens + cacheWriteTokens);
  return {
    usageMetadata: {
      promptTokenCount,
      cachedContentTokenCount: sign * cacheReadTokens,
      candidatesTokenCount: sign * (outputTokens - thinkingTokens),
      thoughtsTokenCount: sign * thinkingTokens,
      totalTokenCount: promptTokenCount + sign * outputTokens,
    },
  };
}

/** What this wire has no word for ends like any other reply. */
const finishReasons: Readonly<Record<Stop, string>> = {
  end: "STOP",
  tool_use: "STOP",
  output_limit: "MAX_TOKENS",
  stop_sequence: "STOP",
  refusal: "SAFETY",
  pause: "STOP",
  window_full: "MAX_TOKENS",
};

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

/** Scripts name errors once, in the words of another wire; here they get the names of this one. */
function errorOf({ status, type, message }: WireError): object {
  const isTooLong = type === "invalid_request_error" && /too long/i.test(message);
  const [code, name] = errorNames[type] ?? [status, statusNames[status] ?? type];
  const words = isTooLong
    ? "The input token count (2000000) exceeds the maximum number of tokens allowed."
    : message;
  return { code, message: words, status: name };
}

const errorNames: Readonly<Record<string, readonly [number, string]>> = {
  invalid_request_error: [400, "INVALID_ARGUMENT"],
  overloaded_error: [503, "UNAVAILABLE"],
  api_error: [500, "INTERNAL"],
  rate_limit_error: [429, "RESOURCE_EXHAUSTED"],
};

const record = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
