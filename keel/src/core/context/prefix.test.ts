import { describe, expect, test } from "vitest";
import {
  memoryLog,
  openTestSession,
  type TestSessionOptions,
} from "../../../../test/support/test-session.ts";
import { changeTool, lookTool } from "../../../../test/support/test-tools.ts";
import { countingIds } from "../../testing/counting-ids.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { requestLaw } from "../../testing/request-law.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { firstBreak, prefixOf } from "./prefix.ts";

/** A session that is opened twice on one log, with the same law over both lives. */
function twoLives(more: Partial<TestSessionOptions> = {}) {
  const law = requestLaw();
  const log = memoryLog();
  const model = scriptedModel({ replies: [], otherwise: reply("fine") }, { law });
  const open = (life: number, options: TestSessionOptions) =>
    openTestSession({ log, model, ids: countingIds({ prefix: life }), ...more, ...options });
  return { law, log, model, open };
}

describe("requests", () => {
  test("for a summary think as the conversation does, so that its cached messages are read", async () => {
    const model = scriptedModel({ replies: [reply("hello"), reply("the notes"), reply("fine")] });
    const told = await openTestSession({ model, settings: { thinking: { kind: "budget", tokens: 4_000 } } });
    await told.say("hi");
    await told.session.submit({ type: "compact" });
    await told.session.run();
    await told.say("go on");
    const [before, summary, after] = model.requests;
    expect(told.types()).toContain("context.compacted");
    expect(summary?.thinking).toEqual({ kind: "budget", tokens: 4_000 });
    expect(after?.thinking).toEqual({ kind: "budget", tokens: 4_000 });
    expect(before && summary && firstBreak(prefixOf(before), prefixOf(summary))).toBeUndefined();
  });

  test("keep the order of tools that the log has, whatever order they are given in after a restart", async () => {
    const { model, open } = twoLives();
    const tools = [lookTool([]), changeTool([])];
    const first = await open(0, { tools });
    await first.say("one");
    await first.session.close("ended");
    const second = await open(1, { tools: [...tools].reverse() });
    await second.say("two");
    expect(second.all("prompt.fixed")).toEqual([]);
    expect(model.requests.map(({ tools: sent }) => sent.map(({ name }) => name))).toEqual([
      ["Look", "Change"],
      ["Look", "Change"],
    ]);
  });

  test("declare a tool that says something else about itself as what it is", async () => {
    const { law, open } = twoLives();
    const first = await open(0, { tools: [lookTool([])] });
    await first.say("one");
    await first.session.close("ended");
    const changed = { ...lookTool([]), spec: { ...lookTool([]).spec, description: "Looks better." } };
    const second = await open(1, { tools: [changed] });
    await second.say("two");
    expect(second.all("prompt.fixed").map(({ why }) => why)).toEqual(["tools_changed"]);
    expect(law.breaks).toEqual([]);
  });

  test("of one session never differ in what was said before, over tools, a steer, a failure and a restart", async () => {
    const law = requestLaw();
    const log = memoryLog();
    const model = scriptedModel(
      {
        replies: [
          reply("looking", toolUse("Look", { at: "a", deep: { b: 1, a: 2 } }, "c1")),
          { blocks: [], fault: { kind: "http", status: 529, type: "overloaded_error", message: "busy" } },
          reply("  "),
          reply(toolUse("Change", { at: "b" }, "c2"), toolUse("Look", { at: "c" }, "c3")),
        ],
        otherwise: reply("fine"),
      },
      { law },
    );
    const tools = [lookTool([]), changeTool([])];
    const first = await openTestSession({ log, model, tools });
    await first.say("one");
    await first.session.close("ended");
    const second = await openTestSession({ log, model, tools, ids: countingIds({ prefix: 1 }) });
    await second.say("two");
    expect(model.requests).toHaveLength(6);
    for (const [index, request] of model.requests.entries()) {
      const before = model.requests[index - 1];
      expect(
        before && firstBreak(prefixOf(before), prefixOf(request)),
        `request ${index + 1}`,
      ).toBeUndefined();
    }
  });

  test("of a fork and of a turn that was interrupted extend what the origin had sent", async () => {
    const model = scriptedModel({ replies: [], otherwise: reply(toolUse("Change", { at: "x" })) });
    const log = memoryLog();
    const stopped = await openTestSession({ log, model, tools: [changeTool([])], answer: () => undefined });
    stopped.session.onEvent(({ type }) => {
      if (type === "ask.opened") void stopped.session.submit({ type: "interrupt" });
    });
    await stopped.say("one");
    await stopped.say("two");

    const fork = memoryLog({ events: [...log.events], session: "00000000-0000-7000-8000-0000000000f0" });
    const copy = scriptedModel({ replies: [], otherwise: reply("fine") });
    const forked = await openTestSession({
      log: fork,
      model: copy,
      tools: [changeTool([])],
      ids: countingIds({ prefix: 1 }),
    });
    await forked.say("three");
    const sent = [...model.requests, ...copy.requests];
    expect(sent).toHaveLength(3);
    for (const [index, request] of sent.entries()) {
      const before = sent[index - 1];
      expect(
        before && firstBreak(prefixOf(before), prefixOf(request)),
        `request ${index + 1}`,
      ).toBeUndefined();
    }
  });
});
