import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Loopback, loopback } from "../../../../test/support/loopback.ts";
import { toFault } from "../../kernel/fault.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import type { Block, Message } from "../../protocol/message.ts";
import { catalog } from "../catalog.ts";
import { openHttp } from "../http.ts";
import { responsesModel } from "./model.ts";

const key = "sk-canary-0123456789abcdef";
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

const said = (text: string): Block => ({ type: "text", text });
const hi: Message = { role: "user", content: [said("hi")] };
const request: ModelRequest = {
  model: "gpt-6-sol",
  system: ["Be brief."],
  tools: [{ name: "Look", description: "Looks.", input: { type: "object" } }],
  messages: [hi],
  maxOutputTokens: 1_000,
  thinking: { kind: "adaptive" },
  session: "s1",
};

const connect = () =>
  responsesModel({
    endpoint: { provider: "openai", baseUrl: `${server.url}/v1`, credential: { kind: "key", value: key } },
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

async function faultOf(asked: Partial<ModelRequest> = {}) {
  const thrown = await eventsOf(asked).then(
    () => undefined,
    (error: unknown) => toFault(error),
  );
  expect(JSON.stringify(thrown?.toData())).not.toContain("canary");
  return thrown;
}

const endOf = (events: readonly ModelEvent[]) => events.find((event) => event.type === "end");
const bodies = () => server.seen.map(({ body }): Record<string, unknown> => JSON.parse(body));

const streams =
  (...events: Json[]) =>
  (response: ServerResponse) =>
    void response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
const refuses =
  (status: number, error: JsonObject, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify({ error }));

const created: JsonObject = { type: "response.created", response: { id: "resp_1", model: "gpt-6-sol" } };
const completed = (more: JsonObject = {}): JsonObject => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output: [], ...more },
});
const done = (output_index: number, item: JsonObject): JsonObject => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const message = (text: string): JsonObject => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
/** Fields in an order of its own, and one that we do not know. */
const reasoning: JsonObject = {
  id: "rs_1",
  type: "reasoning",
  zeta: 1,
  summary: [{ type: "summary_text", text: "I look first." }],
  encrypted_content: "gAAAA-sealed",
};
const call: JsonObject = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_9",
  name: "Look",
  arguments: '{"at":"a"}',
  status: "completed",
};

describe("a request", () => {
  test("asks for nothing to be kept, for thoughts to come back sealed, and for the session's cache", async () => {
    answers = [streams(created, done(0, message("ok")), completed())];
    await eventsOf({ effort: "max" });
    expect(bodies()).toEqual([
      {
        model: "gpt-6-sol",
        max_output_tokens: 1_000,
        stream: true,
        store: false,
        reasoning: { effort: "xhigh", summary: "auto" },
        include: ["reasoning.encrypted_content"],
        prompt_cache_key: "s1",
        instructions: "Be brief.",
        tools: [
          {
            type: "function",
            name: "Look",
            description: "Looks.",
            parameters: { type: "object" },
            strict: false,
          },
        ],
        input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      },
    ]);
    expect(server.seen[0]).toMatchObject({
      path: "/v1/responses",
      headers: { authorization: `Bearer ${key}` },
    });
  });

  test("says that it is not to think, and nothing of thinking to a model that does not", async () => {
    answers = Array.from({ length: 2 }, () => streams(created, completed()));
    await eventsOf({ thinking: { kind: "off" } });
    await eventsOf({ model: "gpt-4.1" });
    expect(bodies().map(({ reasoning: how, include }) => [how, include !== undefined])).toEqual([
      [{ effort: "none" }, true],
      [undefined, false],
    ]);
  });

  test("holds what the model thought as the very bytes that came, before what came of it, and each request extends the one before", async () => {
    answers = [
      streams(created, done(0, reasoning), done(1, call), completed()),
      streams(created, done(0, message("seen")), completed()),
    ];
    const model = connect();
    const end = endOf(await eventsOf({}, model));
    const result: Message = {
      role: "user",
      content: [
        { type: "tool_result", callId: "call_9", content: [{ type: "text", text: "saw" }], failed: false },
      ],
    };
    await eventsOf({ messages: [hi, { role: "assistant", content: end?.content ?? [] }, result] }, model);
    const [first = "", second = ""] = server.seen.map(({ body }) => body);
    expect(second).toContain(`,${JSON.stringify(reasoning)},{"type":"function_call","call_id":"call_9"`);
    expect(second.startsWith(first.slice(0, -2))).toBe(true);
    expect(second).toContain('{"type":"function_call_output","call_id":"call_9","output":"saw"}');
  });

  test.each([
    ["what another model thought", { signature: JSON.stringify(reasoning), model: "gpt-5.4" }],
    [
      "what is not sealed",
      { signature: JSON.stringify({ ...reasoning, encrypted_content: null }), model: "gpt-6-sol" },
    ],
    ["a proof of another provider", { signature: "c2lnbmVk", model: "gpt-6-sol" }],
  ])("leaves out %s", async (_, thought) => {
    answers = [streams(created, completed())];
    const content: Block[] = [{ type: "thinking", text: "hm", ...thought }, said("so")];
    await eventsOf({ messages: [hi, { role: "assistant", content }, hi] });
    expect(server.seen[0]?.body).not.toContain("reasoning.summary");
    expect(bodies()[0]?.["input"]).toMatchObject([
      {},
      { content: [{ type: "output_text", text: "so" }] },
      {},
    ]);
  });

  test("leaves out a thought that nothing came of", async () => {
    answers = [streams(created, completed())];
    const content: Block[] = [
      { type: "thinking", text: "hm", signature: JSON.stringify(reasoning), model: "gpt-6-sol" },
    ];
    await eventsOf({ messages: [hi, { role: "assistant", content }, hi] });
    expect(server.seen[0]?.body).not.toContain("gAAAA");
  });

  test("a field that is refused is left out at once and not sent again", async () => {
    const answer = streams(created, done(0, message("ok")), completed());
    answers = [
      refuses(400, { message: "Your organization must be verified", param: "reasoning.summary" }),
      refuses(400, { message: "Unknown parameter: 'prompt_cache_key'." }),
      answer,
      answer,
    ];
    const model = connect();
    await eventsOf({}, model);
    await eventsOf({}, model);
    expect(bodies().map((body) => [body["reasoning"], body["prompt_cache_key"]])).toEqual([
      [{ summary: "auto" }, "s1"],
      [undefined, "s1"],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test("one field cannot be refused for ever", async () => {
    answers = Array.from({ length: 5 }, () => refuses(400, { message: "bad", param: "store" }));
    expect((await faultOf())?.code).toBe("model_bad_request");
    expect(server.seen).toHaveLength(2);
  });
});

describe("a reply", () => {
  test("streams its thinking, its text and its calls, and ends once, last", async () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 20 },
    };
    answers = [
      streams(
        created,
        { type: "response.in_progress", response: {} },
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { id: "rs_1", type: "reasoning", summary: [] },
        },
        { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 0 },
        { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "I look first." },
        done(0, reasoning),
        { type: "response.output_text.delta", output_index: 1, delta: "Look" },
        { type: "response.output_text.delta", output_index: 1, delta: "ing." },
        done(1, message("Looking.")),
        { type: "response.output_item.added", output_index: 2, item: { ...call, arguments: "" } },
        { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"at":' },
        { type: "response.function_call_arguments.delta", output_index: 2, delta: '"a"}' },
        done(2, call),
        completed({ usage }),
      ),
    ];
    const events = await eventsOf();
    expect(events.map(({ type }) => type).join(" ")).toBe(
      "start block.start thinking signature block.end block.start text text block.end block.start call call block.end end",
    );
    expect(endOf(events)).toMatchObject({
      stop: "tool_use",
      providerId: "resp_1",
      usage: { inputTokens: 40, cacheReadTokens: 60, outputTokens: 30, thinkingTokens: 20 },
      content: [
        { type: "thinking", text: "I look first.", model: "gpt-6-sol", signature: JSON.stringify(reasoning) },
        { type: "text", text: "Looking." },
        { type: "tool_use", id: "call_9", name: "Look", input: { at: "a" } },
      ],
    });
  });

  test("that does not stream is read the same", async () => {
    answers = [
      (response) =>
        void response
          .writeHead(200, { "content-type": "application/json" })
          .end(
            JSON.stringify({ id: "resp_1", status: "completed", output: [reasoning, message("ok"), call] }),
          ),
    ];
    expect(endOf(await eventsOf())).toMatchObject({
      stop: "tool_use",
      content: [{ type: "thinking" }, { text: "ok" }, { id: "call_9" }],
    });
  });

  test.each([
    ["a refusal", { content: [{ type: "refusal", refusal: "No." }] }, completed(), "refusal"],
    [
      "its limit",
      {},
      { ...completed({ incomplete_details: { reason: "max_output_tokens" } }), type: "response.incomplete" },
      "output_limit",
    ],
    [
      "a filter",
      {},
      { ...completed({ incomplete_details: { reason: "content_filter" } }), type: "response.incomplete" },
      "refusal",
    ],
  ])("that ends by %s says so", async (_, item, last, stop) => {
    answers = [streams(created, done(0, { ...message("half"), ...item }), last)];
    expect(endOf(await eventsOf())?.stop).toBe(stop);
  });

  test("half a call in a reply that hit its limit stays broken", async () => {
    const half = { ...call, arguments: '{"at":"x', status: "incomplete" };
    const limit = { reason: "max_output_tokens" };
    answers = [
      streams(created, done(0, half), {
        ...completed({ incomplete_details: limit }),
        type: "response.incomplete",
      }),
    ];
    expect(endOf(await eventsOf())?.content).toMatchObject([{ type: "tool_use", broken: '{"at":"x' }]);
  });
});

describe("a failure", () => {
  test.each([
    [401, { message: `Incorrect key ${key}`, code: "invalid_api_key" }, "key_refused"],
    [429, { message: "slow down", code: "rate_limit_exceeded" }, "rate_limited"],
    [429, { message: "no credit", code: "insufficient_quota" }, "billing"],
    [404, { message: "no such model", code: "model_not_found" }, "model_unknown"],
    [400, { message: "too long", code: "context_length_exceeded" }, "prompt_too_long"],
    [500, { message: "oops" }, "server_error"],
    [503, { message: "busy" }, "overloaded"],
  ])("%s %j is %s", async (status, error, code) => {
    answers = [refuses(status, error, { "retry-after": "2", "x-request-id": "req_7" })];
    const found = await faultOf();
    expect(found?.code).toBe(code);
    expect(found?.detail).toMatchObject({ requestId: "req_7", retryAfterMs: 2_000 });
  });

  test.each<[string, readonly Json[], string]>([
    [
      "a stream that is cut",
      [created, { type: "response.output_text.delta", output_index: 0, delta: "h" }],
      "stream_cut",
    ],
    [
      "a response that failed",
      [created, { type: "response.failed", response: { error: { code: "server_error", message: "x" } } }],
      "server_error",
    ],
    [
      "a limit inside the stream",
      [created, { type: "error", code: "rate_limit_exceeded", message: "x", param: null }],
      "rate_limited",
    ],
    [
      "a piece before the start",
      [{ type: "response.output_text.delta", output_index: 0, delta: "h" }],
      "stream_malformed",
    ],
    ["two starts", [created, created, completed()], "stream_malformed"],
    [
      "pieces of no call",
      [created, { type: "response.function_call_arguments.delta", output_index: 0, delta: "{" }],
      "stream_malformed",
    ],
    ["something after the end", [created, completed(), done(0, call)], "stream_malformed"],
    ["a call without a name", [created, done(0, { ...call, name: "" }), completed()], "stream_malformed"],
  ])("%s is %s", async (_, events, code) => {
    answers = [streams(...events)];
    expect((await faultOf())?.code).toBe(code);
  });
});
