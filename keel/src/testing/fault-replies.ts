/** Every fault of a model that Keel must bear, by name: `faultReply("cut-sse")`. */
import type { Reply, ReplyFault, ScriptBlock } from "./script.ts";

const parallelCalls = 50;
const hugeArgumentBytes = 5 * 1024 * 1024;
const longRetryAfterSeconds = 3600;

export type FaultName = keyof typeof faulty;

export function faultReply(name: FaultName): Reply {
  return faulty[name]();
}

/** Calls name a tool of the public interface whose use has no effects, so that a fault stands for itself. */
const call = (id?: string, file = "a.txt"): ScriptBlock => ({
  type: "tool_use",
  name: "Read",
  input: { file_path: file },
  ...(id === undefined ? {} : { id }),
});

const sentence: ScriptBlock = { type: "text", text: "This reply does not arrive as it should." };

const breaking = (fault: ReplyFault): Reply => ({ blocks: [sentence], fault });

const malformed = (how: Extract<ReplyFault, { kind: "malformed" }>["how"]) => () =>
  breaking({ kind: "malformed", how });

const refusing = (
  status: number,
  type: string,
  message: string,
  headers?: Record<string, string>,
): Reply => ({
  blocks: [],
  fault: { kind: "http", status, type, message, headers },
});

/** The rows of the reliability page in its order; the last three go beyond it. */
const faulty = {
  "cut-sse": () => breaking({ kind: "cut", afterEvents: 3 }),
  silence: () => breaking({ kind: "stall", afterEvents: 3, with: "silence" }),
  "pings-only": () => breaking({ kind: "stall", afterEvents: 3, with: "pings" }),
  "two-message-starts": malformed("two-message-starts"),
  "delta-before-start": malformed("delta-before-start"),
  "bad-json-arguments": () => ({
    blocks: [{ type: "tool_use", name: "Read", rawInput: '{"file_path": nowhere' }],
  }),
  "huge-arguments": () => ({
    blocks: [call(undefined, "a".repeat(hugeArgumentBytes))],
    // One delta of this size would hide a client that joins pieces in quadratic time.
    chunkChars: 1024,
  }),
  "repeated-tool-id": () => ({ blocks: [call("toolu_repeated"), call("toolu_repeated", "b.txt")] }),
  "unknown-tool": () => ({ blocks: [{ type: "tool_use", name: "NoSuchTool", input: { value: 1 } }] }),
  "fifty-parallel-tools": () => ({
    blocks: Array.from({ length: parallelCalls }, (_, index) => call(undefined, `${index}.txt`)),
  }),
  "call-after-end": malformed("call-after-end"),
  "empty-content": () => ({ blocks: [] }),
  "blank-text": () => ({ blocks: [{ type: "text", text: " \n " }] }),
  "only-thinking": () => ({ blocks: [{ type: "thinking", text: "There is nothing that I want to say." }] }),
  "max-tokens-in-call": () => ({
    blocks: [{ type: "tool_use", name: "Read", rawInput: '{"file_path": "a' }],
    stop: "output_limit",
  }),
  "prompt-too-long": () =>
    refusing(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
  "key-refused": () => refusing(401, "authentication_error", "invalid x-api-key"),
  "request-too-large": () => refusing(413, "request_too_large", "The request is too large"),
  "rate-limited": () =>
    refusing(429, "rate_limit_error", "Too many requests", { "retry-after": String(longRetryAfterSeconds) }),
  "server-error": () => refusing(500, "api_error", "Internal server error"),
  overloaded: () => refusing(529, "overloaded_error", "Overloaded"),
  "wrong-content-type": malformed("wrong-content-type"),
  "gzip-cut": malformed("gzip-cut"),
  "negative-usage": malformed("negative-usage"),
  "missing-usage": malformed("missing-usage"),
  reset: () => breaking({ kind: "reset" }),
  garbage: malformed("garbage"),
  "error-in-stream": () =>
    breaking({ kind: "cut", afterEvents: 3, error: { type: "overloaded_error", message: "Overloaded" } }),
} satisfies Record<string, () => Reply>;

export const faultNames: readonly FaultName[] = Object.keys(faulty) as FaultName[];
