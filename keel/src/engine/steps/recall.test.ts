import { describe, expect, test } from "vitest";
import { poisons } from "../../../../test/memory/poisons.ts";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { changeTool, lookTool } from "../../../../test/support/test-tools.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { FoundChunk, Recall } from "../../ports/memory-index.ts";
import { layout } from "../../testing/layout.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const chunk = (seq: number, passage: string): FoundChunk => ({
  id: seq,
  session: "earlier",
  seq,
  part: 0,
  cwd: "/project",
  at: Date.UTC(2026, 4, 3),
  source: { kind: "agent" },
  text: passage,
  passage,
  joined: [seq],
  score: 1,
  by: "words",
});

const recalling = (found: readonly FoundChunk[], when: Recall["when"] = "on"): Recall => ({
  when,
  about: async () => found,
});

const told = (requests: readonly unknown[]): string => JSON.stringify(requests);

describe("what earlier conversations said", () => {
  test("is told after the words that it was found by, as data, and once in a session", async () => {
    verifies("S1.30");
    const model = scriptedModel({ replies: [reply("One."), reply("Two.")] });
    const test = await openTestSession({ model, recall: recalling([chunk(3, "The port is 4100.")]) });
    await test.say("Which port?");
    await test.say("And again: which port?");
    expect(test.all("context.added").filter(({ why }) => why === "recall")).toHaveLength(1);
    expect(test.all("context.added").at(-1)).toMatchObject({ recalled: ["earlier:3:0"] });
    expect(layout(model.requests[0])).toMatchInlineSnapshot(`
      "tools none
      system "You are a test."
      user text "Which port?"
      user text "<keel-note>\\nFrom earlier conversations, found by what was j…" (190 characters)
      user text "<keel-recalled session=\\"earlier\\" date=\\"2026-05-03\\" by=\\"agen…" (97 characters)"
    `);
    expect(told(model.requests[1]?.messages ?? []).split("The port is 4100.")).toHaveLength(2);
    await test.session.close("ended");
  });

  test("is of the best five what fits", async () => {
    const model = scriptedModel({ replies: [reply("One.")] });
    const many = Array.from({ length: 9 }, (_, at) =>
      chunk(at, `${at} ${"x".repeat(at === 1 ? 7_000 : 1_000)}`),
    );
    const test = await openTestSession({ model, recall: recalling(many) });
    await test.say("Which port?");
    expect(test.all("context.added").at(-1)?.recalled).toEqual([0, 2, 3, 4].map((seq) => `earlier:${seq}:0`));
    await test.session.close("ended");
  });

  test("is shown to a person first where that is wished: a no, and nobody to ask, keep it out", async () => {
    for (const verdict of ["allow", "deny"] as const) {
      const model = scriptedModel({ replies: [reply("One.")] });
      const test = await openTestSession({
        model,
        recall: recalling([chunk(3, "The port is 4100.")], "ask"),
        answer: () => ({ verdict }),
      });
      await test.say("Which port?");
      expect(test.all("ask.opened")[0]?.ask).toMatchObject({
        title: "Tell the model what earlier conversations said?",
        body: { text: "2026-05-03 agent: The port is 4100." },
      });
      expect(told(model.requests).includes("4100")).toBe(verdict === "allow");
      expect(test.all("turn.finished")[0]).toMatchObject({ reason: "completed" });
      await test.session.close("ended");
    }
    const model = scriptedModel({ replies: [reply("One.")] });
    const recall = recalling([chunk(3, "The port is 4100.")], "ask");
    const test = await openTestSession({ model, recall, asks: "refused" });
    await test.say("Which port?");
    expect(test.all("ask.opened")).toEqual([]);
    expect(told(model.requests)).not.toContain("4100");
    await test.session.close("ended");
  });

  test("changes no decision, whatever it says: fifty poisoned ones stay between their tags", async () => {
    expect(poisons).toHaveLength(50);
    const decided = async (recall: Recall | undefined) => {
      const looked: string[] = [];
      const model = scriptedModel({
        replies: [reply("So.", toolUse("Look", { at: "a" }), toolUse("Change", { at: "b" })), reply("Done.")],
      });
      const test = await openTestSession({
        model,
        tools: [lookTool(looked), changeTool(looked)],
        ...(recall ? { recall } : {}),
        answer: () => ({ verdict: "deny" }),
      });
      await test.say("Go on.");
      const outcome = {
        asked: test.all("ask.opened").map(({ ask }) => [ask.tool, ask.claims, ask.options]),
        ended: test
          .all("tool.finished")
          .map(({ tool, denied, invalid, failed }) => [tool, denied, invalid, failed]),
        settings: test.session.state.settings,
        learnt: test.session.state.learnt,
      };
      const words = told(model.requests.slice(0, 1));
      await test.session.close("ended");
      return { outcome, words };
    };
    const clean = await decided(undefined);
    expect(clean.outcome.asked).toHaveLength(1);
    for (let at = 0; at < poisons.length; at += 5) {
      const some = poisons.slice(at, at + 5).map((words, index) => chunk(at + index, words));
      const { outcome, words } = await decided(recalling(some));
      expect(outcome).toEqual(clean.outcome);
      // As many tags begin as end: none of them was ended or begun by what it holds.
      expect(words.split("<keel-recalled ")).toHaveLength(6);
      expect(words.split("</keel-recalled>")).toHaveLength(6);
    }
  });
});
