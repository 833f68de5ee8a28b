import { afterEach, describe, expect, test } from "vitest";
import { body, broken, eventsIn, post, serving } from "../../../test/support/plain-client.ts";
import { isObject } from "../kernel/json.ts";
import { faultReply } from "./fault-replies.ts";
import { startModelServer } from "./model-server.ts";
import { reply, replyWith, thinking, toolUse } from "./reply.ts";

const { serve, close } = serving();
afterEach(close);

describe("a reply of the server", () => {
  test("streams in the order of the wire", async () => {
    const server = await serve({
      replies: [replyWith({ chunkChars: 5 }, thinking("hm", "sig"), "I look", toolUse("Read", { a: 1 }))],
    });
    const response = await post(server, body({ stream: true }));
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("request-id")).toBe("req_scripted_1");
    const usage = expect.objectContaining({ input_tokens: 100, output_tokens: expect.any(Number) });
    const block = (index: number, content_block: object) => ({
      type: "content_block_start",
      index,
      content_block,
    });
    const delta = (index: number, value: object) => ({ type: "content_block_delta", index, delta: value });
    expect(eventsIn(await response.text())).toEqual([
      {
        type: "message_start",
        message: {
          id: "msg_scripted_0001",
          type: "message",
          role: "assistant",
          model: "test-model",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage,
        },
      },
      { type: "ping" },
      block(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(0, { type: "signature_delta", signature: "sig" }),
      { type: "content_block_stop", index: 0 },
      block(1, { type: "text", text: "" }),
      delta(1, { type: "text_delta", text: "I loo" }),
      delta(1, { type: "text_delta", text: "k" }),
      { type: "content_block_stop", index: 1 },
      block(2, { type: "tool_use", id: "toolu_scripted_0001", name: "Read", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: '{"a":' }),
      delta(2, { type: "input_json_delta", partial_json: "1}" }),
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage },
      { type: "message_stop" },
    ]);
  });

  test("comes in one piece when no stream is asked for", async () => {
    const hidden = { type: "thinking" as const, text: "", hidden: "xyz" };
    const foreign = { type: "foreign" as const, data: { type: "server_tool_use" } };
    const usage = {
      inputTokens: 5,
      cacheWriteTokens: 9,
      cacheWriteLongTokens: 4,
      cacheReadTokens: 2,
      webSearches: 1,
    };
    const server = await serve({
      replies: [
        replyWith(
          { stop: "pause", usage },
          thinking("hm", "sig"),
          hidden,
          "so",
          toolUse("Read", { a: 1 }),
          foreign,
        ),
      ],
    });
    const response = await post(server, body());
    expect(await response.json()).toEqual({
      id: "msg_scripted_0001",
      type: "message",
      role: "assistant",
      model: "test-model",
      stop_reason: "pause_turn",
      stop_sequence: null,
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "redacted_thinking", data: "xyz" },
        { type: "text", text: "so" },
        { type: "tool_use", id: "toolu_scripted_0001", name: "Read", input: { a: 1 } },
        { type: "server_tool_use" },
      ],
      usage: {
        input_tokens: 5,
        output_tokens: 20,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 4 },
        server_tool_use: { web_search_requests: 1 },
      },
    });
  });

  test("follows rules, functions and a meter as the script says", async () => {
    const byRule = await serve({
      replies: [],
      rules: [{ when: { lastUserContains: "hello" }, reply: reply("by rule") }],
    });
    expect(await (await post(byRule, body())).json()).toMatchObject({ content: [{ text: "by rule" }] });
    const byFunction = await serve((asked, { number }) => reply(`${number} ${String(asked["model"])}`), {
      meter: (seen, scripted) => ({ ...scripted, cacheReadTokens: seen.number * 11 }),
    });
    expect(await (await post(byFunction, body())).json()).toMatchObject({
      content: [{ text: "1 test-model" }],
      usage: { cache_read_input_tokens: 11 },
    });
  });

  test("waits before its first byte as long as the script says", async () => {
    const server = await serve({ replies: [replyWith({ delayMs: 30 }, "late")] });
    const before = performance.now();
    await (await post(server, body())).json();
    expect(performance.now() - before).toBeGreaterThan(25);
  });

  test("of 50,000 deltas arrives whole", async () => {
    const server = await serve({ replies: [replyWith({ chunkChars: 1 }, "x".repeat(50_000))] });
    const response = await post(server, body({ stream: true }));
    const text = await response.text();
    expect(text.split("text_delta")).toHaveLength(50_001);
    expect(text.endsWith('data: {"type":"message_stop"}\n\n')).toBe(true);
  });
});

describe("the server", () => {
  test("keeps what it saw, with keys masked, and tells it before it answers", async () => {
    const told: number[] = [];
    const server = await serve(
      { replies: [], otherwise: reply("ok") },
      { onRequest: ({ number }) => told.push(number) },
    );
    const headers = { "x-api-key": "key-0123456789abcdef", authorization: "short", "x-other": "seen" };
    await (await post(server, body(), { headers })).json();
    await (await post(server, body({ model: "second" }))).json();
    expect(told).toEqual([1, 2]);
    expect(server.requests.map((seen) => seen.body["model"])).toEqual(["test-model", "second"]);
    expect(server.requests[0]).toMatchObject({
      number: 1,
      wire: "anthropic",
      wants: "reply",
      path: "/v1/messages",
      violations: [],
      headers: { "x-api-key": "***cdef", authorization: "***", "x-other": "seen" },
    });
    expect(JSON.stringify(server.requests)).not.toContain("0123456789");
  });

  test("forgets the oldest requests past its limit", async () => {
    const server = await serve({ replies: [], otherwise: reply("ok") }, { maxRequests: 2 });
    for (let turn = 0; turn < 3; turn++) await (await post(server, body())).json();
    expect(server.requests.map(({ number }) => number)).toEqual([2, 3]);
  });

  test("refuses an invalid request in the provider's words and takes no reply for it", async () => {
    const server = await serve({ replies: [reply("only once")] });
    const refused = await post(server, body({ messages: [{ role: "assistant", content: "hi" }] }));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: expect.stringContaining("first message must be the user's"),
      },
      request_id: "req_scripted_1",
    });
    expect(server.requests[0]?.violations).toHaveLength(2);
    expect(await (await post(server, body())).json()).toMatchObject({ content: [{ text: "only once" }] });
  });

  test("does not check where it is told not to", async () => {
    const server = await serve({ replies: [reply("ok")] }, { check: "none" });
    expect((await post(server, body({ messages: [] }))).status).toBe(200);
  });

  test.each([
    ["a body that is not JSON", "{oops", 400],
    ["a body that is not an object", "[]", 400],
    ["a body over 32 MB", " ".repeat(33 * 1024 * 1024), 413],
  ])("refuses %s", async (_, content, status) => {
    const server = await serve({ replies: [reply("ok")] });
    const response = await post(server, content);
    expect(response.status).toBe(status);
    expect(server.requests).toHaveLength(1);
  });

  test("refuses a request without its version header", async () => {
    const server = await serve({ replies: [reply("ok")] });
    const response = await fetch(`${server.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify(body()),
    });
    expect(response.status).toBe(400);
  });

  test("refuses any other key when it has one, and none when it has none", async () => {
    const server = await serve({ replies: [], otherwise: reply("ok") }, { key: "right" });
    const statusWith = async (headers: Record<string, string>) =>
      (await post(server, body(), { headers })).status;
    expect(await statusWith({ "x-api-key": "right" })).toBe(200);
    expect(await statusWith({ authorization: "Bearer right" })).toBe(200);
    expect(await statusWith({ "x-api-key": "wrong" })).toBe(401);
    expect(await statusWith({})).toBe(401);
    const open = await serve({ replies: [reply("ok")] });
    expect((await post(open, body())).status).toBe(200);
  });

  test("says so when the script has no reply, in a way that nobody tries again", async () => {
    const server = await serve({ replies: [] });
    const response = await post(server, body());
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("no reply to request 1");
  });

  test("lists models, knows no others, and counts tokens", async () => {
    const server = await serve({ replies: [reply("ok")], models: ["a", "b"] });
    const listed = await fetch(`${server.url}/v1/models`, { headers: { "anthropic-version": "2023-06-01" } });
    expect(await listed.json()).toMatchObject({
      data: [{ id: "a", type: "model" }, { id: "b" }],
      has_more: false,
    });
    expect((await post(server, body({ model: "c" }))).status).toBe(404);
    const path = "/v1/messages/count_tokens";
    const countable = { model: "a", messages: [{ role: "user", content: "hello" }] };
    const counted: unknown = await (await post(server, countable, { path })).json();
    expect(isObject(counted) && Number(counted["input_tokens"])).toBeGreaterThan(5);
    expect((await post(server, { ...countable, messages: [] }, { path })).status).toBe(400);
    expect(server.others.map(({ wants }) => wants)).toEqual(["models", "count", "count"]);
  });

  test("lists one model of its own, and serves nothing elsewhere", async () => {
    const server = await serve({ replies: [] });
    const listed = await fetch(`${server.url}/v1/models`, { headers: { "anthropic-version": "2023-06-01" } });
    expect(await listed.json()).toMatchObject({ data: [{ id: "scripted-model" }] });
    expect(await (await fetch(`${server.url}/v1/models`)).json()).toMatchObject({ object: "list" });
    expect((await fetch(server.url)).status).toBe(404);
  });

  test("listens on the loopback interface, at a given port, which nobody else can take", async () => {
    const server = await serve({ replies: [] });
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    await expect(startModelServer({ script: { replies: [] }, port: server.port })).rejects.toThrow(
      "EADDRINUSE",
    );
  });

  test("goes on when a reader leaves in the middle", async () => {
    const server = await serve({
      replies: [replyWith({ betweenMs: 5 }, "x".repeat(10_000)), reply("still here")],
    });
    const stop = new AbortController();
    const response = await post(server, body({ stream: true }), { signal: stop.signal });
    await response.body?.getReader().read();
    stop.abort();
    expect(await (await post(server, body())).json()).toMatchObject({ content: [{ text: "still here" }] });
  });

  test("closes although a reply is stalled", async () => {
    const server = await serve({ replies: [faultReply("silence")] });
    const run = broken(server);
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await server.close();
    await expect(run.then(({ error }) => error)).resolves.toBeDefined();
  });
});
