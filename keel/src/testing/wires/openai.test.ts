import { afterEach, describe, expect, test } from "vitest";
import { post, serving } from "../../../../test/support/plain-client.ts";
import { faultReply } from "../fault-replies.ts";
import { layout } from "../layout.ts";
import type { ModelServer } from "../model-server.ts";
import { httpError, reply, replyWith, thinking, toolUse } from "../reply.ts";
import { findViolations } from "../request-rules.ts";

const { serve, close } = serving();
afterEach(close);

const tool = { type: "function", function: { name: "Read", parameters: { type: "object" } } };
const use = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({
    id,
    type: "function",
    function: { name: "Read", arguments: '{"path":"a"}' },
  })),
});
const answer = (id: string, content: unknown = "done") => ({ role: "tool", tool_call_id: id, content });
const user = { role: "user", content: "hello" };

const body = (change: object = {}): object => ({
  model: "test-model",
  max_tokens: 100,
  tools: [tool],
  messages: [{ role: "system", content: "Be brief." }, user],
  ...change,
});

const path = "/v1/chat/completions";
const ask = async (server: ModelServer, change: object = {}) =>
  (await post(server, body(change), { path })).json() as Promise<Record<string, unknown>>;
const chunksOf = async (server: ModelServer): Promise<unknown[]> => {
  const text = await (await post(server, body({ stream: true }), { path })).text();
  return text.split("\n\n").flatMap((record) => {
    const data = /^data: (.*)$/m.exec(record)?.[1];
    if (data === undefined) return [];
    return [data === "[DONE]" ? data : JSON.parse(data)];
  });
};

describe("a reply", () => {
  test("comes in one piece", async () => {
    const server = await serve({
      replies: [reply(thinking("hm"), "I read.", toolUse("Read", { path: "a" }, "c1"))],
    });
    expect(await ask(server)).toMatchObject({
      id: "msg_scripted_0001",
      object: "chat.completion",
      model: "test-model",
      choices: [
        {
          message: {
            role: "assistant",
            content: "I read.",
            reasoning_content: "hm",
            tool_calls: [
              { id: "c1", type: "function", function: { name: "Read", arguments: '{"path":"a"}' } },
            ],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    });
  });

  test("comes as chunks: role, text, calls in pieces, the reason, the count and the end", async () => {
    const usage = { inputTokens: 10, cacheReadTokens: 5, cacheWriteTokens: 3, outputTokens: 2 };
    const server = await serve({
      replies: [replyWith({ chunkChars: 8, usage }, "Hello", toolUse("Read", { path: "a" }, "c1"))],
    });
    const chunks = await chunksOf(server);
    expect(chunks.at(-1)).toBe("[DONE]");
    expect(chunks.at(-2)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 18,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
      },
    });
    const deltas = chunks
      .slice(0, -2)
      .map((chunk) => (chunk as { choices: [{ delta: object; finish_reason: unknown }] }).choices[0]);
    expect(deltas.map(({ delta }) => delta)).toEqual([
      { role: "assistant", content: "" },
      { content: "Hello" },
      { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "Read", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '"a"}' } }] },
      {},
    ]);
    expect(deltas.map(({ finish_reason }) => finish_reason).at(-1)).toBe("tool_calls");
  });

  test("fails in the words of this wire", async () => {
    const server = await serve({
      replies: [
        faultReply("prompt-too-long"),
        httpError(401),
        httpError(429, { headers: { "retry-after": "3" } }),
        faultReply("server-error"),
      ],
    });
    const codes: unknown[] = [];
    for (let at = 0; at < 4; at++) codes.push((await ask(server))["error"]);
    expect(codes).toMatchObject([
      { code: "context_length_exceeded", type: "invalid_request_error" },
      { code: "invalid_api_key" },
      { code: "rate_limit_exceeded" },
      { code: null, type: "server_error" },
    ]);
  });

  test("is refused without the right key, and for a model that is not there", async () => {
    const server = await serve({ replies: [], models: ["only"] }, { key: "k" });
    expect((await post(server, body(), { path })).status).toBe(401);
    const headers = { authorization: "Bearer k" };
    expect((await post(server, body(), { path, headers })).status).toBe(404);
  });
});

describe("a request", () => {
  test("is laid out like any other", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      user,
      use("c1"),
      answer("c1", "Error: no such file"),
    ];
    const picture = {
      role: "user",
      content: [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ],
    };
    expect(layout(body({ messages: [...messages, picture] }))).toMatchInlineSnapshot(`
      "tools Read
      system "Be brief."
      user text "hello"
      assistant tool_use Read {"path":"a"}
      user tool_result failed "no such file"
      user text "see"
      user image image/png (4 characters of base64)"
    `);
  });

  test("that is right breaks no rule", () => {
    expect(findViolations(body())).toEqual([]);
    expect(
      findViolations(body({ messages: [user, use("c1", "c2"), answer("c1"), answer("c2"), user] })),
    ).toEqual([]);
    expect(findViolations(body({ max_tokens: undefined, max_completion_tokens: 10 }))).toEqual([]);
  });

  test.each([
    ["a result that nobody asked for", { messages: [user, answer("c1")] }, /answers no call/],
    [
      "a result for another call",
      { messages: [user, use("c1"), answer("c2")] },
      /c2 answers no call.*c1 have no result/s,
    ],
    [
      "a result that comes twice",
      { messages: [user, use("c1"), answer("c1"), answer("c1")] },
      /answers no call/,
    ],
    [
      "a call without a result",
      { messages: [user, use("c1", "c2"), answer("c1"), user] },
      /c2 have no result/,
    ],
    ["a call without a result at the end", { messages: [user, use("c1")] }, /c1 have no result/],
    [
      "words between a call and its result",
      { messages: [user, use("c1"), user, answer("c1")] },
      /have no result/,
    ],
    ["a role that is none", { messages: [{ role: "robot", content: "x" }] }, /no role "robot"/],
    [
      "a system prompt in the middle",
      { messages: [user, { role: "system", content: "x" }, user] },
      /must come first/,
    ],
    [
      "arguments that are no text",
      {
        messages: [
          user,
          { role: "assistant", tool_calls: [{ id: "c1", function: { name: "Read", arguments: {} } }] },
          answer("c1"),
        ],
      },
      /not JSON in a text/,
    ],
    [
      "arguments that are not JSON",
      {
        messages: [
          user,
          { role: "assistant", tool_calls: [{ id: "c1", function: { name: "Read", arguments: "{" } }] },
          answer("c1"),
        ],
      },
      /not JSON in a text/,
    ],
    [
      "an id that is too long",
      { messages: [user, use("x".repeat(41)), answer("x".repeat(41))] },
      /longer than 40/,
    ],
    [
      "a tool's name that is too long",
      { tools: [{ type: "function", function: { name: "x".repeat(65), parameters: { type: "object" } } }] },
      /longer than 64/,
    ],
    ["no tools in a list", { tools: [], stream_options: {}, stream: true }, /empty list/],
    [
      "too many tools",
      {
        tools: Array.from({ length: 129 }, (_, at) => ({
          type: "function",
          function: { name: `t${at}`, parameters: { type: "object" } },
        })),
      },
      /at most 128/,
    ],
    ["two limits", { max_completion_tokens: 5 }, /only one of the two/],
    ["options of a stream without one", { stream_options: { include_usage: true } }, /only a stream/],
    ["messages that are none", { messages: "hello" }, /messages is not a list/],
    [
      "an image that is not base64",
      {
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,A" } }] },
        ],
      },
      /not valid base64/,
    ],
  ])("with %s is refused", (_, change, why) => {
    expect(findViolations(body(change)).join("\n")).toMatch(why);
  });
});
