import { describe, expect, test } from "vitest";
import { changeTool, lookTool } from "../../../test/support/test-tools.ts";
import { tell } from "../../../test/support/told.ts";
import { fault } from "../kernel/fault.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import { httpError, reply, toolUse } from "../testing/reply.ts";
import { activityOf, foldActivity, idle } from "./activity.ts";

const tools = [lookTool([]), changeTool([])];

/** The states that follow each other, without repetition. */
function statesOf(events: readonly Envelope[]): string[] {
  const states: string[] = [];
  let activity = idle;
  for (const event of events) {
    activity = foldActivity(activity, event);
    const words = `${activity.state} ${activity.doing.kind}`;
    if (states.at(-1) !== words) states.push(words);
  }
  return states;
}

describe("the activity of a session", () => {
  test("goes from idle through the turn and back", async () => {
    const script = { replies: [reply(toolUse("Change", { at: "1" })), reply("Done.")] };
    const { events } = await tell({ script, tools }, "go");
    expect(statesOf(events)).toEqual([
      "idle nothing",
      "running nothing",
      "running asking-model",
      "running writing",
      "running nothing",
      "asking nothing",
      "running nothing",
      "running running-tools",
      "running nothing",
      "running asking-model",
      "running writing",
      "running nothing",
      "idle nothing",
    ]);
  });

  test("shows a retry until the next request, whichever of failure and retry is heard first", async () => {
    const { events } = await tell({ script: { replies: [httpError(529), reply("Hi.")] } }, "go");
    expect(statesOf(events)).toContain("running retrying");
    const base = { at: 10, session: "s" };
    const data = fault("overloaded", { reason: "busy" }).toData();
    const failed: Envelope = {
      ...base,
      seq: 2,
      type: "model.failed",
      requestId: "r",
      model: "m",
      purpose: "turn",
      fault: data,
      retryable: true,
      usage: null,
      costUsd: null,
      ms: 1,
    };
    const waiting: Envelope = {
      ...base,
      type: "retry.waiting",
      attempt: 1,
      mostAttempts: 3,
      delayMs: 500,
      fault: data,
    };
    for (const order of [
      [failed, waiting],
      [waiting, failed],
    ])
      expect(activityOf(order).doing).toMatchObject({ kind: "retrying", attempt: 1, until: 510 });
  });

  test("lists what waits, and tells since when", async () => {
    const base = { session: "s" };
    const input = { id: "i1", content: [], from: { kind: "person" as const }, when: "after" as const };
    const waiting = activityOf([{ ...base, at: 5, seq: 1, type: "input.accepted", input }]);
    expect(waiting).toMatchObject({ state: "idle", waitingInputs: ["i1"] });
    const running = foldActivity(waiting, {
      ...base,
      at: 6,
      seq: 2,
      type: "turn.started",
      turnId: "t1",
      inputIds: ["i1"],
    });
    expect(running).toMatchObject({ state: "running", waitingInputs: [], since: 6, turnId: "t1" });
  });

  test("a compaction between turns is work too", async () => {
    const { events } = await tell(
      { script: { replies: [reply("One."), reply("NOTES")] } },
      "go",
      async ({ session }) => {
        await session.submit({ type: "compact" });
        await session.run();
      },
    );
    expect(statesOf(events).slice(-2)).toEqual(["running compacting", "idle nothing"]);
  });

  test("knows which tools run at the same time", () => {
    const base = { at: 1, session: "s" };
    const started = (seq: number, callId: string): Envelope => ({
      ...base,
      seq,
      type: "tool.started",
      callId,
      tool: "Look",
      by: "read-only",
    });
    const both = activityOf([started(1, "c1"), started(2, "c2")]);
    expect(both.doing).toEqual({
      kind: "running-tools",
      calls: [
        { callId: "c1", tool: "Look" },
        { callId: "c2", tool: "Look" },
      ],
    });
  });

  test("an event that says nothing about it changes nothing", () => {
    const same = foldActivity(idle, { at: 1, session: "s", type: "notice.raised", level: "info", text: "x" });
    expect(same).toBe(idle);
  });
});
