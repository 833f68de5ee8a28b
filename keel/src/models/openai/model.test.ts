import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Loopback, loopback } from "../../../../test/support/loopback.ts";
import {
  call,
  callChunk,
  chunk,
  finish,
  textChunk,
  toSse,
  usageChunk,
} from "../../../../test/support/openai-wire.ts";
import { toFault } from "../../kernel/fault.ts";
import type { Json } from "../../kernel/json.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import { catalog } from "../catalog.ts";
import { openHttp } from "../http.ts";
import { openaiModel } from "./model.ts";

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

const request: ModelRequest = {
  model: "qwen3",
  system: [],
  tools: [],
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  maxOutputTokens: 1_000,
  thinking: { kind: "off" },
  session: "s",
};

const connect = (options: { credential?: "none"; aliases?: Record<string, string> } = {}) =>
  openaiModel({
    endpoint: {
      provider: "openai",
      baseUrl: `${server.url}/v1`,
      credential: options.credential === "none" ? undefined : { kind: "key", value: key },
    },
    catalog: catalog({ aliases: options.aliases }),
    http: http.send,
    now: () => 0,
  });

async function eventsOf(model = connect(), asked: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const patience = AbortSignal.timeout(5_000);
  for await (const event of model.stream({ ...request, ...asked }, patience)) events.push(event);
  return events;
}

async function faultOf(model = connect(), asked: Partial<ModelRequest> = {}) {
  const thrown = await eventsOf(model, asked).then(
    () => undefined,
    (error: unknown) => toFault(error),
  );
  expect(JSON.stringify(thrown?.toData())).not.toContain("canary");
  return thrown;
}

const endOf = (events: readonly ModelEvent[]) => events.find((event) => event.type === "end");
const bodies = () => server.seen.map(({ body }): Record<string, unknown> => JSON.parse(body));

const streaming = { "content-type": "text/event-stream; charset=utf-8" };
const streams = (chunks: readonly Json[], last?: string) => (response: ServerResponse) =>
  void response.writeHead(200, streaming).end(toSse(chunks, last));
const json = (status: number, body: Json) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const hello = streams([textChunk("hello"), finish()]);

describe("a request", () => {
  test("goes to the completions under the base URL, with the key as a bearer token", async () => {
    answers = [hello];
    await eventsOf();
    expect(server.seen[0]).toMatchObject({
      method: "POST",
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${key}` },
    });
  });

  test("to a server that needs no key carries none", async () => {
    answers = [hello];
    await eventsOf(connect({ credential: "none" }));
    expect(server.seen[0]?.headers).not.toHaveProperty("authorization");
  });

  test("names the model as the server knows it: without alias and without the provider's name", async () => {
    answers = [hello, hello, hello];
    const model = connect({ aliases: { fast: "openai/qwen3:8b" } });
    for (const name of ["fast", "openai/qwen3:8b", "vendor/qwen3"]) await eventsOf(model, { model: name });
    expect(bodies().map((body) => body["model"])).toEqual(["qwen3:8b", "qwen3:8b", "vendor/qwen3"]);
    expect(model.info("fast")).toMatchObject({ id: "fast", provider: "openai", prices: null });
  });
});

describe("a reply", () => {
  test("is the same, however its bytes are split", async () => {
    const sse = Buffer.from(
      toSse([
        textChunk("héllo 😀"),
        callChunk(call({ index: 0, id: "c1", name: "Read", args: '{"p":"ü"}' })),
        finish("tool_calls"),
      ]),
    );
    const splitting = (size: number) => async (response: ServerResponse) => {
      response.writeHead(200, streaming);
      for (let at = 0; at < sse.length; at += size) {
        response.write(sse.subarray(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    const replies: (readonly ModelEvent[])[] = [];
    for (const size of [sse.length, 1, 7]) {
      answers = [(response) => void splitting(size)(response)];
      replies.push(await eventsOf());
    }
    expect(replies[1]).toEqual(replies[0]);
    expect(replies[2]).toEqual(replies[0]);
    expect(endOf(replies[0] ?? [])?.content).toMatchObject([{ text: "héllo 😀" }, { input: { p: "ü" } }]);
  });

  test("may come whole from a server that does not stream", async () => {
    const message = {
      role: "assistant",
      content: "I read.",
      reasoning_content: "hm",
      tool_calls: [
        call({ id: "c1", name: "Read", args: '{"p":1}' }),
        call({ id: "c2", name: "Read", args: "{}" }),
      ],
    };
    answers = [
      json(200, {
        id: "x",
        model: "m",
        choices: [{ index: 0, message, finish_reason: "tool_calls" }],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      }),
    ];
    expect(endOf(await eventsOf())).toMatchObject({
      stop: "tool_use",
      usage: { inputTokens: 3, outputTokens: 2 },
      content: [{ type: "thinking" }, { text: "I read." }, { id: "c1", input: { p: 1 } }, { id: "c2" }],
    });
  });

  test("ends without [DONE] when it had a reason, and is cut when it had neither", async () => {
    answers = [streams([textChunk("a"), finish()], ""), streams([textChunk("a")], "")];
    expect(endOf(await eventsOf())?.content).toEqual([{ type: "text", text: "a" }]);
    expect((await faultOf())?.code).toBe("stream_cut");
  });

  test("ends soon after [DONE], also when the server leaves the connection open", async () => {
    answers = [
      (response) =>
        void response
          .writeHead(200, streaming)
          .write(toSse([textChunk("a"), finish(), usageChunk({ prompt_tokens: 1 })])),
    ];
    expect(endOf(await eventsOf())).toMatchObject({ usage: { inputTokens: 1 } });
  });

  test("passes comments over, which some servers send to keep the line open", async () => {
    answers = [streams([textChunk("a"), finish()], ": still here\n\ndata: [DONE]\n\n")];
    expect(endOf(await eventsOf())?.stop).toBe("end");
  });
});

describe("what went wrong", () => {
  test("in the stream is thrown after what came before it", async () => {
    answers = [streams([textChunk("a"), { error: { message: "out of memory", code: 500 } }])];
    const events: ModelEvent[] = [];
    const reading = (async () => {
      for await (const event of connect().stream(request, AbortSignal.timeout(5_000))) events.push(event);
    })();
    await expect(reading).rejects.toMatchObject({
      code: "server_error",
      detail: { reason: "out of memory" },
    });
    expect(events.map(({ type }) => type)).toEqual(["start", "block.start", "text"]);
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    [
      "an error with the status of a success",
      json(200, { error: { message: "x", code: "context_length_exceeded" } }),
      "prompt_too_long",
    ],
    ["an error in a list", json(200, [{ error: { message: "x", code: 503 } }]), "overloaded"],
    ["an answer that is something else", json(200, { hello: 1 }), "stream_malformed"],
    ["a list of nothing", json(200, []), "stream_malformed"],
    [
      "a page",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      "stream_malformed",
    ],
    [
      "a chunk that is not JSON",
      (response) => void response.writeHead(200, streaming).end("data: {oops\n\n"),
      "stream_malformed",
    ],
    ["no answer at all", (response) => void response.socket?.destroy(), "unreachable"],
    ["a wrong address", (response) => void response.writeHead(404).end("not found"), "model_bad_request"],
  ])("is a fault by its cause: %s", async (_, answer, code) => {
    answers = [answer];
    expect((await faultOf())?.code).toBe(code);
    expect(server.seen).toHaveLength(1);
  });

  test("a wait that the server asks for is told", async () => {
    answers = [
      (response) =>
        void response
          .writeHead(429, { "retry-after": "7", "x-request-id": "req_1" })
          .end('{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'),
    ];
    expect(await faultOf()).toMatchObject({
      code: "rate_limited",
      detail: { retryAfterMs: 7_000, requestId: "req_1", status: 429 },
    });
  });

  test("an abort is told soon as such", async () => {
    answers = [(response) => void response.writeHead(200, streaming).write(toSse([textChunk("a")], ""))];
    const stop = new AbortController();
    const reading = (async () => {
      for await (const event of connect().stream(request, stop.signal))
        if (event.type === "text") stop.abort();
    })();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("a field that the server does not take", () => {
  const refuses = (body: Json, status = 400) => json(status, { error: body });

  test("is left out at once, and from then on", async () => {
    answers = [refuses({ message: "Extra inputs: stream_options" }, 422), hello, hello];
    const model = connect();
    expect(endOf(await eventsOf(model))?.stop).toBe("end");
    await eventsOf(model);
    expect(bodies().map((body) => "stream_options" in body)).toEqual([true, false, false]);
  });

  test("gets its other name where it has one", async () => {
    answers = [refuses({ message: "Use 'max_completion_tokens' instead.", param: "max_tokens" }), hello];
    await eventsOf();
    expect(bodies()).toMatchObject([{ max_tokens: 1_000 }, { max_completion_tokens: 1_000 }]);
  });

  test("is not tried for ever", async () => {
    answers = [
      refuses({ message: "no", param: "max_tokens" }),
      refuses({ message: "no", param: "max_completion_tokens" }),
      hello,
    ];
    expect((await faultOf())?.code).toBe("model_bad_request");
    expect(server.seen).toHaveLength(2);
  });

  test("is not what a prompt that is too long is about, although its words name one", async () => {
    answers = [
      refuses({
        message: "'max_tokens' is too large: 8192. This model's maximum context length is 8192 tokens.",
      }),
      hello,
    ];
    expect((await faultOf())?.code).toBe("prompt_too_long");
    expect(server.seen).toHaveLength(1);
  });
});

test("a delta without anything in it is no event", async () => {
  answers = [streams([chunk({ role: "assistant", content: "" }), chunk({}), textChunk("a"), finish()])];
  expect((await eventsOf()).map(({ type }) => type)).toEqual([
    "start",
    "block.start",
    "text",
    "block.end",
    "end",
  ]);
});
