// Recoveries that must come to an end, or must not end too early.
import { describe, expect, test } from "vitest";
import { openTestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { httpError, reply, replyWith } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

describe("a reply that fills the window", () => {
  test("goes on after one compaction, also when its start is kept", async () => {
    verifies("S2.28");
    const model = scriptedModel({
      replies: [
        reply("Hello."),
        replyWith({ stop: "window_full", usage: { inputTokens: 150_000 } }, "The first half"),
        reply("Notes."),
        reply("and the second half."),
      ],
    });
    const opened = await openTestSession({ model });
    await opened.say("one ".repeat(50));
    await opened.say("two");
    expect(opened.all("context.compacted")).toMatchObject([{ trigger: "full", keep: 2 }]);
    expect(opened.all("turn.finished").map(({ reason }) => reason)).toEqual(["completed", "completed"]);
    const last = JSON.stringify(model.requests.at(-1)?.messages);
    expect(last).toContain("The first half");
    expect(last).toContain("Continue exactly where it stopped");
  });
});

test("a paused reply with nothing in it is an empty reply, and not asked for without end", async () => {
  const model = scriptedModel({ replies: [], otherwise: replyWith({ stop: "pause" }) });
  const opened = await openTestSession({ model });
  await opened.say("go");
  expect(opened.all("turn.finished")).toMatchObject([{ reason: "empty_reply" }]);
  expect(model.requests).toHaveLength(2);
});

test("a chain of fallbacks that names the session's own model goes on with the next one", async () => {
  verifies("S2.28");
  const model = scriptedModel({
    replies: [],
    rules: [{ when: { modelContains: "test-model" }, reply: httpError(529) }],
    otherwise: reply("Here."),
  });
  const limits = { fallbackModels: ["test-model", "second-model"], maxRetries: 0 };
  const opened = await openTestSession({ model, limits });
  await opened.say("go");
  expect(opened.all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  expect(model.requests.map((request) => request.model)).toEqual(["test-model", "second-model"]);
});
