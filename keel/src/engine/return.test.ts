import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession, type TestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { fold } from "../core/fold.ts";
import { emptyState } from "../core/state/state.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import { layout } from "../testing/layout.ts";
import { memoryWorkspace } from "../testing/memory-workspace.ts";
import { reply, replyWith, toolUse } from "../testing/reply.ts";
import { type ScriptedModel, scriptedModel } from "../testing/scripted-model.ts";
import { builtInTools } from "../tools/catalog.ts";

type Stage = TestSession & { readonly model: ScriptedModel; readonly written: Durable[] };

async function stage(
  replies: Parameters<typeof reply>[],
  { written = [] }: { written?: Durable[] } = {},
): Promise<Stage> {
  const model = scriptedModel({ replies: replies.map((parts) => reply(...parts)) });
  const session = await openTestSession({
    model,
    log: memoryLog({ events: written }),
    workspace: memoryWorkspace({ files: { "a.txt": "alpha\n", "b.txt": "beta\n" } }),
    tools: builtInTools(),
    answer: () => ({ verdict: "allow" }),
  });
  return { ...session, model, written };
}

const read = (file: string, id: string) => toolUse("Read", { file_path: `/project/${file}` }, id);
const edit = (from: string, to: string, id: string) =>
  toolUse("Edit", { file_path: "/project/a.txt", old_string: from, new_string: to }, id);

/** The events that gave messages, in their order. */
const replies = ({ written }: Stage): number[] =>
  written.flatMap(({ type, seq }) => (type === "model.finished" ? [seq] : []));
const returns = ({ written }: Stage) => written.filter((event) => event.type === "context.returned");

/** What the model is asked next, without the session's own words. */
async function next(stage: Stage): Promise<string> {
  await stage.say("next");
  return layout(stage.model.requests.at(-1) as never).replace(/^.*(keel-note|system|tools?:).*\n/gm, "");
}

describe("going on from an earlier message", () => {
  test("leaves what came after it out of the conversation, and on the bill", async () => {
    verifies("S2.12");
    const here = await stage([["One."], ["Two."], ["Three."]]);
    await here.say("first");
    await here.say("second");
    const spent = here.session.state.bill.costUsd;
    await here.session.submit({ type: "return", to: replies(here)[0] ?? 0 });

    const asked = await next(here);
    expect(asked).toContain("One.");
    expect(asked).not.toContain("Two.");
    expect(asked).not.toContain("second");
    expect(JSON.stringify(here.written)).toContain("Two.");
    expect(here.session.state.bill.costUsd).toBeGreaterThan(spent);
    expect(here.session.state.turns).toBe(3);
    // Only what it shares with the conversation of now is counted, nothing is told again.
    expect(returns(here)).toMatchObject([{ messages: [], last: { kind: "reply", block: 0 } }]);
  });

  test("a log that ends right behind it folds to the same conversation", async () => {
    const here = await stage([["One."], ["Two."]]);
    await here.say("first");
    await here.say("second");
    await here.session.submit({ type: "return", to: replies(here)[0] ?? 0 });
    const known = here.session.state;
    expect(here.written.at(-1)?.type).toBe("context.returned");
    expect(here.written.reduce(fold, emptyState)).toEqual(known);

    const resumed = await stage([["Three."]], { written: structuredClone(here.written) });
    expect(resumed.session.state.history).toEqual(known.history);
    expect(await next(resumed)).not.toContain("Two.");
  });

  test("with nothing behind the message changes nothing", async () => {
    const here = await stage([["One."]]);
    await here.say("first");
    const before = here.written.length;
    await here.session.submit({ type: "return", to: replies(here)[0] ?? 0 });
    expect(here.written).toHaveLength(before);
  });

  test("brings back what a compaction had replaced", async () => {
    const here = await stage([["One."], ["Two."], ["Notes about one and two."], ["Three."]]);
    await here.say("first");
    await here.say("second");
    await here.session.submit({ type: "compact" });
    await here.session.run();
    await here.session.submit({ type: "return", to: replies(here)[0] ?? 0 });
    const asked = await next(here);
    expect(asked).toContain("One.");
    expect(asked).not.toContain("Notes about");
    expect(returns(here)[0]?.messages.length).toBeGreaterThan(0);
  });

  test("can go to what was left before", async () => {
    const here = await stage([["One."], ["Two."], ["Three."]]);
    await here.say("first");
    await here.say("second");
    await here.session.submit({ type: "return", to: replies(here)[0] ?? 0 });
    await here.session.submit({ type: "return", to: replies(here)[1] ?? 0 });
    expect(await next(here)).toContain("Two.");
  });

  test("of several calls keeps those that had a result by then, and no call without one", async () => {
    const here = await stage([["Both.", read("a.txt", "r1"), read("b.txt", "r2")], ["Done."], ["Three."]]);
    await here.say("first");
    const [first] = here.written.filter(({ type }) => type === "tool.finished");
    await here.session.submit({ type: "return", to: first?.seq ?? 0 });
    const asked = await next(here);
    expect(asked).toContain("alpha");
    expect(asked).not.toContain("b.txt");
    expect(asked).not.toContain("Done.");
  });

  test("a block of a reply is the last that stays of it", async () => {
    const here = await stage([["Let me look.", "And more.", read("a.txt", "r1")], ["Done."], ["Three."]]);
    await here.say("first");
    await here.session.submit({ type: "return", to: replies(here)[0] ?? 0, block: 0 });
    const asked = await next(here);
    expect(asked).toContain("Let me look.");
    expect(asked).not.toContain("And more.");
    expect(asked).not.toContain("a.txt");
  });

  test("a reply that was only thought and calls is not said at all", async () => {
    const here = await stage([[read("a.txt", "r1")], ["Done."], ["Three."]]);
    await here.say("first");
    await here.session.submit({ type: "return", to: replies(here)[0] ?? 0 });
    const asked = await next(here);
    expect(asked).toContain("first");
    expect(asked).not.toContain("assistant");
  });

  test("a file counts as read only as far as the conversation had read it", async () => {
    const here = await stage([
      [read("a.txt", "r1")],
      ["Read."],
      [edit("alpha", "ALPHA", "e1")],
      ["Edited."],
      [edit("ALPHA", "gamma", "e2")],
      ["So it was changed."],
    ]);
    await here.say("read it");
    const [, afterRead] = replies(here);
    await here.say("edit it");
    await here.session.submit({ type: "return", to: afterRead ?? 0 });
    await here.say("edit it after all");
    const [, again] = here.all("tool.finished").filter(({ tool }) => tool === "Edit");
    expect(again).toMatchObject({ callId: "e2", failed: true });
    expect(JSON.stringify(again?.content)).toMatch(/read it again|changed since/i);
  });

  test("the list of what is to be done is as it was", async () => {
    const todos = (content: string, id: string) =>
      toolUse("TodoWrite", { todos: [{ content, status: "pending", activeForm: content }] }, id);
    const here = await stage([[todos("paint", "t1")], ["Noted."], [todos("sing", "t2")], ["Changed."]]);
    await here.say("first");
    const [, noted] = replies(here);
    await here.say("second");
    expect(here.session.state.worklist.todos).toMatchObject([{ text: "sing" }]);
    await here.session.submit({ type: "return", to: noted ?? 0 });
    expect(here.session.state.worklist.todos).toMatchObject([{ text: "paint" }]);
  });

  test("is refused while a turn runs, and where there is no message", async () => {
    const here = await stage([["One."]]);
    await expect(here.session.submit({ type: "return", to: 1 })).rejects.toMatchObject({ code: "usage" });
    await here.session.submit({ type: "input", content: [text("first")] });
    const early = here.session.submit({ type: "return", to: 2 });
    await expect(early).rejects.toMatchObject({ code: "usage" });
    await here.session.run();
    expect(returns(here)).toEqual([]);
  });

  test("what waits is dropped, and what is said meanwhile is said to the conversation that comes", async () => {
    const here = await stage([["One."], ["Two."], ["Three."]]);
    await here.say("first");
    await here.say("second");
    await here.session.submit({ type: "input", content: [text("waits")], when: "with-next" });
    const going = here.session.submit({ type: "return", to: replies(here)[0] ?? 0 });
    await here.session.submit({ type: "input", content: [text("meanwhile")] });
    await going;
    await here.session.run();
    const asked = layout(here.model.requests.at(-1) as never);
    expect(asked).toContain("meanwhile");
    expect(asked).toContain("One.");
    expect(asked).not.toContain("Two.");
    expect(asked).not.toContain("waits");
    expect(here.all("input.dropped")).toHaveLength(1);
  });

  test("a reply that was cut off and a lost place of a count leave a request that a provider takes", async () => {
    const model = scriptedModel({
      replies: [replyWith({ stop: "output_limit" }, "Cut"), reply("whole."), reply("Two."), reply("x")],
    });
    const written: Durable[] = [];
    const here = {
      ...(await openTestSession({ model, log: memoryLog({ events: written }) })),
      model,
      written,
    };
    await here.say("first");
    await here.say("second");
    await here.session.submit({ type: "return", to: replies(here)[0] ?? 0 });
    expect(await next(here)).toContain("Cut");
  });
});
