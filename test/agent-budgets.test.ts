import { describe, expect, test } from "vitest";
import { boundShell, TreeBudget } from "../keel/src/agents/budget.ts";
import { defaultLimits } from "../keel/src/core/limits.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import { textOf } from "../keel/src/protocol/message.ts";
import { noBill } from "../keel/src/protocol/usage.ts";
import { memoryStore } from "../keel/src/store/memory/memory.ts";
import { fakeClock, instantClock } from "../keel/src/testing/fake-clock.ts";
import { memoryWorkspace } from "../keel/src/testing/memory-workspace.ts";
import { reply, replyWith, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { openFamily, rootId } from "./agents/family.ts";
import { verifies } from "./support/verifies.ts";

const usage = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
/** What one reply of this usage costs with the prices of the test model. */
const oneReplyUsd = (1_000 * 3 + 100 * 15) / 1_000_000;
const spend = (...blocks: Parameters<typeof replyWith>[1][]): Reply => replyWith({ usage }, ...blocks);

const depthOf = ({ system, messages }: ModelRequest): number =>
  system.join().includes("You are a worker")
    ? Number(/depth (\d)/.exec(textOf(messages[0]?.content ?? []))?.[1] ?? 0)
    : 0;
const agent = (depth: number, more: Record<string, boolean> = {}) =>
  toolUse("Agent", {
    description: `depth ${depth}`,
    prompt: `depth ${depth}`,
    subagent_type: "worker",
    run_in_background: false,
    ...more,
  });
const hasResult = ({ messages }: ModelRequest): boolean =>
  (messages.at(-1)?.content ?? []).some(({ type }) => type === "tool_result");

describe("a budget over the tree", () => {
  test("that is used up two levels below ends every level within its turn, each with its own end", async () => {
    verifies("S4.55", "G18");
    const store = memoryStore();
    const model = scriptedModel((request) => {
      const depth = depthOf(request);
      // The deepest never comes to an end by itself.
      if (depth === 2) return spend(toolUse("Glob", { pattern: `*.${request.messages.length}` }));
      return hasResult(request) ? spend("Back.") : spend(agent(depth + 1));
    });
    const { say, settle, own, below, session } = await openFamily({
      model,
      store,
      limits: { maxBudgetUsd: oneReplyUsd * 6 },
    });

    await say("go");
    await settle();

    // Root and first level asked once each; the second spent the rest, and one request over it at most.
    expect(model.requests.map(depthOf)).toEqual([0, 1, 2, 2, 2, 2]);
    expect(own("turn.finished").map(({ reason }) => reason)).toEqual(["budget_usd"]);
    const ends = below("turn.finished").map(({ origin, reason }) => [origin?.depth, reason]);
    expect(ends).toEqual([
      [2, "budget_usd"],
      [1, "budget_usd"],
    ]);
    expect(below("session.closed")).toHaveLength(2);
    expect(session.state.bill.costUsd).toBeCloseTo(oneReplyUsd * 6, 10);
    const [child] = await store.list({ parent: rootId });
    const [grandchild] = await store.list({ parent: child?.id ?? "" });
    for (const id of [rootId, child?.id ?? "", grandchild?.id ?? ""])
      expect(store.events(id).filter(({ type }) => type === "turn.finished")).toHaveLength(1);
  });

  test("also ends agents in the background that are at work, and starts no turn to tell of it", async () => {
    const model = scriptedModel((request) => {
      if (depthOf(request) === 1) return spend(toolUse("Glob", { pattern: `*.${request.messages.length}` }));
      return hasResult(request)
        ? spend(toolUse("Glob", { pattern: `*.${request.messages.length}` }))
        : spend(agent(1, { run_in_background: true }));
    });
    const { say, settle, own, below } = await openFamily({ model, limits: { maxTokens: 1_100 * 8 } });
    await say("go");
    await settle();
    expect(own("turn.finished").map(({ reason }) => reason)).toEqual(["budget_tokens"]);
    expect(below("turn.finished").map(({ reason }) => reason)).toEqual(["budget_tokens"]);
    expect(own("task.changed").at(-1)).toMatchObject({ status: "failed", data: { by: "budget" } });
    expect(model.requests.length).toBeLessThanOrEqual(9);
  });

  test("warns once at four fifths", async () => {
    const model = scriptedModel((request) =>
      request.messages.length < 12
        ? spend(toolUse("Glob", { pattern: `*.${request.messages.length}` }))
        : spend("Done."),
    );
    const { say, own } = await openFamily({ model, limits: { maxBudgetUsd: oneReplyUsd * 7 } });
    await say("go");
    const near = own("notice.raised").filter(({ code }) => code === "budget_near");
    expect(near).toHaveLength(1);
    expect(near[0]?.text).toContain("85 % of the budget in money");
  });

  test("of time stops what runs", async () => {
    const clock = instantClock();
    const hangs = memoryWorkspace({ clock, shell: { "sleep 900": { runsMs: 900_000 } } });
    const model = scriptedModel((request) =>
      depthOf(request) === 1
        ? reply(toolUse("Bash", { command: "sleep 900", timeout: 600_000 }))
        : reply(agent(1)),
    );
    const { say, own, below } = await openFamily({
      model,
      clock,
      workspace: hangs,
      limits: { maxTimeMs: 5_000 },
    });
    await say("go");
    expect(own("turn.finished").map(({ reason }) => reason)).toEqual(["budget_time"]);
    expect(below("turn.finished").map(({ reason }) => reason)).toEqual(["budget_time"]);
  });
});

describe("a budget that is used up", () => {
  const spending = () =>
    scriptedModel(
      ({ messages }) =>
        messages.length > 2
          ? spend("Done.")
          : spend(toolUse("Bash", { command: `touch ${messages.length}` })),
      { law: "none" },
    );

  test("pays for no compaction either, and what was asked for is given up", async () => {
    verifies("S4.55");
    const model = spending();
    const { session, say, own } = await openFamily({ model, limits: { maxTokens: 1_100 } });
    await say("go");
    expect(own("turn.finished")).toMatchObject([{ reason: "budget_tokens" }]);
    const asked = model.requests.length;
    await session.submit({ type: "compact" });
    await session.run();
    expect(model.requests).toHaveLength(asked);
    expect(session.state.compaction).toBeNull();
    expect(own("model.failed")).toMatchObject([
      { purpose: "compaction", fault: { code: "budget_used_up" }, costUsd: 0 },
    ]);
  });

  test("when a turn is taken up again stops the calls that are under way, and closes what they ask", async () => {
    verifies("G18");
    const store = memoryStore();
    const first = await openFamily({ model: spending(), store, answer: () => undefined });
    void first.session.submit({ type: "input", content: [{ type: "text", text: "go" }] });
    while (first.session.state.asks.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const restarted = store.restart();
    const again = await openFamily({ model: spending(), store: restarted, limits: { maxTokens: 100 } });
    await again.settle();
    const types = restarted.events(rootId).map(({ type }) => type);
    expect(types.slice(types.indexOf("ask.opened"))).toEqual([
      "ask.opened",
      "turn.interrupted",
      "ask.closed",
      "tool.finished",
      "turn.finished",
    ]);
    expect(again.session.state.turn).toBeNull();
    expect(restarted.events(rootId).at(-1)).toMatchObject({ reason: "budget_tokens" });
  });
});

describe("reservations", () => {
  const limits = { ...defaultLimits, maxBudgetUsd: 1 };
  const signal = new AbortController().signal;

  test("keep many at once from spending the same rest", async () => {
    const budget = new TreeBudget({ limits, clock: fakeClock() });
    budget.begin({ ...noBill, costUsd: 0.5 });
    const first = await budget.reserve({ usd: 0.3, tokens: 1 }, signal);
    let isIn = false;
    const second = budget.reserve({ usd: 0.3, tokens: 1 }, signal).then((place) => {
      isIn = true;
      return place;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIn).toBe(false);
    first?.release();
    expect(await second).toBeDefined();
  });

  test("never keep everybody waiting: who is alone may go", async () => {
    const budget = new TreeBudget({ limits, clock: fakeClock() });
    budget.begin({ ...noBill, costUsd: 0.9 });
    expect(await budget.reserve({ usd: 5, tokens: 1 }, signal)).toBeDefined();
  });

  test("are not given when nothing is left, nor to who was stopped", async () => {
    const budget = new TreeBudget({ limits, clock: fakeClock() });
    budget.begin({ ...noBill, costUsd: 1 });
    expect(await budget.reserve({ usd: 0, tokens: 0 }, signal)).toBeUndefined();
    expect(await budget.reserve({ usd: 0, tokens: 0 }, AbortSignal.abort())).toBeUndefined();
  });
});

test("no more commands run at once than the tree may have", async () => {
  const budget = new TreeBudget({ limits: { ...defaultLimits, maxProcesses: 1 }, clock: fakeClock() });
  const { shell } = memoryWorkspace({ shell: { one: { output: "1" }, two: { output: "2" } } });
  const bound = boundShell(shell, budget);
  const command = { cwd: "/project", timeoutMs: 1_000, maxBytes: 1_000 };
  const first = await bound.start({ ...command, text: "one" });
  const second = await bound.start({ ...command, text: "two" });
  expect(await second.over).toMatchObject({ exitCode: 126 });
  await first.over;
  const third = await bound.start({ ...command, text: "two" });
  expect(await third.over).toMatchObject({ output: "2" });
});
