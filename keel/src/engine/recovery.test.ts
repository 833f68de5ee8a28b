import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import { lookTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { text } from "../protocol/message.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { httpError, reply, replyWith, toolUse } from "../testing/reply.ts";
import type { Reply } from "../testing/script.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { answerTool } from "../tools/structured-answer.ts";

const overloaded = httpError(529);

describe("a failed request", () => {
  test("is tried again with growing pauses, and nothing of the failure reaches the conversation", async () => {
    verifies("S4.30", "G16");
    const model = scriptedModel({ replies: [overloaded, overloaded, reply("Finally.")] });
    const { say, all } = await openTestSession({ model });
    await say("hi");
    expect(all("retry.waiting").map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(all("turn.finished")).toMatchObject([{ reason: "completed", requests: 1 }]);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
  });

  test("ends the turn when its tries are used up, with the fault named", async () => {
    const { say, all } = await openTestSession({
      script: { replies: [], otherwise: overloaded },
      limits: { maxRetries: 2 },
    });
    await say("hi");
    expect(all("model.failed")).toHaveLength(3);
    expect(all("turn.finished")).toMatchObject([{ reason: "model_error", fault: { code: "overloaded" } }]);
  });

  test("goes to the declared fallback model, for this turn only and never silently", async () => {
    verifies("S4.29", "S0.10", "P9");
    const script = {
      replies: [],
      rules: [{ when: { modelContains: "small" }, reply: reply("From the small one.") }],
      otherwise: overloaded,
    };
    const { say, all, session } = await openTestSession({ script, limits: { fallbackModels: ["small"] } });
    await say("hi");
    expect(all("settings.changed")).toMatchObject([{ why: "fallback", patch: { model: "small" } }]);
    expect(all("turn.finished")).toMatchObject([{ reason: "completed" }]);
    expect(session.state.settings?.model).toBe("test-model");
  });

  test("that is wrong in itself is not tried again", async () => {
    for (const status of [400, 401, 403, 404]) {
      const { say, all } = await openTestSession({ script: { replies: [], otherwise: httpError(status) } });
      await say("hi");
      expect(all("model.failed")).toHaveLength(1);
      expect(all("turn.finished")).toMatchObject([{ reason: "model_error" }]);
    }
  });

  test("that broke off in mid-reply leaves the bill at 'at least'", async () => {
    const cut = replyWith({ fault: { kind: "cut", afterEvents: 3 } }, "half a sentence that nobody will see");
    const { say, session, all } = await openTestSession({ script: { replies: [cut, reply("Whole.")] } });
    await say("hi");
    expect(session.state.bill.unknownRequests).toBe(1);
    expect(all("reply.withdrawn")).toHaveLength(1);
    expect(session.state.history.slice().flatMap(({ content }) => content)).toEqual([
      text("hi"),
      text("Whole."),
    ]);
  });
});

describe("a silent stream", () => {
  const silent = (afterEvents: number): Reply =>
    replyWith({ fault: { kind: "stall", afterEvents, with: "silence" } }, "a few words and then nothing");

  test("is given up after its limit, tried a few times, then reported", async () => {
    verifies("G16", "P34");
    const clock = fakeClock();
    const { session, all } = await openTestSession({
      clock,
      script: { replies: [], otherwise: silent(2) },
      limits: { silenceMs: 60_000 },
    });
    await session.submit({ type: "input", content: [text("hi")] });
    await clock.advance(59_000);
    expect(all("model.failed")).toEqual([]);
    await clock.advance(2_000);
    expect(all("model.failed")).toMatchObject([{ fault: { code: "stream_stalled" } }]);
    await clock.advance(600_000);
    expect(all("model.failed")).toHaveLength(4);
    expect(all("turn.finished")).toMatchObject([{ reason: "model_error" }]);
  });

  test("that never begins is given up after the longer limit of the first event", async () => {
    const clock = fakeClock();
    const { session, all } = await openTestSession({
      clock,
      script: { replies: [silent(0), reply("Here.")] },
      limits: { firstByteMs: 10_000 },
    });
    await session.submit({ type: "input", content: [text("hi")] });
    await clock.advance(11_000);
    await clock.advance(5_000);
    expect(all("turn.finished")).toMatchObject([{ reason: "completed" }]);
    expect(all("model.failed")).toMatchObject([{ usage: { inputTokens: 0 } }]);
  });

  test("a clock that jumps by a day makes no false alarm", async () => {
    verifies("G47");
    const clock = fakeClock();
    const slow = replyWith({ delayMs: 5_000 }, "Slow.");
    const { session, all } = await openTestSession({ clock, script: { replies: [slow] } });
    await session.submit({ type: "input", content: [text("hi")] });
    await clock.advance(1_000);
    clock.moveWall(86_400_000);
    await clock.advance(5_000);
    expect(all("model.failed")).toEqual([]);
    expect(all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });
});

describe("a reply", () => {
  test("that was cut at its length limit is continued at most three times", async () => {
    verifies("S4.27", "S2.28");
    const model = scriptedModel({ replies: [], otherwise: replyWith({ stop: "output_limit" }, "and so on") });
    const { say, all } = await openTestSession({ model });
    await say("hi");
    expect(all("context.added").map(({ why }) => why)).toEqual([
      "output_limit",
      "output_limit",
      "output_limit",
    ]);
    expect(all("turn.finished")).toMatchObject([{ reason: "output_limit", requests: 4 }]);
  });

  test("that was cut inside a call drops the half call", async () => {
    const half = replyWith({ stop: "output_limit" }, "I will", {
      type: "tool_use",
      name: "Look",
      rawInput: '{"at": "hal',
    });
    const { say, all } = await openTestSession({
      tools: [lookTool([])],
      script: { replies: [half, reply("Done.")] },
    });
    await say("hi");
    expect(all("tool.finished")).toEqual([]);
    expect(all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });

  test("with arguments that are not JSON is told so, and the turn goes on", async () => {
    verifies("S4.82");
    const { say, all } = await openTestSession({
      tools: [lookTool([])],
      script: { replies: [reply({ type: "tool_use", name: "Look", rawInput: "{at: 1" }), reply("Sorry.")] },
    });
    await say("hi");
    expect(all("tool.finished")).toMatchObject([{ failed: true, invalid: true }]);
  });

  test("that is empty, or a refusal, is asked about once", async () => {
    const empty = await openTestSession({ script: { replies: [reply(), reply("Now.")] } });
    await empty.say("hi");
    expect(empty.all("turn.finished")).toMatchObject([{ reason: "completed" }]);
    const twice = await openTestSession({ script: { replies: [reply(), reply("  ")] } });
    await twice.say("hi");
    expect(twice.all("turn.finished")).toMatchObject([{ reason: "empty_reply" }]);
    const refusal = await openTestSession({
      script: { replies: [], otherwise: replyWith({ stop: "refusal" }, "No.") },
    });
    await refusal.say("hi");
    expect(refusal.all("turn.finished")).toMatchObject([{ reason: "refusal", requests: 2 }]);
  });
});

describe("a context that is too long", () => {
  const tooLong = httpError(400, { message: "prompt is too long: 250000 tokens > 200000 maximum" });

  test("is compacted once, and the request is made again", async () => {
    verifies("S4.26", "G17");
    const model = scriptedModel({
      replies: [reply("First."), tooLong, reply("The notes."), reply("Second.")],
    });
    const { say, all } = await openTestSession({ model });
    await say("one");
    await say("two");
    expect(all("context.compacted")).toMatchObject([{ trigger: "too_long" }]);
    expect(all("turn.finished").at(-1)).toMatchObject({ reason: "completed" });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("The notes.");
  });

  test("at the very first message is said at once", async () => {
    const { say, all } = await openTestSession({ script: { replies: [], otherwise: tooLong } });
    await say("one");
    expect(all("model.started")).toHaveLength(1);
    expect(all("turn.finished")).toMatchObject([{ reason: "prompt_too_long" }]);
  });

  test("that stays too long after compacting is said, and compacting does not loop", async () => {
    verifies("G17");
    const model = scriptedModel({ replies: [reply("First."), tooLong, reply("The notes."), tooLong] });
    const { say, all } = await openTestSession({ model });
    await say("one");
    await say("two");
    expect(all("context.compacted")).toHaveLength(1);
    expect(all("turn.finished").at(-1)).toMatchObject({ reason: "prompt_too_long" });
  });

  test("by the provider's count is compacted before the next request; without gain at most twice", async () => {
    verifies("G17", "S4.28", "P39");
    const full = replyWith({ usage: { inputTokens: 190_000 } }, toolUse("Look", { at: "x" }));
    const { say, all } = await openTestSession({
      tools: [lookTool([])],
      script: {
        replies: [full],
        rules: [{ when: { lastUserContains: "about to be shortened" }, reply: reply("n".repeat(900_000)) }],
        otherwise: full,
      },
    });
    await say("go");
    expect(all("context.compacted").length).toBeLessThanOrEqual(2);
    expect(all("turn.finished")).toMatchObject([{ reason: "compaction_stuck" }]);
  });

  test("is compacted in the way that the session was given", async () => {
    verifies("P39");
    const model = scriptedModel({
      replies: [reply("One."), reply("Two."), reply("NOTES"), reply("Three.")],
    });
    const { say, session, all } = await openTestSession({
      model,
      condense: { name: "mine", plan: ({ history }) => ({ keep: 2, words: `Condense ${history.length}.` }) },
    });
    await say("first");
    await say("second");
    await session.submit({ type: "compact" });
    await session.run();
    await say("third");
    expect(JSON.stringify(model.requests[2]?.messages.at(-1))).toContain("Condense 4.");
    expect(all("context.compacted")).toMatchObject([{ keep: 2, summary: expect.stringContaining("NOTES") }]);
    const last = JSON.stringify(model.requests[3]?.messages);
    for (const kept of ["NOTES", "second", "Two.", "third"]) expect(last).toContain(kept);
    expect(last).not.toContain("first");
  });

  test("is compacted on request, between turns", async () => {
    const model = scriptedModel({ replies: [reply("First."), reply("The notes."), reply("Second.")] });
    const { say, session, all } = await openTestSession({ model });
    await say("one");
    await session.submit({ type: "compact", instructions: "keep names" });
    await session.run();
    expect(all("context.compacted")).toMatchObject([{ trigger: "manual" }]);
    await say("two");
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("The notes.");
  });
});

describe("limits", () => {
  const looking = { replies: [], otherwise: reply(toolUse("Look", { at: "x" })) };

  test("of turns: the results of the last calls are still given", async () => {
    verifies("S0.11", "S4.25");
    const { say, all } = await openTestSession({
      tools: [lookTool([])],
      script: looking,
      limits: { maxTurns: 2 },
    });
    await say("go");
    expect(all("tool.finished")).toHaveLength(2);
    expect(all("turn.finished")).toMatchObject([{ reason: "max_turns", requests: 2 }]);
  });

  test("of money: checked after the reply, and its calls do not run", async () => {
    verifies("S0.12", "S4.25");
    const trace: string[] = [];
    const dear = replyWith(
      { usage: { inputTokens: 1_000_000 } },
      toolUse("Look", { at: "x" }),
      toolUse("Change", {}),
    );
    const { say, all, session } = await openTestSession({
      tools: [lookTool(trace)],
      script: { replies: [dear, reply("Again.")] },
      limits: { maxBudgetUsd: 1 },
    });
    await say("go");
    expect(all("tool.started")).toEqual([]);
    expect(all("turn.finished")).toMatchObject([{ reason: "budget_usd" }]);
    // What was not run is told to the model in the next request, which is valid.
    expect(session.state.history.at(-1)?.content).toMatchObject([
      { type: "tool_result", failed: true },
      { type: "tool_result", failed: true },
    ]);
  });
});

describe("a structured answer", () => {
  const tool = answerTool({
    schema: { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] },
    check: (value) =>
      typeof (value as { answer: unknown }).answer === "number"
        ? []
        : [{ path: "answer", message: "must be a number" }],
  });

  test("ends the turn at once when it fits", async () => {
    verifies("S0.19", "S2.23");
    const { say, all } = await openTestSession({
      tools: [tool as never],
      limits: { structured: true },
      script: { replies: [reply(toolUse("StructuredOutput", { answer: 42 }))] },
    });
    await say("?");
    expect(all("turn.finished")).toMatchObject([
      { reason: "completed", answer: { answer: 42 }, requests: 1 },
    ]);
  });

  test("that does not fit is sent back; one that never comes ends the turn after five reminders", async () => {
    verifies("S2.24", "S4.25");
    const again = await openTestSession({
      tools: [tool as never],
      limits: { structured: true },
      script: {
        replies: [
          reply(toolUse("StructuredOutput", { answer: "many" })),
          reply(toolUse("StructuredOutput", { answer: 7 })),
        ],
      },
    });
    await again.say("?");
    expect(again.all("turn.finished")).toMatchObject([{ answer: { answer: 7 } }]);
    const never = await openTestSession({
      tools: [tool as never],
      limits: { structured: true },
      script: { replies: [], otherwise: reply("just text") },
    });
    await never.say("?");
    expect(never.all("turn.finished")).toMatchObject([{ reason: "structured_output_retries", requests: 6 }]);
  });

  test("that never fits ends the turn after five, with its own reason and not as going in circles", async () => {
    verifies("S2.24", "S4.25");
    for (const answer of [() => "many", (index: number) => `many ${index}`]) {
      const { say, all } = await openTestSession({
        tools: [tool as never],
        limits: { structured: true },
        script: {
          replies: Array.from({ length: 20 }, (_, index) =>
            reply(toolUse("StructuredOutput", { answer: answer(index) }, `c${index}`)),
          ),
        },
      });
      await say("?");
      expect(all("turn.finished")).toMatchObject([{ reason: "structured_output_retries", requests: 5 }]);
      expect(all("context.added").filter(({ why }) => why === "stuck")).toEqual([]);
    }
  });
});

describe("a log that cannot be written", () => {
  test("refuses what it cannot keep, and goes on when there is room again", async () => {
    verifies("G8");
    const log = memoryLog();
    let full = false;
    const failing = {
      ...log,
      get lastSeq() {
        return log.lastSeq;
      },
      append: async (events: Parameters<typeof log.append>[0]) => {
        if (full) throw new Error("no space left");
        await log.append(events);
      },
    };
    const { session, say, all } = await openTestSession({
      log: failing,
      script: { replies: [], otherwise: reply("Fine.") },
    });
    await say("one");
    full = true;
    await expect(session.submit({ type: "input", content: [text("two")] })).rejects.toThrow();
    full = false;
    await say("three");
    expect(log.events.filter(({ type }) => type === "input.accepted")).toHaveLength(2);
    expect(all("turn.finished")).toHaveLength(2);
    expect(log.events.map(({ seq }) => seq)).toEqual(log.events.map((_, index) => index + 1));
  });
});
