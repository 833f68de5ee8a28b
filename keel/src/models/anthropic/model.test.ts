import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import {
  blockStart,
  messageEnd,
  messageStart,
  ping,
  textBlock,
  toSse,
  usage,
} from "../../../../test/support/anthropic-wire.ts";
import { type Loopback, loopback } from "../../../../test/support/loopback.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import { catalog } from "../catalog.ts";
import { openHttp } from "../http.ts";
import type { Credential } from "../providers.ts";
import { anthropicModel } from "./model.ts";

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const request: ModelRequest = {
  model: "claude-sonnet-4-5",
  system: ["Be brief."],
  tools: [],
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  maxOutputTokens: 1_000,
  thinking: { kind: "off" },
  session: "s-1",
};

type Asked = {
  credential?: Credential;
  betas?: string[];
  signal?: AbortSignal;
  answerMs?: number;
  onEvent?: (event: ModelEvent) => void;
  model?: string;
};

/** A server that answers like this, and a way to ask it. */
async function modelAt(answer: (response: ServerResponse) => void) {
  const server: Loopback = await loopback((response) => answer(response));
  closers.push(server.close);
  const ask = async (asked: Asked = {}) => {
    const {
      credential,
      betas,
      signal = new AbortController().signal,
      answerMs,
      onEvent,
      model: name = request.model,
    } = asked;
    const http = openHttp(answerMs === undefined ? {} : { answerMs });
    closers.push(http.close);
    const endpoint = { provider: "anthropic", baseUrl: server.url, credential } as const;
    const model = anthropicModel({ endpoint, catalog: catalog(), http: http.send, now: () => 0, betas });
    const events: ModelEvent[] = [];
    for await (const event of model.stream({ ...request, model: name }, signal)) {
      events.push(event);
      onEvent?.(event);
    }
    return events;
  };
  return { ...server, ask };
}

const streaming = { "content-type": "text/event-stream" };
const whole = [messageStart(), ping, ...textBlock(0, "Hello"), ...messageEnd()];
const streams = (response: ServerResponse) => void response.writeHead(200, streaming).end(toSse(whole));
const typesOf = (events: readonly ModelEvent[]) => events.map(({ type }) => type);

describe("a request", () => {
  test("says who asks by the provider's own header, and which version of the wire it speaks", async () => {
    const { ask, seen } = await modelAt(streams);
    await ask({ credential: { kind: "key", value: "k-1" }, betas: ["a", "b"] });
    expect(seen[0]).toMatchObject({ method: "POST", path: "/v1/messages" });
    expect(seen[0]?.headers).toMatchObject({
      "x-api-key": "k-1",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "a,b",
      "content-type": "application/json",
      "accept-encoding": "identity",
    });
    expect(seen[0]?.headers.authorization).toBeUndefined();
    expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject({ stream: true, model: "claude-sonnet-4-5" });
  });

  test("names the model that an alias or a name with its provider stands for", async () => {
    const { ask, seen } = await modelAt(streams);
    for (const model of ["haiku", "anthropic/claude-opus-4-8", "qwen/qwen3"]) await ask({ model });
    expect(seen.map(({ body }) => JSON.parse(body).model)).toEqual([
      "claude-haiku-5-5",
      "claude-opus-4-8",
      "qwen/qwen3",
    ]);
  });

  test("carries a bearer token instead when that is what there is, and nothing when there is nothing", async () => {
    const { ask, seen } = await modelAt(streams);
    await ask({ credential: { kind: "token", value: "t-1" } });
    await ask();
    expect(seen.map(({ headers }) => [headers.authorization, headers["x-api-key"]])).toEqual([
      ["Bearer t-1", undefined],
      [undefined, undefined],
    ]);
  });
});

describe("a reply", () => {
  test("streams: what came is handed on before the rest has come", async () => {
    const stop = new AbortController();
    const { ask } = await modelAt((response) => {
      response.writeHead(200, streaming).write(toSse(whole.slice(0, 4)));
    });
    const came: string[] = [];
    const onEvent = ({ type }: ModelEvent) => {
      came.push(type);
      if (type === "text") stop.abort();
    };
    await expect(ask({ signal: stop.signal, onEvent })).rejects.toMatchObject({ code: "aborted" });
    expect(came).toEqual(["start", "block.start", "text"]);
  });

  test("that comes whole although it was asked to stream is read all the same", async () => {
    const message = { id: "m", type: "message", model: "x", content: [{ type: "text", text: "Hello" }] };
    const body = JSON.stringify({ ...message, stop_reason: "end_turn", usage });
    const { ask } = await modelAt(
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end(body),
    );
    const events = await ask();
    expect(typesOf(events)).toEqual(["start", "block.start", "text", "block.end", "end"]);
    expect(events.at(-1)).toMatchObject({
      stop: "end",
      content: [{ text: "Hello" }],
      usage: { inputTokens: 100 },
    });
  });

  test.each([
    [
      "an error with status 200",
      '{"type":"error","error":{"type":"overloaded_error","message":"m"}}',
      "overloaded",
    ],
    ["some other JSON", '{"hello":1}', "stream_malformed"],
    ["no JSON at all", "hello", "stream_malformed"],
    ["a list", "[]", "stream_malformed"],
  ])("that is %s is a fault", async (_, body, code) => {
    const { ask } = await modelAt(
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end(body),
    );
    await expect(ask()).rejects.toMatchObject({ code });
  });

  test("may be followed by a foreign end mark and by keep-alives", async () => {
    const { ask } = await modelAt(
      (response) =>
        void response.writeHead(200, streaming).end(`${toSse(whole)}data: [DONE]\n\n${toSse([ping])}`),
    );
    expect(typesOf(await ask()).at(-1)).toBe("end");
  });

  test("ends soon although the server leaves the connection open", async () => {
    const { ask } = await modelAt((response) => void response.writeHead(200, streaming).write(toSse(whole)));
    expect(typesOf(await ask()).at(-1)).toBe("end");
  });

  test.each([
    ["ends before its end", toSse(whole.slice(0, -1)), "stream_cut"],
    ["is empty", "", "stream_cut"],
    ["is not JSON", "data: {oops\n\n", "stream_malformed"],
    ["is a bomb", `data: ${"[".repeat(50_000)}${"]".repeat(50_000)}\n\n`, "stream_malformed"],
  ])("that %s is a fault", async (_, body, code) => {
    const { ask } = await modelAt((response) => void response.writeHead(200, streaming).end(body));
    await expect(ask()).rejects.toMatchObject({ code });
  });

  test("with an error in the middle is that error, after what came", async () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "busy" } };
    const { ask } = await modelAt(
      (response) =>
        void response
          .writeHead(200, { ...streaming, "request-id": "req_9" })
          .end(toSse([messageStart(), blockStart(0, { type: "text", text: "" }), error])),
    );
    await expect(ask()).rejects.toMatchObject({
      code: "overloaded",
      detail: { reason: "busy", requestId: "req_9" },
    });
  });
});

describe("an error status", () => {
  test("with words that never end is told within a bound", async () => {
    const { ask } = await modelAt((response) => {
      response.on("error", () => undefined);
      const write = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
        response.once("drain", write);
      };
      response.writeHead(500, { "content-type": "text/plain" });
      write();
    });
    await expect(ask()).rejects.toMatchObject({
      code: "server_error",
      detail: { reason: expect.any(String) },
    });
  });

  test("whose words break off is still that error", async () => {
    const { ask } = await modelAt(
      (response) => void response.writeHead(529).write("half", () => response.destroy()),
    );
    await expect(ask()).rejects.toMatchObject({ code: "overloaded", detail: { status: 529 } });
  });

  test("that redirects is refused without going there", async () => {
    const { ask, seen } = await modelAt((response) => void response.writeHead(307, { location: "/x" }).end());
    await expect(ask()).rejects.toMatchObject({ code: "model_bad_request", detail: { status: 307 } });
    expect(seen).toHaveLength(1);
  });
});

test("a consumer that stops early closes the connection", async () => {
  const closed = Promise.withResolvers<void>();
  const server = await loopback((response) => {
    response.on("close", () => closed.resolve());
    response.writeHead(200, streaming).write(toSse(whole.slice(0, 4)));
  });
  closers.push(server.close);
  const http = openHttp();
  closers.push(http.close);
  const endpoint = { provider: "anthropic", baseUrl: server.url } as const;
  const model = anthropicModel({ endpoint, catalog: catalog(), http: http.send, now: () => 0 });
  for await (const event of model.stream(request, new AbortController().signal))
    if (event.type === "text") break;
  await closed.promise;
});

test("a server that cannot be reached is unreachable, and one that does not answer too", async () => {
  const { ask, close } = await modelAt(() => undefined);
  await expect(ask({ answerMs: 30 })).rejects.toMatchObject({ code: "unreachable" });
  await close();
  await expect(ask()).rejects.toMatchObject({ code: "unreachable" });
});
