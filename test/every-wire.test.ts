// One suite of scenarios, the same expectations on every wire: the real session, each real adapter, a real HTTP server.
import { describe, expect, test } from "vitest";
import { nodeClock } from "../keel/src/app/node-ports.ts";
import { defaultLimits } from "../keel/src/core/limits.ts";
import { answerToolName } from "../keel/src/core/model-text.ts";
import type { Tool } from "../keel/src/ports/tool.ts";
import { text } from "../keel/src/protocol/message.ts";
import { faultReply } from "../keel/src/testing/fault-replies.ts";
import { layout } from "../keel/src/testing/layout.ts";
import { httpError, rawToolUse, reply, replyWith, thinking, toolUse } from "../keel/src/testing/reply.ts";
import { answerTool } from "../keel/src/tools/structured-answer.ts";
import {
  checkAll,
  dot,
  endpointAt,
  faultsOf,
  fullNameOf,
  isPackage,
  knownHere,
  modelOf,
  modelOver,
  type Played,
  pictureTool,
  play,
  played,
  quick,
  reasonOf,
  said,
  serve,
  unmarked,
} from "./every-wire/stage.ts";
import { openTestSession } from "./support/test-session.ts";
import { lookTool } from "./support/test-tools.ts";
import { verifies } from "./support/verifies.ts";

describe.each<Played>(played)("over the wire %s", (provider) => {
  /** How a failure is marked is the package's own way; the words are the same. */
  const failedWith = (words: string): RegExp =>
    new RegExp(`user tool_result ${isPackage(provider) ? '.*"' : 'failed "'}.*${words}`);

  test("a text is streamed, kept and billed", async () => {
    verifies("P9");
    const usage = { inputTokens: 1_000, outputTokens: 200, cacheReadTokens: 5_000 };
    const stage = await play(provider, {
      script: { replies: [replyWith({ usage, chunkChars: 3 }, "Hello, 🌍 world.")] },
    });
    await stage.say("hi");
    checkAll(stage);
    expect(reasonOf(stage)).toEqual(["completed"]);
    expect(said(stage)).toBe("Hello, 🌍 world.");
    expect(
      stage
        .all("text.delta")
        .map(({ text: piece }) => piece)
        .join(""),
    ).toBe("Hello, 🌍 world.");
    expect(stage.all("text.delta").length).toBeGreaterThan(3);
    const prices = knownHere.info(modelOf(provider)).prices;
    const cost =
      (1_000 * (prices?.input ?? 0) + 200 * (prices?.output ?? 0) + 5_000 * (prices?.cacheRead ?? 0)) / 1e6;
    expect(stage.session.state.bill).toMatchObject({ usage, unpricedTokens: 0, unknownRequests: 0 });
    expect(stage.session.state.bill.costUsd).toBeCloseTo(cost, 10);
    expect(stage.all("model.finished")[0]).toMatchObject({ providerId: "msg_scripted_0001", stop: "end" });
    expect(stage.layouts().map(unmarked)).toEqual([
      'tools Look Change\nsystem "You are a test."\nuser text "hi"',
    ]);
  });

  test("tools run in parallel, and the next request holds their results in the order asked", async () => {
    const stage = await play(provider, {
      script: {
        replies: [
          reply("I look.", toolUse("Look", { at: "a" }), toolUse("Look", { at: "b" })),
          reply(toolUse("Change", { at: "c" })),
          reply("done"),
        ],
      },
    });
    await stage.say("look");
    checkAll(stage);
    expect(stage.trace).toEqual(["look a starts", "look b starts", "look a ends", "look b ends", "change c"]);
    expect(said(stage)).toBe("I look.|done");
    expect(stage.layouts().map(unmarked).at(-1)).toBe(
      [
        "tools Look Change",
        'system "You are a test."',
        'user text "look"',
        'assistant text "I look."',
        'assistant tool_use Look {"at":"a"}',
        'assistant tool_use Look {"at":"b"}',
        'user tool_result ok "saw a"',
        'user tool_result ok "saw b"',
        'assistant tool_use Change {"at":"c"}',
        'user tool_result ok "changed c"',
      ].join("\n"),
    );
  });

  test("fifty calls in one reply are all run and all answered", async () => {
    const calls = Array.from({ length: 50 }, (_, at) => toolUse("Look", { at: String(at) }));
    const stage = await play(provider, { script: { replies: [reply(...calls), reply("seen")] } });
    await stage.say("look everywhere");
    checkAll(stage);
    expect(stage.all("tool.finished")).toHaveLength(50);
    const answers = (stage.layouts()[1] ?? "").split("\n").filter((line) => line.includes("tool_result"));
    expect(answers.map(unmarked)).toEqual(
      Array.from({ length: 50 }, (_, at) => `user tool_result ok "saw ${at}"`),
    );
    expect(reasonOf(stage)).toEqual(["completed"]);
  });

  test("an image reaches the model, from the person and from a tool", async () => {
    const stage = await play(provider, {
      script: { replies: [reply(toolUse("Picture")), reply("a dot")] },
      tools: () => [pictureTool],
    });
    await stage.session.submit({ type: "input", content: [text("what is this?"), dot] });
    await stage.session.run();
    checkAll(stage);
    const [first = "", second = ""] = stage.server.requests.map(({ body }) => JSON.stringify(body));
    expect(first.split(dot.data)).toHaveLength(2);
    expect(second.split(dot.data)).toHaveLength(3);
    expect(said(stage)).toBe("a dot");
  });

  test("thinking is shown and kept, and the conversation goes on with it", async () => {
    const stage = await play(provider, {
      script: { replies: [reply(thinking("Let me see."), toolUse("Look", { at: "a" })), reply("seen")] },
    });
    await stage.say("look");
    checkAll(stage);
    expect(
      stage
        .all("thinking.delta")
        .map(({ text: piece }) => piece)
        .join(""),
    ).toBe("Let me see.");
    expect(stage.all("model.finished")[0]?.content[0]).toMatchObject({
      type: "thinking",
      text: "Let me see.",
    });
    expect(said(stage)).toBe("seen");
  });

  test.each([
    ["a rate limit", httpError(429, { headers: { "retry-after": "0" } }), "rate_limited"],
    ["an overload", faultReply("overloaded"), "overloaded"],
    ["a failure of the server", faultReply("server-error"), "server_error"],
    ["a reset", faultReply("reset"), "unreachable"],
    ["a cut stream", faultReply("cut-sse"), "stream_cut"],
    ["rubbish in the stream", faultReply("garbage"), "stream_malformed"],
    ["an error inside the stream", faultReply("error-in-stream"), "overloaded"],
    ["a page in place of a reply", faultReply("wrong-content-type"), "stream_malformed"],
    ["a compressed answer", faultReply("gzip-cut"), "stream_malformed"],
    ["a call after the end", faultReply("call-after-end"), "stream_malformed"],
  ])("%s is tried again, and the turn ends well", async (scenario, broken, code) => {
    const faults = faultsOf(provider, scenario, [code]);
    const stage = await play(provider, { script: { replies: [broken, reply("at last")] } });
    await stage.say("hi");
    checkAll(stage);
    expect(stage.all("model.failed").map(({ fault }) => fault.code)).toEqual(faults);
    expect(said(stage)).toBe(
      faults.length === 0 ? "This reply does not arrive as it should.|at last" : "at last",
    );
    expect(stage.trace).toEqual([]);
    expect(reasonOf(stage)).toEqual(["completed"]);
  });

  test.each([["silence" as const], ["pings-only" as const]])(
    "%s is a stall, and tried again",
    async (name) => {
      const stage = await play(provider, {
        script: { replies: [faultReply(name), reply("at last")] },
        limits: { silenceMs: 150, firstByteMs: 2_000 },
      });
      await stage.say("hi");
      checkAll(stage);
      expect(stage.all("model.failed").map(({ fault }) => fault.code)).toEqual(["stream_stalled"]);
      expect(stage.session.state.bill.unknownRequests).toBe(1);
      expect(said(stage)).toBe("at last");
    },
  );

  test.each([
    ["a refused key", httpError(401), "key_refused"],
    ["a missing model", httpError(404), "model_unknown"],
    ["an empty account", httpError(402), "billing"],
    ["a bad request", httpError(400), "model_bad_request"],
  ])("%s ends the turn at once", async (_, broken, code) => {
    const stage = await play(provider, { script: { replies: [broken] } });
    await stage.say("hi");
    checkAll(stage);
    expect(stage.all("model.failed").map(({ fault }) => fault.code)).toEqual([code]);
    expect(reasonOf(stage)).toEqual(["model_error"]);
    expect(stage.server.requests).toHaveLength(1);
  });

  test("a prompt that is too long is compacted once, and the turn goes on", async () => {
    verifies("S4.26");
    const stage = await play(provider, {
      script: {
        replies: [reply("first answer"), faultReply("prompt-too-long"), reply("NOTES"), reply("went on")],
      },
    });
    await stage.say("one");
    await stage.say("two");
    checkAll(stage);
    expect(stage.all("context.compacted")).toMatchObject([{ trigger: "too_long" }]);
    expect(reasonOf(stage)).toEqual(["completed", "completed"]);
    expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("NOTES");
    expect(said(stage)).toBe("first answer|went on");
  });

  test("a reply that hits its limit goes on, and half a call in it is not run", async () => {
    verifies("S4.27");
    const stage = await play(provider, {
      script: {
        replies: [
          replyWith({ stop: "output_limit" }, "The first half", rawToolUse("Change", '{"at":"x')),
          reply("and the second."),
        ],
      },
    });
    await stage.say("write");
    checkAll(stage);
    expect(stage.trace).toEqual([]);
    expect(stage.all("context.added").map(({ why }) => why)).toEqual(["output_limit"]);
    expect(said(stage)).toBe("The first half|and the second.");
    expect(stage.layouts()[1]).not.toContain("tool_use");
  });

  test("arguments that are not JSON are told to the model and never run", async () => {
    const stage = await play(provider, {
      script: {
        replies: [
          reply(rawToolUse("Change", '{"at": nowhere'), toolUse("Look", { at: "b" })),
          reply(toolUse("Change", { at: "c" })),
          reply("done"),
        ],
      },
    });
    await stage.say("change it");
    checkAll(stage);
    expect(stage.trace).toEqual(["look b starts", "look b ends", "change c"]);
    expect(stage.layouts()[1]).toMatch(/assistant tool_use Change \{\}/);
    expect(stage.layouts()[1]).toMatch(failedWith("The input of Change was not valid JSON"));
    expect(reasonOf(stage)).toEqual(["completed"]);
  });

  test("a call to a tool that does not exist is told to the model", async () => {
    const stage = await play(provider, { script: { replies: [faultReply("unknown-tool"), reply("sorry")] } });
    await stage.say("hi");
    checkAll(stage);
    expect(stage.layouts()[1]).toMatch(failedWith("There is no tool called NoSuchTool"));
    expect(said(stage)).toBe("sorry");
  });

  test("arguments of five megabytes arrive whole", async () => {
    const long = "x".repeat(5 * 1024 * 1024);
    const big = replyWith({ chunkChars: 4_096 }, toolUse("Look", { at: long }));
    const stage = await play(provider, { script: { replies: [big, reply("ok")] } });
    await stage.say("hi");
    checkAll(stage);
    expect(stage.trace[0]).toHaveLength(long.length + "look  starts".length);
    expect(said(stage)).toBe("ok");
  });

  test.each([["empty-content" as const], ["blank-text" as const]])(
    "an empty reply (%s) is asked about once",
    async (name) => {
      const stage = await play(provider, { script: { replies: [faultReply(name), reply("here I am")] } });
      await stage.say("hi");
      checkAll(stage);
      expect(stage.all("context.added").map(({ why }) => why)).toEqual(["empty_reply"]);
      expect(said(stage)).toContain("here I am");
    },
  );

  test("a refusal is asked about once and then stands", async () => {
    const refusal = replyWith({ stop: "refusal" }, "I would rather not.");
    const stage = await play(provider, { script: { replies: [refusal, refusal] } });
    await stage.say("hi");
    checkAll(stage);
    expect(reasonOf(stage)).toEqual(["refusal"]);
  });

  test("a structured answer ends the turn", async () => {
    const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
    const check = (value: unknown) =>
      typeof (value as { sum?: unknown }).sum === "number"
        ? []
        : [{ path: "sum", message: "must be a number" }];
    const stage = await play(provider, {
      script: {
        replies: [
          reply(toolUse(answerToolName, { sum: "four" })),
          reply(toolUse(answerToolName, { sum: 4 })),
        ],
      },
      tools: () => [answerTool({ schema, check }) as Tool],
      limits: { structured: true },
    });
    await stage.say("2 + 2");
    checkAll(stage);
    expect(stage.all("turn.finished")[0]).toMatchObject({ reason: "completed", answer: { sum: 4 } });
  });

  test.each([["negative-usage" as const], ["missing-usage" as const]])(
    "%s counts as nothing, and no count is made up",
    async (name) => {
      const faults = faultsOf(provider, name, []);
      const stage = await play(provider, { script: { replies: [faultReply(name), reply("counted")] } });
      await stage.say("hi");
      checkAll(stage);
      expect(stage.all("model.failed").map(({ fault }) => fault.code)).toEqual(faults);
      if (faults.length > 0) return expect(said(stage)).toBe("counted");
      const { usage, costUsd } = stage.session.state.bill;
      expect([usage.inputTokens, usage.outputTokens, costUsd]).toEqual([0, 0, 0]);
      expect(reasonOf(stage)).toEqual(["completed"]);
    },
  );

  test("an interrupt ends the request soon", async () => {
    const slow = replyWith(
      { betweenMs: 20, chunkChars: 1 },
      "a very long story that nobody wants to hear to its end",
    );
    const stage = await play(provider, { script: { replies: [slow] } });
    stage.session.onEvent((event) => {
      if (event.type === "text.delta") void stage.session.submit({ type: "interrupt" });
    });
    await stage.say("tell");
    checkAll(stage);
    expect(reasonOf(stage)).toEqual(["interrupted"]);
  });
});

describe("from one provider to the other", () => {
  const pairs: readonly (readonly [Played, Played])[] = [
    ["anthropic", "openai"],
    ["openai", "anthropic"],
    ["responses", "anthropic"],
    ["anthropic", "responses"],
    ["gemini", "responses"],
    ["anthropic", "gemini"],
  ];

  test.each(pairs)(
    "a declared fallback takes over from %s to %s in the middle of a turn, and says so",
    async (first, second) => {
      verifies("P9", "S4.29");
      const asked = await serve({
        replies: [
          reply(thinking("Look first."), toolUse("Look", { at: "a" })),
          ...Array.from({ length: 5 }, () => faultReply("overloaded")),
        ],
      });
      const other = await serve({
        replies: [reply(toolUse("Look", { at: "b" })), reply("the other one answers")],
      });
      const trace: string[] = [];
      const stage = await openTestSession({
        model: modelOver(endpointAt(first, asked), [endpointAt(second, other)]),
        clock: nodeClock(),
        tools: [lookTool(trace)],
        limits: { ...quick, fallbackModels: [fullNameOf(second)] },
        settings: { model: modelOf(first) },
      });
      await stage.say("look");
      for (const server of [asked, other]) checkAll({ server, events: stage.events });
      expect(stage.all("settings.changed")).toMatchObject([
        { why: "fallback", patch: { model: fullNameOf(second) } },
      ]);
      expect(other.requests.map(({ wire }) => wire)).toEqual([second, second]);
      expect(other.requests.map(({ body }) => body["model"])).toEqual([modelOf(second), modelOf(second)]);
      expect(layout(other.requests[0]?.body)).toContain('user tool_result ok "saw a"');
      expect(stage.all("turn.finished")[0]?.reason).toBe("completed");
      // The next turn starts with the session's own model again.
      expect(stage.session.state.settings?.model).toBe(modelOf(first));
      expect(Object.keys(stage.session.state.bill.models)).toEqual([modelOf(first), fullNameOf(second)]);
    },
  );

  test("a provider without a key is no silent success", async () => {
    const asked = await serve({ replies: Array.from({ length: 5 }, () => faultReply("overloaded")) });
    const stage = await openTestSession({
      model: modelOver(endpointAt("anthropic", asked)),
      clock: nodeClock(),
      limits: { ...defaultLimits, ...quick, fallbackModels: ["openai/gpt-4.1"] },
      settings: { model: modelOf("anthropic") },
    });
    await stage.say("hi");
    expect(stage.all("model.failed").at(-1)?.fault).toMatchObject({ code: "key_missing" });
    expect(stage.all("turn.finished")[0]?.reason).toBe("model_error");
  });
});
