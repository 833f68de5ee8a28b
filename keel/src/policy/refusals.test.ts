import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import { changeTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Answer } from "../protocol/ask.ts";
import { layout } from "../testing/layout.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

/** Two turns; in the first the same call comes twice, in the second once more. */
async function twoTurns(answer: Answer, log = memoryLog()) {
  const trace: string[] = [];
  const again = { at: "1" };
  const model = scriptedModel({
    replies: [
      reply(toolUse("Change", again, "c1")),
      reply(toolUse("Change", again, "c2")),
      reply("Done."),
      reply(toolUse("Change", again, "c3")),
      reply("Done."),
    ],
  });
  const session = await openTestSession({ model, log, tools: [changeTool(trace)], answer: () => answer });
  await session.say("go");
  return { ...session, trace, model, log };
}

describe("a no of a person", () => {
  test("holds for the same call: it is refused without a question, and the model is told why", async () => {
    verifies("S4.20");
    const { all, trace, model } = await twoTurns({ verdict: "deny", option: "no" });
    expect(all("ask.opened")).toHaveLength(1);
    expect(all("tool.finished")).toMatchObject([{ denied: { by: "host" } }, { denied: { by: "host" } }]);
    expect(layout(model.requests[2] ?? {})).toContain("has already refused exactly this call");
    expect(trace).toEqual([]);
  });

  test("is asked about again once they have said something new, and the question says that they said no", async () => {
    verifies("S4.20");
    const { say, all } = await twoTurns({ verdict: "deny", option: "no" });
    await say("now do it");
    const [first, second, ...more] = all("ask.opened").map(({ ask }) => ask.reason ?? "");
    expect(more).toEqual([]);
    expect(first).not.toContain("you said no");
    expect(second).toContain("you said no to exactly this before");
  });

  test("survives the process", async () => {
    const { log } = await twoTurns({ verdict: "deny", option: "no" });
    const second = await openTestSession({
      log: memoryLog({ events: [...log.events] }),
      tools: [changeTool([])],
      script: { replies: [reply(toolUse("Change", { at: "1" }, "c9")), reply("Done.")] },
      answer: () => ({ verdict: "deny", option: "no" }),
    });
    await second.say("once more", { id: "another" });
    expect(second.all("ask.opened").at(-1)?.ask.reason).toContain("you said no");
  });

  test("does not hold for another call", async () => {
    const { all } = await (async () => {
      const session = await openTestSession({
        tools: [changeTool([])],
        script: {
          replies: [
            reply(toolUse("Change", { at: "1" })),
            reply(toolUse("Change", { at: "2" })),
            reply("Done."),
          ],
        },
        answer: () => ({ verdict: "deny", option: "no" }),
      });
      await session.say("go");
      return session;
    })();
    expect(all("ask.opened")).toHaveLength(2);
  });

  test("with words settles one call: what they ask for may end in the same one", async () => {
    const { all } = await twoTurns({ verdict: "deny", option: "say", reason: "Run the tests first." });
    expect(all("ask.opened")).toHaveLength(2);
  });
});

describe("a no of the program that answers for a person", () => {
  test.each([
    ["without words", {}],
    ["with words", { reason: "Not in this folder." }],
  ])("%s holds for the same call in the turn, and is asked about in the next one", async (_, words) => {
    verifies("S4.20");
    const { all, say, trace } = await twoTurns({ verdict: "deny", ...words });
    expect(all("ask.opened")).toHaveLength(1);
    expect(all("tool.finished")).toMatchObject([{ denied: { by: "host" } }, { denied: { by: "host" } }]);
    await say("once more");
    expect(all("ask.opened")).toHaveLength(2);
    expect(trace).toEqual([]);
  });
});
