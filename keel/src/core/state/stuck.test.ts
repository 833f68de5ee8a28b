import { describe, expect, test } from "vitest";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { lookTool } from "../../../../test/support/test-tools.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import type { ToolCall } from "./call-state.ts";
import { circleIn, habitAfter, noHabit, toldHabit } from "./stuck.ts";

const call = (name: string, said: string, failed = false): ToolCall => ({
  use: { type: "tool_use", id: "c", name, input: { name } },
  status: "settled",
  context: [],
  result: { type: "tool_result", callId: "c", content: [{ type: "text", text: said }], failed },
});
const after = (batches: readonly ToolCall[][]) => circleIn(batches.reduce(habitAfter, noHabit));
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe("going in circles", () => {
  test("the same call with the same result five times in a row is a circle, four times is none", () => {
    verifies("P33");
    expect(after(times(4, () => [call("Read", "a")]))).toBeUndefined();
    expect(after(times(5, () => [call("Read", "a")]))).toBe("same");
  });

  test("the same call with another result each time is work", () => {
    expect(after(times(30, (index) => [call("Read", `a${index}`)]))).toBeUndefined();
  });

  test("who was told has patience for what goes well, and none for what fails the same way", () => {
    const told = (batches: readonly ToolCall[][]) => circleIn(batches.reduce(habitAfter, toldHabit));
    expect(told(times(49, () => [call("Read", "a")]))).toBeUndefined();
    expect(told(times(50, () => [call("Read", "a")]))).toBe("same");
    expect(told(times(5, () => [call("Read", "a", true)]))).toBe("same");
  });

  test("calls of one reply count as one try, in whatever order they ended", () => {
    const both = [call("Read", "a"), call("Grep", "b")];
    expect(after([times(9, () => call("Read", "a"))])).toBeUndefined();
    expect(after(times(5, (index) => (index % 2 ? both : both.toReversed())))).toBe("same");
  });

  test("to and fro between two calls is a circle", () => {
    verifies("P33");
    expect(after(times(8, (index) => [call(index % 2 ? "Edit" : "Read", "x")]))).toBe("to-and-fro");
    expect(after(times(8, (index) => [call(`Tool${index % 3}`, "x")]))).toBeUndefined();
  });

  test("nothing but failures is a circle, and one success ends it", () => {
    verifies("P33");
    const failures = times(9, (index) => [call("Edit", `no ${index}`, true)]);
    expect(after([...failures, [call("Edit", "no", true)]])).toBe("failures");
    expect(after([...failures, [call("Read", "yes")], [call("Edit", "no", true)]])).toBeUndefined();
  });
});

test("a circle is named to the model once, and then ends the turn with its reason", async () => {
  verifies("P33");
  const { say, all } = await openTestSession({
    tools: [lookTool([])],
    script: { replies: times(70, (index) => reply(toolUse("Look", {}, `c${index}`))) },
  });

  await say("go");

  const named = all("context.added").filter(({ why }) => why === "stuck");
  expect(named).toHaveLength(1);
  expect(JSON.stringify(named)).toContain("the same call several times");
  // Five times until it is named, and fifty more for one who waits for something.
  expect(all("tool.finished")).toHaveLength(55);
  expect(all("turn.finished").map(({ reason }) => reason)).toEqual(["stuck"]);
});

test("a model that turns around after the word goes on", async () => {
  const { say, all } = await openTestSession({
    tools: [lookTool([])],
    script: {
      replies: [...times(5, (index) => reply(toolUse("Look", {}, `c${index}`))), reply("I give up looking.")],
    },
  });

  await say("go");

  expect(all("turn.finished").map(({ reason }) => reason)).toEqual(["completed"]);
});
