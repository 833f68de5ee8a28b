import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Loopback, loopback } from "../../../../test/support/loopback.ts";
import { toFault } from "../../kernel/fault.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import type { Block, Message } from "../../protocol/message.ts";
import { catalog } from "../catalog.ts";
import { openHttp } from "../http.ts";
import { geminiModel } from "./model.ts";

const key = "AIza-canary-0123456789abcdef";
const http = openHttp();
let server: Loopback;
let answers: ((response: ServerResponse) => void)[] = [];

beforeAll(async () => {
  server = await loopback((response) => answers.shift()?.(response));
});
afterEach(() => {
  server.seen.length = 0;
  answers = [];
});
afterAll(async () => {
  http.close();
  await server.close();
});

const hi: Message = { role: "user", content: [{ type: "text", text: "hi" }] };
const request: ModelRequest = {
  model: "google/gemini-3-pro-preview",
  system: ["Be brief."],
  tools: [{ name: "Look", description: "Looks.", input: { type: "object" } }],
  messages: [hi],
  maxOutputTokens: 1_000,
  thinking: { kind: "adaptive" },
  session: "s1",
};

const connect = () =>
  geminiModel({
    endpoint: { provider: "google", baseUrl: server.url, credential: { kind: "key", value: key } },
    catalog: catalog(),
    http: http.send,
    now: () => 0,
  });

async function eventsOf(asked: Partial<ModelRequest> = {}, model = connect()): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ ...request, ...asked }, AbortSignal.timeout(5_000)))
    events.push(event);
  return events;
}

async function faultOf() {
  const thrown = await eventsOf().then(
    () => undefined,
    (error: unknown) => toFault(error),
  );
  expect(JSON.stringify(thrown?.toData())).not.toContain("canary");
  return thrown;
}

const endOf = (events: readonly ModelEvent[]) => events.find((event) => event.type === "end");
const bodies = () => server.seen.map(({ body }): Record<string, unknown> => JSON.parse(body));
const chunk = (parts: Json[], more: JsonObject = {}): JsonObject => ({
  responseId: "r1",
  candidates: [{ content: { role: "model", parts }, ...more }],
});
const stop: JsonObject = { finishReason: "STOP" };
const streams =
  (...chunks: Json[]) =>
  (response: ServerResponse) =>
    void response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(chunks.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join(""));
const refuses = (status: number, error: JsonObject) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify([{ error }]));

test("a request names its model in the address, its key in a header, and schemas as they are", async () => {
  answers = [streams(chunk([{ text: "ok" }], stop))];
  await eventsOf({ effort: "max" });
  expect(server.seen[0]).toMatchObject({
    path: "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": key },
  });
  expect(bodies()[0]).toEqual({
    generationConfig: {
      maxOutputTokens: 1_000,
      thinkingConfig: { includeThoughts: true, thinkingLevel: "high" },
    },
    systemInstruction: { parts: [{ text: "Be brief." }] },
    tools: [
      {
        functionDeclarations: [
          { name: "Look", description: "Looks.", parametersJsonSchema: { type: "object" } },
        ],
      },
    ],
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
  });
});

describe("proofs of thinking", () => {
  const said = (events: readonly ModelEvent[]): Message => ({
    role: "assistant",
    content: endOf(events)?.content ?? [],
  });

  test("come back at the very parts that carried them, and requests extend one another", async () => {
    answers = [
      streams(
        chunk([{ text: "I think.", thought: true }]),
        chunk([{ text: "Looking." }]),
        chunk([{ functionCall: { name: "Look", args: { at: "a" } }, thoughtSignature: "proof-1" }]),
        chunk([{ functionCall: { name: "Look", args: { at: "b" } } }], stop),
      ),
      streams(chunk([{ text: "done" }]), chunk([{ text: "", thoughtSignature: "proof-2" }], stop)),
      streams(chunk([{ text: "bye" }], stop)),
    ];
    const model = connect();
    const first = said(await eventsOf({}, model));
    const ids = first.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    expect(new Set(ids).size).toBe(2);
    const results: Message = {
      role: "user",
      content: ids.map((callId, at) => ({
        type: "tool_result",
        callId,
        content: [{ type: "text", text: `saw ${at}` }],
        failed: at === 1,
      })),
    };
    const second = said(await eventsOf({ messages: [hi, first, results] }, model));
    await eventsOf({ messages: [hi, first, results, second, hi] }, model);
    expect(bodies()[2]?.["contents"]).toEqual([
      { role: "user", parts: [{ text: "hi" }] },
      {
        role: "model",
        parts: [
          { text: "Looking." },
          { functionCall: { name: "Look", args: { at: "a" } }, thoughtSignature: "proof-1" },
          { functionCall: { name: "Look", args: { at: "b" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "Look", response: { output: "saw 0" } } },
          { functionResponse: { name: "Look", response: { error: "saw 1" } } },
        ],
      },
      { role: "model", parts: [{ text: "done" }, { text: "", thoughtSignature: "proof-2" }] },
      { role: "user", parts: [{ text: "hi" }] },
    ]);
    const [one = "", two = "", three = ""] = server.seen.map(({ body }) => body);
    expect(two.startsWith(one.slice(0, -2))).toBe(true);
    expect(three.startsWith(two.slice(0, -2))).toBe(true);
  });

  test("of another model are left out, and a call without one says so", async () => {
    answers = [streams(chunk([{ text: "ok" }], stop))];
    const content: Block[] = [
      { type: "thinking", text: "", signature: "other", model: "gemini-2.5-pro" },
      { type: "tool_use", id: "toolu_1", name: "Look", input: {} },
    ];
    const result: Message = {
      role: "user",
      content: [{ type: "tool_result", callId: "toolu_1", content: [], failed: false }],
    };
    await eventsOf({ messages: [hi, { role: "assistant", content }, result] });
    expect(server.seen[0]?.body).not.toContain("other");
    expect(bodies()[0]).toMatchObject({
      contents: [{}, { parts: [{ thoughtSignature: "skip_thought_signature_validator" }] }, {}],
    });
  });
});

test("thoughts, cached tokens and the prompt are counted apart", async () => {
  const usageMetadata = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 10,
    thoughtsTokenCount: 5,
  };
  answers = [streams(chunk([{ text: "ok" }], stop), { usageMetadata })];
  expect(endOf(await eventsOf())?.usage).toMatchObject({
    inputTokens: 40,
    cacheReadTokens: 60,
    outputTokens: 15,
    thinkingTokens: 5,
  });
});

test.each([
  ["SAFETY", "refusal"],
  ["RECITATION", "refusal"],
  ["MAX_TOKENS", "output_limit"],
  ["SOMETHING_NEW", "end"],
])("a reply that ends by %s is %s", async (finishReason, expected) => {
  answers = [streams(chunk([{ text: "half" }], { finishReason }))];
  expect(endOf(await eventsOf())?.stop).toBe(expected);
});

test("a prompt that is blocked is a refusal without words", async () => {
  answers = [streams({ promptFeedback: { blockReason: "SAFETY" } })];
  expect(endOf(await eventsOf())).toMatchObject({ stop: "refusal", content: [] });
});

const invalidKey = { code: 400, message: `API key not valid: ${key}`, status: "INVALID_ARGUMENT" };
test.each<[number, JsonObject, string, JsonObject]>([
  [400, invalidKey, "key_refused", {}],
  [403, { code: 403, message: "x", status: "PERMISSION_DENIED" }, "model_forbidden", {}],
  [404, { code: 404, message: "x", status: "NOT_FOUND" }, "model_unknown", {}],
  [
    429,
    { code: 429, message: "x", status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "34.5s" }] },
    "rate_limited",
    { retryAfterMs: 34_500 },
  ],
  [
    400,
    {
      message: "The input token count (9) exceeds the maximum number of tokens allowed (8)",
      status: "INVALID_ARGUMENT",
    },
    "prompt_too_long",
    {},
  ],
  [503, { code: 503, message: "x", status: "UNAVAILABLE" }, "overloaded", {}],
  [500, { code: 500, message: "x", status: "INTERNAL" }, "server_error", {}],
])("%s %j is %s", async (status, error, code, detail) => {
  answers = [refuses(status, error)];
  const found = await faultOf();
  expect(found?.code).toBe(code);
  expect(found?.detail).toMatchObject(detail);
});

test.each<[string, Json[], string]>([
  ["a stream that is cut", [chunk([{ text: "half" }])], "stream_cut"],
  [
    "an error inside the stream",
    [chunk([{ text: "h" }]), { error: { code: 503, status: "UNAVAILABLE", message: "x" } }],
    "overloaded",
  ],
  [
    "a call that cannot be read",
    [chunk([], { finishReason: "MALFORMED_FUNCTION_CALL" })],
    "stream_malformed",
  ],
  [
    "a part after the end",
    [chunk([{ text: "a" }], stop), chunk([{ functionCall: { name: "Look" } }])],
    "stream_malformed",
  ],
])("%s is %s", async (_, chunks, code) => {
  answers = [streams(...chunks)];
  expect((await faultOf())?.code).toBe(code);
});
