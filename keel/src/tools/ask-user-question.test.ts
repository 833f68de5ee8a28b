import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession, type TestSessionOptions } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Answer } from "../protocol/ask.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { askUserQuestionTool } from "./ask-user-question.ts";

const which = {
  question: "Which one?",
  header: "Choice",
  options: [
    { label: "A", description: "first" },
    { label: "B", description: "second" },
  ],
  multiSelect: false,
};
const several = { ...which, question: "Which ones?", multiSelect: true };

async function ask(questions: object[], options: TestSessionOptions) {
  const session = await openTestSession({
    tools: [askUserQuestionTool],
    script: {
      replies: [
        reply(toolUse("AskUserQuestion", JSON.parse(JSON.stringify({ questions })), "q")),
        reply("ok"),
      ],
    },
    ...options,
  });
  await session.say("go");
  const [finished] = session.all("tool.finished");
  const part = finished?.content[0];
  return {
    session,
    finished,
    said: part?.type === "text" ? part.text : "",
    asked: session.all("ask.opened"),
  };
}
const answering = (answer: Answer) => ({ answer: () => answer });

describe("a question", () => {
  test("is asked as such, with its input, its options and the form of its answer", async () => {
    verifies("S0.39");
    const { asked } = await ask([which], answering({ verdict: "allow", option: "2" }));
    expect(asked).toMatchObject([
      {
        ask: {
          id: "q:1",
          kind: "question",
          title: "Which one?",
          tool: "AskUserQuestion",
          callId: "q",
          input: { questions: [which] },
          options: [
            { id: "1", label: "A", verdict: "allow" },
            { id: "2", label: "B", verdict: "allow" },
            { id: "no", verdict: "deny" },
          ],
          schema: { type: "object", required: ["answers"] },
        },
      },
    ]);
  });

  test.each<[string, Answer]>([
    ["by picking", { verdict: "allow", option: "2" }],
    ["by data", { verdict: "allow", data: { answers: { "Which one?": "B" } } }],
    [
      "by a changed input",
      { verdict: "allow", input: { questions: [which], answers: { "Which one?": "B" } } },
    ],
  ])("is answered %s", async (_, answer) => {
    const { finished, said } = await ask([which], answering(answer));
    expect(finished).toMatchObject({
      failed: false,
      data: { questions: [which], answers: { "Which one?": "B" } },
    });
    expect(said).toContain("Which one?\n→ B");
  });

  test("may be answered in the person's own words, and several at once", async () => {
    const data = { answers: { "Which one?": "neither, really", "Which ones?": ["A", "B"] } };
    const { asked, finished, said } = await ask([which, several], answering({ verdict: "allow", data }));
    expect(asked).toHaveLength(1);
    expect(asked[0]?.ask).toMatchObject({ title: "2 questions", options: [{ id: "answer" }, { id: "no" }] });
    expect(finished?.data).toMatchObject({
      answers: { "Which one?": "neither, really", "Which ones?": "A, B" },
    });
    expect(said).toContain("→ neither, really");
  });

  test("that got no answer is told as such, and answers to nothing asked are dropped", async () => {
    const data = { answers: { "Which ones?": "A", "What else?": "X" } };
    const { finished, said } = await ask([which, several], answering({ verdict: "allow", data }));
    expect(finished).toMatchObject({ failed: false, data: { answers: { "Which ones?": "A" } } });
    expect(said).toContain("Which one?\n→ (no answer)");
    expect(said).not.toContain("X");
  });

  test("that is declined fails with the person's words, and counts as refused by them", async () => {
    const { finished, said } = await ask([which], answering({ verdict: "deny", reason: "You decide." }));
    expect(finished).toMatchObject({ failed: true, denied: { by: "host", reason: "You decide." } });
    expect(said).toContain("You decide.");
  });

  test("that is declined with an interrupt ends the turn", async () => {
    const { session } = await ask([which], answering({ verdict: "deny", interrupt: true }));
    expect(session.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });

  test("waits a day, and then the work goes on without an answer", async () => {
    verifies("S0.39");
    const clock = fakeClock();
    const opened = await openTestSession({
      clock,
      tools: [askUserQuestionTool],
      script: { replies: [reply(toolUse("AskUserQuestion", { questions: [which] })), reply("ok")] },
      answer: () => undefined,
    });
    const done = opened.say("go");
    while (opened.all("ask.opened").length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(23 * 3_600_000);
    expect(opened.all("ask.closed")).toEqual([]);
    await clock.advance(3_600_000);
    await done;
    expect(opened.all("ask.closed")).toMatchObject([{ by: "timeout" }]);
    expect(opened.all("tool.finished")).toMatchObject([{ failed: true, denied: { by: "timeout" } }]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });

  test("outlives the process that asked it", async () => {
    const whole = memoryLog();
    const first = await ask([which], { log: whole, answer: () => ({ verdict: "allow", option: "1" }) });
    expect(first.finished?.failed).toBe(false);
    const cut = whole.events.findIndex(({ type }) => type === "ask.opened");
    const second = await openTestSession({
      log: memoryLog({ events: whole.events.slice(0, cut + 1) }),
      tools: [askUserQuestionTool],
      script: { replies: [reply("ok")] },
      answer: () => ({ verdict: "allow", option: "2" }),
    });
    await second.session.run();
    expect(second.all("ask.opened")).toEqual([]);
    expect(second.all("tool.finished")).toMatchObject([{ data: { answers: { "Which one?": "B" } } }]);
  });

  test("whose answer is on disk is not asked again", async () => {
    const whole = memoryLog();
    await ask([which], { log: whole, answer: () => ({ verdict: "allow", option: "1" }) });
    const cut = whole.events.findIndex(({ type }) => type === "ask.closed");
    const second = await openTestSession({
      log: memoryLog({ events: whole.events.slice(0, cut + 1) }),
      tools: [askUserQuestionTool],
      script: { replies: [reply("ok")] },
      answer: () => ({ verdict: "allow", option: "2" }),
    });
    await second.session.run();
    expect(second.all("tool.finished")).toMatchObject([{ data: { answers: { "Which one?": "A" } } }]);
  });
});

describe("what the model cannot do", () => {
  test("is to answer in the person's place", async () => {
    const session = await openTestSession({
      tools: [askUserQuestionTool],
      script: {
        replies: [
          reply(toolUse("AskUserQuestion", { questions: [which], answers: { "Which one?": "A" } })),
          reply("ok"),
        ],
      },
      answer: () => ({ verdict: "allow", option: "2" }),
    });
    await session.say("go");
    expect(session.all("tool.finished")).toMatchObject([{ data: { answers: { "Which one?": "B" } } }]);
  });

  test.each([
    ["the same question twice", [which, which], "Two questions are the same"],
    [
      "the same label twice",
      [{ ...which, options: [which.options[0], which.options[0]] }],
      "have the same label",
    ],
    ["one option", [{ ...which, options: [which.options[0]] }], "questions.0.options"],
    ["five questions", [1, 2, 3, 4, 5].map((number) => ({ ...which, question: `${number}?` })), "questions"],
  ])("is to ask %s", async (_, questions, words) => {
    const { finished, said, asked } = await ask(questions, answering({ verdict: "allow" }));
    expect(asked).toEqual([]);
    expect(finished).toMatchObject({ failed: true, invalid: true });
    expect(said).toContain(words);
  });
});
