import { expect, test } from "vitest";
import { openTestSession } from "../../../test/support/test-session.ts";
import { lookTool } from "../../../test/support/test-tools.ts";
import { httpError, reply } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

const tooLong = httpError(400, { message: "prompt is too long: 250000 tokens > 200000 maximum" });

test("first words that are too long are told at once: what stands before them is nothing to shorten", async () => {
  const model = scriptedModel({ replies: [tooLong] });
  // Tools that can be loaded are announced before the first request: that is no history either.
  const tools = [{ ...lookTool([]), deferred: true }];
  const { say, all } = await openTestSession({ model, tools });
  await say("x".repeat(1_000));
  expect(model.requests).toHaveLength(1);
  expect(all("turn.finished")).toMatchObject([{ reason: "prompt_too_long" }]);
});

test("words after them can be answered: then there is something to leave out", async () => {
  const model = scriptedModel({ replies: [tooLong, tooLong, reply("NOTES"), reply("Yes.")] });
  const { say, all } = await openTestSession({ model });
  await say("x".repeat(1_000));
  await say("short");
  expect(all("turn.finished")).toMatchObject([{ reason: "prompt_too_long" }, { reason: "completed" }]);
});
