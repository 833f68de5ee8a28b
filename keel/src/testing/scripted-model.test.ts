import { describe, expect, test } from "vitest";
import { type Fault, toFault } from "../kernel/fault.ts";
import type { FaultCode } from "../kernel/faults.ts";
import type { Model, ModelEvent, ModelRequest } from "../ports/model.ts";
import { fakeClock } from "./fake-clock.ts";
import { type FaultName, faultNames, faultReply } from "./fault-replies.ts";
import { httpError, rawToolUse, reply, replyWith, thinking, toolUse } from "./reply.ts";
import { scriptedModel } from "./scripted-model.ts";

const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "test-model",
  system: ["Be brief."],
  tools: [{ name: "Read", description: "", input: { type: "object" } }],
  messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  maxOutputTokens: 1000,
  thinking: { kind: "off" },
  session: "session",
  ...change,
});

type Run = { events: ModelEvent[]; fault: Fault | undefined };

async function ask(
  model: Model,
  { asked = request(), signal = new AbortController().signal } = {},
): Promise<Run> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(asked, signal)) events.push(event);
    return { events, fault: undefined };
  } catch (thrown) {
    return { events, fault: toFault(thrown) };
  }
}

const endOf = ({ events }: Run) => events.flatMap((event) => (event.type === "end" ? [event] : []))[0];

describe("a reply of the scripted model", () => {
  test("streams as the port promises, with exactly one end", async () => {
    const model = scriptedModel({
      replies: [replyWith({ chunkChars: 4 }, "I look", toolUse("Read", { a: 1 }))],
    });
    const { events } = await ask(model);
    expect(events).toEqual([
      {
        type: "start",
        providerId: "msg_scripted_0001",
        model: "test-model",
        usage: { inputTokens: 100, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      },
      { type: "block.start", index: 0, block: { type: "text", text: "" } },
      { type: "text", index: 0, text: "I lo" },
      { type: "text", index: 0, text: "ok" },
      { type: "block.end", index: 0, block: { type: "text", text: "I look" } },
      {
        type: "block.start",
        index: 1,
        block: { type: "tool_use", id: "toolu_scripted_0001", name: "Read", input: {} },
      },
      { type: "call", index: 1, json: '{"a"' },
      { type: "call", index: 1, json: ":1}" },
      {
        type: "block.end",
        index: 1,
        block: { type: "tool_use", id: "toolu_scripted_0001", name: "Read", input: { a: 1 } },
      },
      {
        type: "end",
        stop: "tool_use",
        usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
        providerId: "msg_scripted_0001",
        content: [
          { type: "text", text: "I look" },
          { type: "tool_use", id: "toolu_scripted_0001", name: "Read", input: { a: 1 } },
        ],
      },
    ]);
  });

  test("may think, openly or hidden, and hold what only a provider understands", async () => {
    const hidden = { type: "thinking" as const, text: "", hidden: "xyz" };
    const foreign = { type: "foreign" as const, data: { type: "server_tool_use" } };
    const run = await ask(scriptedModel({ replies: [reply(thinking("hm", "sig"), hidden, foreign, "so")] }));
    expect(endOf(run)?.content).toEqual([
      { type: "thinking", text: "hm", signature: "sig" },
      { type: "thinking", text: "", hidden: "xyz" },
      { type: "foreign", provider: "scripted", data: { type: "server_tool_use" } },
      { type: "text", text: "so" },
    ]);
    expect(run.events.filter(({ type }) => type === "thinking" || type === "signature")).toEqual([
      { type: "thinking", index: 0, text: "hm" },
      { type: "signature", index: 0, text: "sig" },
    ]);
  });

  test("keeps arguments that are not an object as broken text", async () => {
    const run = await ask(
      scriptedModel({ replies: [reply(rawToolUse("Read", "{oops"), rawToolUse("Read", "[1]"))] }),
    );
    expect(endOf(run)?.content).toMatchObject([
      { input: {}, broken: "{oops" },
      { input: {}, broken: "[1]" },
    ]);
  });

  test("may come from a function of the request", async () => {
    const model = scriptedModel((asked, { number }) => reply(`${number}: ${asked.messages.length} message`));
    expect(endOf(await ask(model))?.content).toEqual([{ type: "text", text: "1: 1 message" }]);
    expect(endOf(await ask(model))?.content).toEqual([{ type: "text", text: "2: 1 message" }]);
  });

  test("takes its time on the clock", async () => {
    const clock = fakeClock();
    const model = scriptedModel(
      { replies: [replyWith({ delayMs: 1000, betweenMs: 10, chunkChars: 1 }, "abc")] },
      { clock },
    );
    const times: number[] = [];
    const reading = (async () => {
      for await (const _ of model.stream(request(), new AbortController().signal))
        times.push(clock.monotonicMs());
    })();
    await clock.advance(10_000);
    await reading;
    expect(times).toEqual([1000, 1010, 1020, 1030, 1040, 1050, 1060]);
  });
});

describe("the scripted model", () => {
  test("keeps each request as it was, although its lists grow later", async () => {
    const model = scriptedModel({ replies: [], otherwise: reply("ok") });
    const messages = [...request().messages];
    await ask(model, { asked: request({ messages }) });
    messages.push({ role: "assistant", content: [] });
    expect(model.requests).toEqual([request()]);
  });

  test("refuses what a provider refuses, and keeps the evidence", async () => {
    const model = scriptedModel({ replies: [reply("never given")] });
    const { events, fault } = await ask(model, { asked: request({ messages: [] }) });
    expect(events).toEqual([]);
    expect(fault).toMatchObject({ code: "model_bad_request", detail: { status: 400 } });
    expect(fault?.message).toContain("messages: there is none");
    expect(model.requests).toHaveLength(1);
  });

  test("does not check where it is told not to", async () => {
    const model = scriptedModel({ replies: [reply("ok")] }, { check: "none" });
    expect((await ask(model, { asked: request({ messages: [] }) })).fault).toBeUndefined();
  });

  test("has prices, which a test may change", () => {
    expect(scriptedModel({ replies: [] }).info("m")).toMatchObject({
      id: "m",
      name: "m",
      prices: { input: 3, output: 15 },
    });
    const model = scriptedModel({ replies: [] }, { info: { windowTokens: 500, prices: null } });
    expect(model.info("m")).toMatchObject({ id: "m", windowTokens: 500, prices: null });
  });

  test.each([
    ["before it starts", 0],
    ["before the first byte", 500],
    ["between two events", 1005],
  ])("ends with the fault aborted when it is stopped %s", async (_, afterMs) => {
    const clock = fakeClock();
    const stop = new AbortController();
    const model = scriptedModel({ replies: [replyWith({ delayMs: 1000, betweenMs: 10 }, "abc")] }, { clock });
    if (afterMs === 0) stop.abort();
    const run = ask(model, { signal: stop.signal });
    await clock.advance(afterMs);
    stop.abort();
    const { fault, events } = await run;
    expect(fault?.code).toBe("aborted");
    expect(events.some(({ type }) => type === "end")).toBe(false);
  });
});

test("a stop that comes after the end is not heard any more", async () => {
  const clock = fakeClock();
  const stop = new AbortController();
  const model = scriptedModel({ replies: [replyWith({ betweenMs: 10 }, "abc")] }, { clock });
  const types: string[] = [];
  const reading = (async () => {
    for await (const { type } of model.stream(request(), stop.signal)) {
      types.push(type);
      if (type === "end") stop.abort();
    }
  })();
  await clock.advance(1000);
  await reading;
  expect(types.at(-1)).toBe("end");
});

test("an error that takes its time can be stopped before it comes", async () => {
  const clock = fakeClock();
  const stop = new AbortController();
  const model = scriptedModel({ replies: [{ ...httpError(500), delayMs: 1000 }] }, { clock });
  const run = ask(model, { signal: stop.signal });
  await clock.advance(999);
  stop.abort();
  expect((await run).fault?.code).toBe("aborted");
});

describe("each named fault", () => {
  /** What becomes of it behind the port: a fault, a reply that ends, or a wait that only an abort ends. */
  const expected: Record<FaultName, FaultCode | "ends" | "waits"> = {
    "cut-sse": "stream_cut",
    silence: "waits",
    "pings-only": "waits",
    "two-message-starts": "stream_malformed",
    "delta-before-start": "stream_malformed",
    "bad-json-arguments": "ends",
    "huge-arguments": "ends",
    "repeated-tool-id": "ends",
    "unknown-tool": "ends",
    "fifty-parallel-tools": "ends",
    "call-after-end": "ends",
    "empty-content": "ends",
    "blank-text": "ends",
    "only-thinking": "ends",
    "max-tokens-in-call": "ends",
    "prompt-too-long": "prompt_too_long",
    "key-refused": "key_refused",
    "request-too-large": "request_too_large",
    "rate-limited": "rate_limited",
    "server-error": "server_error",
    overloaded: "overloaded",
    "wrong-content-type": "stream_malformed",
    "gzip-cut": "stream_cut",
    "negative-usage": "ends",
    "missing-usage": "ends",
    reset: "unreachable",
    garbage: "stream_malformed",
    "error-in-stream": "overloaded",
  };

  test.each(faultNames)("%s comes to what it should, and never to both a fault and an end", async (name) => {
    const stop = new AbortController();
    const model = scriptedModel({ replies: [faultReply(name)] });
    const run = ask(model, { signal: stop.signal });
    if (expected[name] === "waits") {
      const first = await Promise.race([
        run,
        new Promise((resolve) => setTimeout(() => resolve("waiting"), 5)),
      ]);
      expect(first).toBe("waiting");
      stop.abort();
      expect((await run).fault?.code).toBe("aborted");
      return;
    }
    const { events, fault } = await run;
    const ends = events.filter(({ type }) => type === "end").length;
    expect(fault?.code ?? "ends").toBe(expected[name]);
    expect(ends).toBe(fault ? 0 : 1);
  });

  test("that is an HTTP error carries status and time to wait", async () => {
    const { fault } = await ask(scriptedModel({ replies: [faultReply("rate-limited")] }));
    expect(fault?.detail).toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
  });

  test("that breaks a stream lets the events before through", async () => {
    const { events } = await ask(scriptedModel({ replies: [faultReply("cut-sse")] }));
    expect(events.map(({ type }) => type)).toEqual(["start", "block.start", "text"]);
  });

  test("about counts is read as no count", async () => {
    for (const name of ["negative-usage", "missing-usage"] as const)
      expect(endOf(await ask(scriptedModel({ replies: [faultReply(name)] })))?.usage.inputTokens).toBe(0);
  });

  test("has the contents that it is named for", async () => {
    const content = async (name: FaultName) =>
      endOf(await ask(scriptedModel({ replies: [faultReply(name)] })))?.content ?? [];
    const ids = (await content("repeated-tool-id")).map((block) =>
      block.type === "tool_use" ? block.id : "",
    );
    expect(new Set(ids).size).toBe(1);
    expect(await content("fifty-parallel-tools")).toHaveLength(50);
    expect(JSON.stringify(await content("huge-arguments")).length).toBeGreaterThan(5_000_000);
    expect(await content("empty-content")).toEqual([]);
    expect(await content("only-thinking")).toMatchObject([{ type: "thinking" }]);
    expect(await content("max-tokens-in-call")).toMatchObject([{ broken: expect.any(String) }]);
    expect(endOf(await ask(scriptedModel({ replies: [faultReply("max-tokens-in-call")] })))?.stop).toBe(
      "output_limit",
    );
  });
});

test("an error is known by its status where its type is not", async () => {
  const codeOf = async (status: number) =>
    (await ask(scriptedModel({ replies: [httpError(status, { type: "odd" })] }))).fault?.code;
  expect([await codeOf(529), await codeOf(502), await codeOf(422)]).toEqual([
    "overloaded",
    "server_error",
    "model_bad_request",
  ]);
});

test.each([
  [400, "bad", "model_bad_request"],
  [400, "the prompt is too long", "prompt_too_long"],
  [401, "x", "key_refused"],
  [402, "x", "billing"],
  [403, "x", "model_forbidden"],
  [404, "x", "model_unknown"],
  [413, "x", "request_too_large"],
  [418, "x", "server_error"],
  [429, "x", "rate_limited"],
  [500, "x", "server_error"],
  [503, "x", "server_error"],
  [529, "x", "overloaded"],
] as const)("an HTTP error %i (%s) becomes the fault %s", async (status, message, code) => {
  const { fault } = await ask(scriptedModel({ replies: [httpError(status, { message })] }));
  expect(fault?.code).toBe(code);
});
