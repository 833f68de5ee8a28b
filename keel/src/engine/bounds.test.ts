// What a reply may ask for and claim, and what waits when a session is told to end.
import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import { lookTool } from "../../../test/support/test-tools.ts";
import { textOf } from "../protocol/message.ts";
import { reply, replyWith, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

describe("calls of one reply", () => {
  test("beyond the bound are answered and not run, and the model goes on", async () => {
    const trace: string[] = [];
    const calls = Array.from({ length: 200 }, (_, index) => toolUse("Look", { at: `${index}` }, `c${index}`));
    const model = scriptedModel({ replies: [reply(...calls), reply("Done.")] });
    const { say, all } = await openTestSession({ model, tools: [lookTool(trace)] });
    await say("go");
    expect(trace.filter((words) => words.endsWith("starts"))).toHaveLength(128);
    const results = (model.requests[1]?.messages.at(-1)?.content ?? []).filter(
      (block) => block.type === "tool_result",
    );
    expect(results.map(({ callId }) => callId)).toEqual(calls.map((_, index) => `c${index}`));
    expect(results.slice(128).every(({ failed }) => failed)).toBe(true);
    expect(textOf(results[128]?.content ?? [])).toBe(
      "Not run: a reply may have at most 128 calls. Ask for the rest in your next reply.",
    );
    expect(all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });
});

describe("counts that no provider can mean", () => {
  test.each([
    ["too large", { inputTokens: 1e308 }, 100_000_000],
    ["without end", { inputTokens: Number.POSITIVE_INFINITY }, 100_000_000],
    ["negative", { inputTokens: -5 }, 0],
    ["no number", { inputTokens: Number.NaN }, 0],
    ["half a token", { inputTokens: 2.5 }, 3],
  ])(
    "%s: they are brought within bounds, told once, and the bill says at least",
    async (_, usage, bounded) => {
      const odd = (words: string) => replyWith({ usage }, words);
      const { say, all, session } = await openTestSession({
        script: { replies: [odd("One."), odd("Two.")] },
      });
      await say("one");
      await say("two");
      expect(all("turn.finished").map(({ reason }) => reason)).toEqual(["completed", "completed"]);
      expect(all("model.finished")).toMatchObject([
        { usage: { inputTokens: bounded }, usageUnsure: true, costUsd: null },
        { usageUnsure: true },
      ]);
      expect(all("notice.raised").map(({ text }) => text)).toEqual([
        expect.stringContaining("token counts that cannot be true"),
      ]);
      expect(session.state.bill.unknownRequests).toBe(2);
      expect(Number.isFinite(session.state.bill.costUsd)).toBe(true);
      // They say nothing about how full the context is.
      expect(session.state.contextTokens).toBeLessThan(1_000);
    },
  );

  test("honest ones are kept as they are, without a word", async () => {
    const script = { replies: [replyWith({ usage: { inputTokens: 900_000, outputTokens: 7 } }, "One.")] };
    const { say, all, session } = await openTestSession({ script });
    await say("one");
    expect(all("model.finished")[0]).not.toHaveProperty("usageUnsure");
    expect(all("notice.raised")).toEqual([]);
    expect(session.state.bill.unknownRequests).toBe(0);
  });
});

describe("inputs that wait when the session ends", () => {
  const waiting = async (close: "kept" | "dropped") => {
    const log = memoryLog();
    const held = Promise.withResolvers<void>();
    const test = await openTestSession({ log, script: { replies: [reply("One."), reply("Two.")] } });
    test.session.onEvent(({ type }) => type === "model.started" && held.resolve());
    const send = (id: string) =>
      test.session.submit({ type: "input", id, content: [{ type: "text", text: id }] });
    await send("first");
    await held.promise;
    await Promise.all([send("second"), send("third")]);
    await test.session.close("stopped", close);
    return memoryLog({ events: [...log.events] });
  };

  test("are dropped on record where their host was told to stop, and do not run later", async () => {
    const log = await waiting("dropped");
    const ends = log.events.flatMap((event) => (event.type === "input.dropped" ? [event.inputId] : []));
    expect(ends).toEqual(["second", "third"]);
    const model = scriptedModel({ replies: [] });
    const again = await openTestSession({ log, model });
    await again.session.run();
    expect(model.requests).toEqual([]);
  });

  test("wait for the next opening everywhere else", async () => {
    const again = await openTestSession({ log: await waiting("kept") });
    expect(again.session.state.pending.map(({ id }) => id)).toEqual(["second", "third"]);
  });
});
