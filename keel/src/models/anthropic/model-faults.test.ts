// Each of the 24 faults of a model server (reliability 7.3), over a real socket.
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  blockStart,
  blockStop,
  callBlock,
  delta,
  messageEnd,
  messageStart,
  ping,
  textBlock,
  toSse,
} from "../../../../test/support/anthropic-wire.ts";
import { type Loopback, loopback } from "../../../../test/support/loopback.ts";
import { isRetryable } from "../../kernel/backoff.ts";
import { toFault } from "../../kernel/fault.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import { catalog } from "../catalog.ts";
import { openHttp } from "../http.ts";
import { maxRetryAfterMs } from "../provider-error.ts";
import { anthropicModel } from "./model.ts";

const key = "sk-ant-canary-0123456789abcdef";
const http = openHttp();
let server: Loopback;
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  server = await loopback((response) => answer(response));
});
afterAll(async () => {
  http.close();
  await server.close();
});

const request: ModelRequest = {
  model: "claude-sonnet-4-5",
  system: [],
  tools: [],
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  maxOutputTokens: 1_000,
  thinking: { kind: "off" },
  session: "s",
};

type End = Extract<ModelEvent, { type: "end" }>;
type Outcome = {
  readonly events: readonly ModelEvent[];
  readonly end: End | undefined;
  readonly code: FaultCode | undefined;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** Asks once. `patienceMs` stands for the engine's deadline: silence is its matter, it aborts. */
async function ask(how: (response: ServerResponse) => void, patienceMs = 5_000): Promise<Outcome> {
  answer = how;
  const endpoint = {
    provider: "anthropic",
    baseUrl: server.url,
    credential: { kind: "key", value: key },
  } as const;
  const model = anthropicModel({ endpoint, catalog: catalog(), http: http.send, now: () => 0 });
  const events: ModelEvent[] = [];
  const end = () => events.find((event) => event.type === "end");
  try {
    const patience = AbortSignal.timeout(patienceMs);
    for await (const event of model.stream(request, patience)) events.push(event);
    return { events, end: end(), code: undefined, detail: {} };
  } catch (thrown) {
    const made = toFault(thrown);
    expect(JSON.stringify(made.toData())).not.toContain("canary");
    return { events, end: end(), code: made.code, detail: made.detail };
  }
}

const streaming = { "content-type": "text/event-stream; charset=utf-8" };
const sends = (...events: JsonObject[]) => {
  return (response: ServerResponse): void => void response.writeHead(200, streaming).end(toSse(events));
};
const replies = (blocks: JsonObject[], stop = "end_turn") =>
  sends(messageStart(), ...blocks, ...messageEnd(stop));
const fails = (status: number, type: string, message: string, headers: Record<string, string> = {}) => {
  const body = JSON.stringify({ type: "error", error: { type, message } });
  return (response: ServerResponse): void =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
};

const call = (id: string, json = "{}", name = "Read") => ({ id, name, json: [json] });

type Row = {
  readonly how: (response: ServerResponse) => void;
  readonly code?: FaultCode;
  readonly retryable?: boolean;
  readonly patienceMs?: number;
  readonly holds?: (outcome: Outcome) => void;
};

const large = JSON.stringify({ content: "x".repeat(5 * 1024 * 1024) });

const rows: Readonly<Record<string, Row>> = {
  "cut SSE": {
    how: (response) =>
      void response
        .writeHead(200, streaming)
        .write(toSse([messageStart(), blockStart(0, { type: "text", text: "" })]), () => response.destroy()),
    code: "stream_cut",
    retryable: true,
    holds: ({ events }) => expect(events.map(({ type }) => type)).toEqual(["start", "block.start"]),
  },
  silence: {
    how: (response) => void response.writeHead(200, streaming).flushHeaders(),
    code: "aborted",
    patienceMs: 150,
    holds: ({ events }) => expect(events).toEqual([]),
  },
  "pings only": {
    how(response) {
      response.writeHead(200, streaming);
      const timer = setInterval(() => response.write(toSse([ping])), 10);
      response.on("close", () => clearInterval(timer));
    },
    code: "aborted",
    patienceMs: 150,
    holds: ({ events }) => expect(events).toEqual([]),
  },
  "two message starts": {
    how: sends(messageStart(), messageStart()),
    code: "stream_malformed",
    retryable: true,
  },
  "delta before start": {
    how: sends(delta(0, { type: "text_delta", text: "a" }), messageStart(), ...messageEnd()),
    code: "stream_malformed",
    retryable: true,
  },
  "bad JSON arguments": {
    how: replies(callBlock(0, call("t1", '{"path": oops')), "tool_use"),
    holds: ({ end }) =>
      expect(end?.content).toMatchObject([{ id: "t1", input: {}, broken: '{"path": oops' }]),
  },
  "arguments of 5 MB": {
    how: replies(
      callBlock(0, { id: "t1", name: "Write", json: large.match(/.{1,65536}/gs) ?? [] }),
      "tool_use",
    ),
    holds: ({ end }) => expect(JSON.stringify(end?.content[0])).toContain(large),
  },
  "repeated tool id": {
    how: replies([...callBlock(0, call("t1")), ...callBlock(1, call("t1"))], "tool_use"),
    code: "stream_malformed",
    retryable: true,
  },
  "unknown tool": {
    how: replies(callBlock(0, call("t1", "{}", "constructor")), "tool_use"),
    holds: ({ end }) =>
      expect(end).toMatchObject({ stop: "tool_use", content: [{ name: "constructor", input: {} }] }),
  },
  "50 parallel tools": {
    how: replies(
      Array.from({ length: 50 }, (_, index) => callBlock(index, call(`t${index}`, `{"n":${index}}`))).flat(),
      "tool_use",
    ),
    holds: ({ end }) =>
      expect(end?.content.map((block) => block.type === "tool_use" && block.id)).toEqual(
        Array.from({ length: 50 }, (_, index) => `t${index}`),
      ),
  },
  "tool call after end": {
    how(response) {
      response
        .writeHead(200, streaming)
        .write(toSse([messageStart(), ...textBlock(0, "a"), ...messageEnd()]));
      setTimeout(() => response.end(toSse(callBlock(1, call("t1")))), 20);
    },
    code: "stream_malformed",
    retryable: true,
    holds: ({ end }) => expect(end).toBeUndefined(),
  },
  "empty content": {
    how: replies([]),
    holds: ({ end }) => expect(end).toMatchObject({ stop: "end", content: [] }),
  },
  "blank text": {
    how: replies(textBlock(0, " ", "\n")),
    holds: ({ end }) => expect(end?.content).toEqual([{ type: "text", text: " \n" }]),
  },
  "only thinking": {
    how: replies([
      blockStart(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(0, { type: "signature_delta", signature: "sig" }),
      blockStop(0),
    ]),
    holds: ({ end }) =>
      expect(end?.content).toMatchObject([{ type: "thinking", text: "hm", signature: "sig" }]),
  },
  "max_tokens in a tool call": {
    how: replies(callBlock(0, call("t1", '{"path":"/a/b')), "max_tokens"),
    holds: ({ end }) =>
      expect(end).toMatchObject({ stop: "output_limit", content: [{ broken: '{"path":"/a/b' }] }),
  },
  "400 too long": {
    how: fails(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
    code: "prompt_too_long",
    retryable: false,
  },
  "401": {
    how: fails(401, "authentication_error", `invalid key ${key}`),
    code: "key_refused",
    retryable: false,
  },
  "413": {
    how: fails(413, "request_too_large", "too many bytes"),
    code: "request_too_large",
    retryable: false,
  },
  "429 with long retry-after": {
    how: fails(429, "rate_limit_error", "slow down", { "retry-after": "86400" }),
    code: "rate_limited",
    retryable: true,
    holds: ({ detail }) => expect(detail).toMatchObject({ status: 429, retryAfterMs: maxRetryAfterMs }),
  },
  "500": { how: fails(500, "api_error", "oops"), code: "server_error", retryable: true },
  "529": {
    how: fails(529, "overloaded_error", "busy", { "request-id": "req_7" }),
    code: "overloaded",
    retryable: true,
    holds: ({ detail }) =>
      expect(detail).toMatchObject({ status: 529, type: "overloaded_error", requestId: "req_7" }),
  },
  "wrong content type": {
    how: (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>"),
    code: "stream_malformed",
    retryable: true,
  },
  "gzip cut": {
    how(response) {
      const whole = gzipSync(toSse([messageStart(), ...textBlock(0, "a"), ...messageEnd()]));
      response.writeHead(200, { ...streaming, "content-encoding": "gzip" });
      response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
    },
    code: "stream_malformed",
    retryable: true,
  },
  "token counts negative or missing": {
    how: sends(
      messageStart({ usage: { input_tokens: -3, cache_read_input_tokens: null } }),
      ...textBlock(0, "a"),
      ...messageEnd("end_turn", null),
    ),
    holds: ({ end }) =>
      expect(end?.usage).toMatchObject({ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 }),
  },
};

describe("a faulty model server", () => {
  test("the table holds all 24 faults", () => {
    expect(Object.keys(rows)).toHaveLength(24);
  });

  test.each(Object.entries(rows))("%s", async (_, { how, code, retryable, patienceMs, holds }) => {
    const outcome = await ask(how, patienceMs);

    expect(outcome.code).toBe(code);
    if (code !== undefined && retryable !== undefined) expect(isRetryable(code)).toBe(retryable);
    // Exactly one end, as the last event, or a fault: never both, never neither.
    expect(outcome.end === undefined).toBe(code !== undefined);
    if (outcome.end) expect(outcome.events.at(-1)).toBe(outcome.end);
    holds?.(outcome);
  });

  test("leaves the connection pool usable: the next reply is whole", async () => {
    const outcome = await ask(replies(textBlock(0, "fine")));
    expect(outcome.end?.content).toEqual([{ type: "text", text: "fine" }]);
  });
});
