import { request as httpRequest } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { body, broken, eventsIn, post, serving, streamed } from "../../../test/support/plain-client.ts";
import { isObject } from "../kernel/json.ts";
import { type FaultName, faultReply } from "./fault-replies.ts";
import { httpError, reply, replyWith } from "./reply.ts";
import type { Reply } from "./script.ts";

const { serve, close } = serving();
afterEach(close);

describe("a scripted fault over HTTP", () => {
  const faulty = (given: FaultName | Reply) =>
    serve({ replies: [typeof given === "string" ? faultReply(given) : given, reply("alive")] });

  test.each([
    ["prompt-too-long", 400, "invalid_request_error"],
    ["key-refused", 401, "authentication_error"],
    ["request-too-large", 413, "request_too_large"],
    ["rate-limited", 429, "rate_limit_error"],
    ["server-error", 500, "api_error"],
    ["overloaded", 529, "overloaded_error"],
  ] as const)("%s is answered with %i", async (name, status, type) => {
    const response = await post(await faulty(name), body({ stream: true }));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ type: "error", error: { type } });
    expect(response.headers.get("retry-after")).toBe(status === 429 ? "3600" : null);
  });

  test("cut-sse ends the connection without the end of the stream", async () => {
    const { text, error } = await broken(await faulty("cut-sse"));
    expect(error).toBeDefined();
    expect(eventsIn(text).map(({ type }) => type)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
    ]);
  });

  test("a cut before the first event still sends the head", async () => {
    const { text, error } = await broken(
      await faulty(replyWith({ fault: { kind: "cut", afterEvents: 0 } }, "x")),
    );
    expect([text.trim(), error === undefined]).toEqual(["", false]);
  });

  test("error-in-stream says why and ends", async () => {
    const events = await streamed(await faulty("error-in-stream"));
    expect(events.at(-1)).toEqual({
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    });
  });

  test("reset gives no answer at all", async () => {
    await expect(post(await faulty("reset"), body())).rejects.toThrow();
  });

  test.each([
    ["silence", 0],
    ["pings-only", 2],
  ] as const)("%s keeps the connection open", async (name, minPings) => {
    const given = faultReply(name);
    const quick =
      given.fault?.kind === "stall" ? { ...given, fault: { ...given.fault, pingEveryMs: 5 } } : given;
    const server = await faulty(quick);
    const stop = new AbortController();
    const response = await post(server, body({ stream: true }), { signal: stop.signal });
    const decoder = new TextDecoder();
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
      return "ended";
    })().catch(() => "aborted");
    const waited = new Promise((resolve) => setTimeout(() => resolve("open"), 80));
    expect(await Promise.race([reading, waited])).toBe("open");
    stop.abort();
    await reading;
    const types = eventsIn(text).map(({ type }) => type);
    expect(types.slice(0, 4)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
    ]);
    if (minPings === 0) expect(types).toHaveLength(4);
    else expect(types.slice(4).filter((type) => type === "ping").length).toBeGreaterThanOrEqual(minPings);
  });

  test.each([
    ["two-message-starts", ["message_start", "ping", "message_start", "content_block_start"]],
    ["delta-before-start", ["content_block_delta", "ping", "message_start", "content_block_start"]],
  ] as const)("%s breaks the order of the stream", async (name, first) => {
    const events = await streamed(await faulty(name));
    expect(events.map(({ type }) => type).slice(0, 4)).toEqual(first);
  });

  test("call-after-end goes on after the end", async () => {
    const types = (await streamed(await faulty("call-after-end"))).map(({ type }) => type);
    expect(types.slice(types.indexOf("message_stop"))).toEqual([
      "message_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
    ]);
  });

  test("garbage holds a record that is not JSON", async () => {
    const text = await (await post(await faulty("garbage"), body({ stream: true }))).text();
    expect(() => eventsIn(text)).toThrow(SyntaxError);
  });

  test("wrong-content-type is a page of something else", async () => {
    const response = await post(await faulty("wrong-content-type"), body({ stream: true }));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html"]);
  });

  test("gzip-cut cannot be unpacked to its end", async () => {
    const server = await faulty("gzip-cut");
    await expect(streamed(server)).rejects.toThrow();
  });

  test("usage may be negative or missing, in both places where it stands", async () => {
    const usages = async (name: FaultName) => {
      const [start, ...rest] = await streamed(await faulty(name));
      const message = start?.["message"];
      const end = rest.find(({ type }) => type === "message_delta");
      return [isObject(message) ? message["usage"] : "no message", end?.["usage"]];
    };
    expect(await usages("missing-usage")).toEqual([undefined, undefined]);
    expect(await usages("negative-usage")).toMatchObject([{ input_tokens: -100 }, { output_tokens: -20 }]);
  });

  test.each([
    ["bad-json-arguments", '{"file_path": nowhere'],
    ["max-tokens-in-call", '{"file_path": "a'],
  ] as const)("%s sends the arguments as they were written", async (name, expected) => {
    const events = await streamed(await faulty(name));
    const sent = events
      .map(({ delta }) => (isObject(delta) ? String(delta["partial_json"] ?? "") : ""))
      .join("");
    expect(sent).toBe(expected);
  });

  test("a reply in one piece can be cut or stalled too", async () => {
    const cut = await post(await faulty("cut-sse"), body());
    await expect(cut.text()).rejects.toThrow();
    const stalled = await faulty("silence");
    const stop = AbortSignal.timeout(50);
    await expect(post(stalled, body(), { signal: stop })).rejects.toThrow();
  });

  test.each(["cut-sse", "reset", "gzip-cut", "silence"] as const)(
    "the server lives on after %s",
    async (name) => {
      const server = await faulty(name);
      await post(server, body({ stream: true }), { signal: AbortSignal.timeout(50) })
        .then((response) => response.text())
        .catch(() => "broken, as it should be");
      expect(await (await post(server, body())).json()).toMatchObject({ content: [{ text: "alive" }] });
    },
  );

  test("headers of an error reach a plain client as they were written", async () => {
    const server = await faulty(httpError(503, { headers: { "retry-after-ms": "250" } }));
    const headers = await new Promise((resolve, reject) => {
      const sent = httpRequest(
        `${server.url}/v1/messages`,
        { method: "POST", headers: { "anthropic-version": "x" } },
        (response) => {
          response.resume();
          resolve(response.headers);
        },
      );
      sent.on("error", reject);
      sent.end(JSON.stringify(body()));
    });
    expect(headers).toMatchObject({ "retry-after-ms": "250", "content-type": "application/json" });
  });
});
