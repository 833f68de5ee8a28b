/** Short ways to write replies: `reply("done")`, `reply("Reading.", toolUse("Read", { file_path: "a.ts" }))`. */
import type { ProviderFaultCode } from "../kernel/faults.ts";
import type { Json } from "../kernel/json.ts";
import type { Asked } from "./answers.ts";
import type { Reply, ScriptBlock } from "./script.ts";

type ReplyContent = string | ScriptBlock;

/** A reply made of blocks; a plain text is a text block. */
export function reply(...content: ReplyContent[]): Reply {
  return {
    blocks: content.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)),
  };
}

/** A reply with further properties, such as `stop`, `usage` or `fault`. */
export function replyWith(properties: Omit<Reply, "blocks">, ...content: ReplyContent[]): Reply {
  return { ...reply(...content), ...properties };
}

export function toolUse(name: string, input: Json = {}, id?: string): ScriptBlock {
  return { type: "tool_use", name, input, ...(id === undefined ? {} : { id }) };
}

/** A call whose arguments are sent as written, valid JSON or not. */
export function rawToolUse(name: string, rawInput: string, id?: string): ScriptBlock {
  return { type: "tool_use", name, rawInput, ...(id === undefined ? {} : { id }) };
}

export function thinking(text: string, signature?: string): ScriptBlock {
  return { type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
}

/** The request is answered with an HTTP error in the provider's shape. */
export function httpError(
  status: number,
  { type, message, headers }: { type?: string; message?: string; headers?: Record<string, string> } = {},
): Reply {
  return {
    blocks: [],
    fault: {
      kind: "http",
      status,
      type: type ?? errorType(status),
      message: message ?? `scripted error ${status}`,
      headers,
    },
  };
}

/**
 * A script that looks at the request instead of counting: the reply's place is the number of assistant turns that the
 * request already holds. A request that is sent again after a crash gets the same reply again.
 */
export function byPosition(
  replies: readonly Reply[],
  otherwise?: Reply,
): (request: unknown, asked: Asked) => Reply {
  return (_, asked) => {
    const found = replies[asked.assistantTurns] ?? otherwise;
    if (found) return found;
    return httpError(400, { message: `no reply is scripted for position ${asked.assistantTurns}` });
  };
}

/** What the provider calls the errors of each status, and what they are to us. */
const providerErrors: Readonly<Record<number, readonly [type: string, code: ProviderFaultCode]>> = {
  400: ["invalid_request_error", "model_bad_request"],
  401: ["authentication_error", "key_refused"],
  402: ["billing_error", "billing"],
  403: ["permission_error", "model_forbidden"],
  404: ["not_found_error", "model_unknown"],
  413: ["request_too_large", "request_too_large"],
  429: ["rate_limit_error", "rate_limited"],
  500: ["api_error", "server_error"],
  504: ["timeout_error", "server_error"],
  529: ["overloaded_error", "overloaded"],
};

export const errorType = (status: number): string => providerErrors[status]?.[0] ?? "api_error";

/** Undefined for a type that the provider does not have. */
export const codeOfType = (type: string): ProviderFaultCode | undefined =>
  Object.values(providerErrors).find(([known]) => known === type)?.[1];
