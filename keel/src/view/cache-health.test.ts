import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession, type TestSessionOptions } from "../../../test/support/test-session.ts";
import { changeTool, lookTool } from "../../../test/support/test-tools.ts";
import type { Clock } from "../ports/clock.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import type { Usage } from "../protocol/usage.ts";
import { countingIds } from "../testing/counting-ids.ts";
import { instantClock } from "../testing/fake-clock.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { requestLaw } from "../testing/request-law.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { cacheHealthOf, readRatio } from "./cache-health.ts";
import { foldUsage, noUsageReport, sayUsage, type UsageReport } from "./usage-report.ts";

const minuteMs = 60_000;

/** A session whose provider has a simulated cache, on a clock that the test moves. */
function cachedSession() {
  const offset = { ms: 0 };
  const hurried = instantClock();
  const clock: Clock = { ...hurried, now: () => hurried.now() + offset.ms };
  const law = requestLaw();
  const model = scriptedModel(
    (_, { lastUser, toolResults }) =>
      lastUser.includes("shortened")
        ? reply("the notes")
        : toolResults === ""
          ? reply(toolUse("Look", { at: lastUser }))
          : reply("seen"),
    { clock, cache: "simulated", law },
  );
  const log = memoryLog();
  const options = { log, model, clock, tools: [lookTool([])], system: ["Be careful. ".repeat(600)] };
  return {
    log,
    pass: (minutes: number) => {
      offset.ms += minutes * minuteMs;
    },
    open: (life: number, more: TestSessionOptions = {}) =>
      openTestSession({ ...options, ids: countingIds({ prefix: life }), ...more }),
  };
}

describe("cache health", () => {
  test("of a session that only grows: everything that was kept is read, and nothing broke", async () => {
    const { log, open, pass } = cachedSession();
    const told = await open(0);
    for (const words of ["one", "two", "three"]) {
      await told.say(words);
      pass(1);
    }
    const health = cacheHealthOf(log.events);
    expect(health).toMatchObject({ requests: 6, breaks: [], newTokens: 0 });
    expect(readRatio(health)).toBeGreaterThan(0.75);
    expect(health.counted).toEqual({
      readTokens: health.readTokens,
      writtenTokens: health.writtenTokens,
      newTokens: 0,
    });
    expect(Math.abs(health.predicted.readTokens / health.counted.readTokens - 1)).toBeLessThan(0.01);
  });

  test("names the boundary and the block of each break, and a pause that was too long", async () => {
    const { log, open, pass } = cachedSession();
    const first = await open(0);
    await first.say("one");
    pass(60);
    await first.say("after an hour");
    await first.session.submit({ type: "set", patch: { thinking: { kind: "budget", tokens: 2_000 } } });
    await first.say("thinking");
    await first.session.submit({ type: "compact" });
    await first.session.run();
    await first.say("with notes");
    await first.session.submit({ type: "set", patch: { model: "another" } });
    await first.say("another model");
    await first.session.submit({ type: "set", patch: { model: "test-model" } });
    await first.say("back, and nothing is lost");
    await first.session.close("ended");
    const second = await open(1, { tools: [lookTool([]), changeTool([])] });
    await second.say("a tool more");

    const { breaks } = cacheHealthOf(log.events);
    expect(
      breaks.map(({ request, cause, block }) => [
        request,
        cause.kind === "declared" ? cause.by : cause.kind,
        block,
      ]),
    ).toEqual([
      [3, "expired", "after 0 tokens"],
      [5, { what: "thinking", why: "host", block: "thinking" }, "thinking"],
      [8, { what: "messages", why: "compacted (manual)", block: "message 1" }, "message 1"],
      [10, { what: "model", why: "host", block: "all" }, "all"],
      [14, { what: "prompt", why: "tools_added", block: "tool Change" }, "tool Change"],
    ]);
    expect(breaks.every(({ readTokens, keptTokens }) => readTokens < keptTokens)).toBe(true);
  });

  test("says so when the provider had less than it should, and nothing was declared", () => {
    const { breaks } = cacheHealthOf([...asked(0, kept(0, 5_000)), ...asked(1, kept(3_000, 2_500))]);
    expect(breaks).toMatchObject([
      { cause: { kind: "unexplained" }, block: "after 3000 tokens", keptTokens: 5_000, readTokens: 3_000 },
    ]);
  });

  test("names the part of the system prompt that changed, and a tool that went", () => {
    const prompt = (system: string[], tools: string[]): DurableEvent => ({
      type: "prompt.fixed",
      system,
      tools: tools.map((name) => ({ name, description: "", input: { type: "object" } })),
      why: "host",
    });
    const blockAfter = (before: DurableEvent, after: DurableEvent) =>
      cacheHealthOf([
        { seq: 1, at: 0, session: "s", ...before },
        ...asked(1, kept(0, 5_000)),
        { seq: 9, at: 1, session: "s", ...after },
        ...asked(2, kept(0, 5_000)),
      ]).breaks[0]?.block;
    expect(blockAfter(prompt(["a", "b"], ["X"]), prompt(["a", "c"], ["X"]))).toBe("system 2");
    expect(blockAfter(prompt(["a"], ["X", "Y"]), prompt(["a"], ["X"]))).toBe("system 1");
    expect(blockAfter(prompt(["a"], ["X", "Y"]), prompt(["a"], ["Y"]))).toBe("tool Y");
    expect(blockAfter(prompt(["a", "b"], []), prompt(["a"], []))).toBe("system 2");
  });
});

describe("a usage report", () => {
  const reportOf = (...logs: (readonly Durable[])[]): UsageReport =>
    logs.flat().reduce(foldUsage, noUsageReport);

  test("shows each model, the cost as a lower bound where a request was lost, and what has no price", () => {
    const events = [
      ...asked(1, kept(0, 5_000)),
      ...asked(2, kept(5_000, 300), { model: "free", costUsd: null }),
      ...asked(3, null),
    ];
    const said = sayUsage(reportOf(events));
    expect(said).toContain("1 session, 2 replies: at least $0.01 and 5350 tokens without a known price");
    expect(said.split("\n").filter((line) => /^(model|m|free) /.test(line))).toEqual([
      "model  replies  new in  cache read  cache write  out                 cost",
      "m            1       0           0        5,000   50                $0.01",
      "free         1       0       5,000          300   50  $0 + 5,350 unpriced",
    ]);
    expect(said).toContain("Cache: 49 % of the input was read. 5,000 read, 5,300 written, 0 new.");
    expect(said).toContain("No request broke the prefix of the one before it.");
  });

  test("counts a request once, although a fork's log holds it too", () => {
    const origin = asked(1, kept(0, 5_000));
    const fork = [
      ...origin.map((event) => ({ ...event, session: "fork" })),
      ...asked(2, kept(5_000, 100), { session: "fork" }),
    ];
    const { totals, sessions, cache } = reportOf(origin, fork);
    expect([sessions, cache.requests, totals.usage.cacheWriteTokens]).toEqual([2, 2, 5_100]);
  });

  test("shows the newest breaks, with time, session and reason, and nothing that a terminal could obey", () => {
    const hostile: DurableEvent = {
      type: "prompt.fixed",
      system: [],
      tools: [{ name: "\u001b[2JEvil", description: "", input: { type: "object" } }],
      why: "tools_added",
    };
    const said = sayUsage(
      reportOf([
        { seq: 1, at: 0, session: "s", type: "prompt.fixed", system: [], tools: [], why: "first" },
        ...asked(1, kept(0, 5_000)),
        ...asked(2, kept(0, 5_000)),
        { seq: 8, at: 2, session: "s", ...hostile },
        ...asked(3, kept(100, 5_000)),
      ]),
      { maxBreaks: 1 },
    );
    expect(said).not.toContain("\u001b");
    expect(said).toContain("… 1 older ones");
    expect(said.split("\n").at(-1)).toBe(
      "  1970-01-01 00:03  s request 3: read 100 of 5,000 tokens; declared: prompt, tools_added; first new block: tool ⟨ESC⟩[2JEvil",
    );
  });
});

const kept = (readTokens: number, writtenTokens: number): Usage => ({
  inputTokens: 0,
  outputTokens: 50,
  cacheReadTokens: readTokens,
  cacheWriteTokens: writtenTokens,
});

/** A request in the minute `minute`, and its reply; without usage it was lost. */
function asked(
  minute: number,
  usage: Usage | null,
  { model = "m", costUsd = 0.01 as number | null, session = "s" } = {},
): Durable[] {
  const common = { requestId: `r${minute}`, model };
  const events: DurableEvent[] = [
    { type: "model.started", ...common, purpose: "turn", attempt: 1 },
    usage
      ? {
          type: "model.finished",
          ...common,
          messageId: "a",
          content: [text("x")],
          stop: "end",
          usage,
          costUsd,
          ms: 1,
        }
      : {
          type: "model.failed",
          ...common,
          purpose: "turn",
          fault: { code: "request_lost", message: "" },
          retryable: true,
          usage: null,
          costUsd: null,
          ms: 0,
        },
  ];
  return events.map((event, index) => ({
    seq: minute * 2 + index + 1,
    at: minute * minuteMs,
    session,
    ...event,
  }));
}
