/** Every fault of a model that Keel must bear, by name: `faultReply("cut-sse")`. */
import { httpError, rawToolUse, reply, replyWith, thinking, toolUse } from "./reply.ts";
import type { Reply, ReplyFault, ScriptBlock } from "./script.ts";

const parallelCalls = 50;
const hugeArgumentBytes = 5 * 1024 * 1024;
const longRetryAfterSeconds = 3600;

export type FaultName = keyof typeof faulty;

export function faultReply(name: FaultName): Reply {
  return faulty[name]();
}

/** Calls name a tool of the public interface whose use has no effects, so that a fault stands for itself. */
const call = (id?: string, file = "a.txt"): ScriptBlock => toolUse("Read", { file_path: file }, id);

const breaking = (fault: ReplyFault): Reply =>
  replyWith({ fault }, "This reply does not arrive as it should.");

const malformed = (how: Extract<ReplyFault, { kind: "malformed" }>["how"]) => () =>
  breaking({ kind: "malformed", how });

/** The rows of the reliability page in its order; the last three go beyond it. */
const faulty = {
  "cut-sse": () => breaking({ kind: "cut", afterEvents: 3 }),
  silence: () => breaking({ kind: "stall", afterEvents: 3, with: "silence" }),
  "pings-only": () => breaking({ kind: "stall", afterEvents: 3, with: "pings" }),
  "two-message-starts": malformed("two-message-starts"),
  "delta-before-start": malformed("delta-before-start"),
  "bad-json-arguments": () => reply(rawToolUse("Read", '{"file_path": nowhere')),
  "huge-arguments": () => ({
    blocks: [call(undefined, "a".repeat(hugeArgumentBytes))],
    // One delta of this size would hide a client that joins pieces in quadratic time.
    chunkChars: 1024,
  }),
  "repeated-tool-id": () => reply(call("toolu_repeated"), call("toolu_repeated", "b.txt")),
  "unknown-tool": () => reply(toolUse("NoSuchTool", { value: 1 })),
  "fifty-parallel-tools": () =>
    reply(...Array.from({ length: parallelCalls }, (_, index) => call(undefined, `${index}.txt`))),
  "call-after-end": malformed("call-after-end"),
  "empty-content": () => reply(),
  "blank-text": () => reply(" \n "),
  "only-thinking": () => reply(thinking("There is nothing that I want to say.")),
  "max-tokens-in-call": () => replyWith({ stop: "output_limit" }, rawToolUse("Read", '{"file_path": "a')),
  "prompt-too-long": () => httpError(400, { message: "prompt is too long: 210000 tokens > 200000 maximum" }),
  "key-refused": () => httpError(401, { message: "invalid x-api-key" }),
  "request-too-large": () => httpError(413, { message: "The request is too large" }),
  "rate-limited": () =>
    httpError(429, {
      message: "Too many requests",
      headers: { "retry-after": String(longRetryAfterSeconds) },
    }),
  "server-error": () => httpError(500, { message: "Internal server error" }),
  overloaded: () => httpError(529, { message: "Overloaded" }),
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
