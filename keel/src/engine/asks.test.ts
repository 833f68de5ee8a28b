import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import { changeTool, lookTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { noRules } from "../policy/decide.ts";
import { parseRule } from "../policy/rules.ts";
import type { Ask } from "../protocol/ask.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { layout } from "../testing/layout.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

const rule = (words: string) => {
  const parsed = parseRule(words);
  if (!parsed) throw new Error(`not a rule: ${words}`);
  return parsed;
};
const changing = { replies: [reply(toolUse("Change", { at: "1" }, "c1")), reply("Done.")] };

describe("permission", () => {
  test("is not asked for reading inside the workspace", async () => {
    const { say, types } = await openTestSession({
      tools: [lookTool([])],
      script: { replies: [reply(toolUse("Look")), reply("Done.")] },
    });
    await say("go");
    expect(types()).not.toContain("ask.opened");
  });

  test("is asked before anything that may change something, and the answer is named", async () => {
    verifies("S4.7");
    const trace: string[] = [];
    const { say, all } = await openTestSession({ tools: [changeTool(trace)], script: changing });
    await say("go");
    expect(all("ask.opened")).toMatchObject([
      { ask: { kind: "permission", tool: "Change", callId: "c1", input: { at: "1" } } },
    ]);
    expect(all("ask.closed")).toMatchObject([{ by: "host", answer: { verdict: "allow" } }]);
    expect(all("tool.started")).toMatchObject([{ by: "host" }]);
    expect(trace).toEqual(["change 1"]);
  });

  test("when denied is told to the model in the words given, and the call does not run", async () => {
    verifies("P37");
    const trace: string[] = [];
    const model = scriptedModel(changing);
    const { say, all } = await openTestSession({
      model,
      tools: [changeTool(trace)],
      answer: () => ({ verdict: "deny", reason: "Not today." }),
    });
    await say("go");
    expect(trace).toEqual([]);
    expect(all("tool.finished")).toMatchObject([
      { failed: true, denied: { by: "host", reason: "Not today." } },
    ]);
    expect(layout(model.requests[1] ?? {})).toContain("Not today.");
  });

  test("denied with an interrupt ends the turn", async () => {
    verifies("S2.16");
    const { say, all } = await openTestSession({
      tools: [changeTool([])],
      script: changing,
      answer: () => ({ verdict: "deny", reason: "Stop.", interrupt: true }),
    });
    await say("go");
    expect(all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });

  test("given for the session is not asked again", async () => {
    const trace: string[] = [];
    const replies = [
      reply(toolUse("Change", { at: "1" })),
      reply(toolUse("Change", { at: "2" })),
      reply("Done."),
    ];
    const { say, all } = await openTestSession({
      tools: [changeTool(trace)],
      script: { replies },
      answer: () => ({ verdict: "allow", option: "always" }),
    });
    await say("go");
    expect(all("ask.opened")).toHaveLength(1);
    expect(trace).toEqual(["change 1", "change 2"]);
  });

  test("with a changed input is decided again: a deny stays a deny", async () => {
    verifies("G29", "S2.15");
    const trace: string[] = [];
    const { say, all } = await openTestSession({
      tools: [changeTool(trace)],
      script: changing,
      answer: () => ({ verdict: "allow", input: { at: "changed" } }),
    });
    await say("go");
    expect(trace).toEqual(["change changed"]);
    expect(all("tool.started")).toMatchObject([{ input: { at: "changed" } }]);
  });

  test("is refused without a question where a rule denies, in every mode", async () => {
    verifies("G29");
    for (const permissionMode of ["default", "bypassPermissions", "acceptEdits", "dontAsk"] as const) {
      const trace: string[] = [];
      const { say, all } = await openTestSession({
        tools: [changeTool(trace)],
        script: changing,
        settings: { permissionMode },
        rules: { ...noRules, deny: [rule("Change")] },
      });
      await say("go");
      expect(trace).toEqual([]);
      expect(all("ask.opened")).toEqual([]);
      expect(all("tool.finished")).toMatchObject([{ denied: { by: "rule" } }]);
    }
  });

  test("a hook's allow skips the question, but lifts no deny and no rule that insists on asking", async () => {
    verifies("S2.40", "G29", "S4.46");
    const hooks = {
      watchTools: true,
      beforeTool: async () => ({ decision: { verdict: "allow" as const, reason: "fine" }, context: [] }),
    };
    const free = await openTestSession({ tools: [changeTool([])], script: changing, hooks });
    await free.say("go");
    expect(free.all("ask.opened")).toEqual([]);
    expect(free.all("tool.started")).toMatchObject([{ by: "hook" }]);
    const insisting = await openTestSession({
      tools: [changeTool([])],
      script: changing,
      hooks,
      rules: { ...noRules, ask: [rule("Change")] },
    });
    await insisting.say("go");
    expect(insisting.all("ask.opened")).toHaveLength(1);
    const denied = await openTestSession({
      tools: [changeTool([])],
      script: changing,
      hooks,
      rules: { ...noRules, deny: [rule("Change")] },
    });
    await denied.say("go");
    expect(denied.all("tool.finished")).toMatchObject([{ denied: { by: "rule" } }]);
  });

  test("an input that a hook changed is what policy decides about and what runs", async () => {
    const trace: string[] = [];
    const hooks = { watchTools: true, beforeTool: async () => ({ input: { at: "hooked" }, context: [] }) };
    const { say, all } = await openTestSession({ tools: [changeTool(trace)], script: changing, hooks });
    await say("go");
    expect(all("ask.opened")).toMatchObject([{ ask: { input: { at: "hooked" } } }]);
    expect(trace).toEqual(["change hooked"]);
  });
});

describe("an open ask", () => {
  test("survives the process: it is asked again with the same id, and answered once", async () => {
    verifies("P28");
    const log = memoryLog();
    const opened: Ask[] = [];
    const first = await openTestSession({
      clock: fakeClock(), // Time stands still, or the question would be too old at once.
      log,
      tools: [changeTool([])],
      script: changing,
      answer: (ask) => void opened.push(ask),
    });
    await first.session.submit({ type: "input", content: [{ type: "text", text: "go" }] });
    await expect.poll(() => opened.length).toBe(1);

    const trace: string[] = [];
    const asked: Ask[] = [];
    const second = await openTestSession({
      log: memoryLog({ events: [...log.events] }),
      tools: [changeTool(trace)],
      script: { replies: [reply("Done.")] },
      answer: (ask) => {
        asked.push(ask);
        return { verdict: "allow" };
      },
    });
    await second.session.run();
    expect(asked.map(({ id }) => id)).toEqual(opened.map(({ id }) => id));
    expect(trace).toEqual(["change 1"]);
    expect(second.all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });

  test("takes the first answer and tells the second that it came late", async () => {
    const { session, say, all } = await openTestSession({
      tools: [changeTool([])],
      script: changing,
      answer: () => undefined,
    });
    const late: unknown[] = [];
    session.onEvent((envelope) => {
      if (envelope.type !== "ask.opened") return;
      const answer = { type: "answer", askId: envelope.ask.id, answer: { verdict: "allow" } } as const;
      void session
        .submit({ ...answer, who: "the desk" })
        .then(() => session.submit({ ...answer, who: "a phone" }))
        .then((receipt) => late.push(receipt));
    });
    await say("go");
    await expect
      .poll(() => late)
      .toEqual([{ type: "late", askId: expect.any(String), why: "closed", by: "host", who: "the desk" }]);
    expect(all("ask.closed")).toMatchObject([{ by: "host", who: "the desk" }]);
  });

  test("that nobody answers counts as refused after its time", async () => {
    const { say, all } = await openTestSession({
      tools: [changeTool([])],
      script: changing,
      answer: () => undefined,
    });
    await say("go");
    expect(all("ask.closed")).toMatchObject([{ by: "timeout", answer: { verdict: "deny" } }]);
    expect(all("tool.finished")).toMatchObject([{ denied: { by: "timeout" } }]);
  });

  test("is closed by a graceful end, and its turn ends as interrupted", async () => {
    verifies("S0.77");
    const { session, all } = await openTestSession({
      tools: [changeTool([])],
      script: changing,
      answer: () => undefined,
    });
    session.onEvent((envelope) => {
      if (envelope.type === "ask.opened") void session.close("stopped");
    });
    await session.submit({ type: "input", content: [{ type: "text", text: "go" }] });
    await session.run();
    await expect.poll(() => all("session.closed")).toHaveLength(1);
    expect(all("ask.closed")).toMatchObject([{ by: "shutdown" }]);
    expect(all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
    await expect(session.submit({ type: "input", content: [] })).rejects.toMatchObject({
      code: "session_closed",
    });
  });
});
