// Stop hooks that object: they send the model back to work, and never without an end.
import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import type { Tool } from "../ports/tool.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { crashPoint } from "../testing/crash.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { answerTool } from "../tools/structured-answer.ts";

const structured = {
  tools: [answerTool({ schema: { type: "object" }, check: () => [] }) as Tool],
  limits: { structured: true, maxObjections: 3 },
};

describe("an objection", () => {
  test("to a structured answer sends the model back, and its next answer counts", async () => {
    const opened = await openTestSession({
      ...structured,
      script: {
        replies: [reply(toolUse("StructuredOutput", { n: 1 })), reply(toolUse("StructuredOutput", { n: 2 }))],
      },
      hooks: { stop: async ({ objections }) => (objections === 0 ? { objection: "Try again." } : {}) },
    });
    await opened.say("count");
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "completed", answer: { n: 2 } }]);
  });

  test("to every structured answer comes to an end", async () => {
    const opened = await openTestSession({
      ...structured,
      script: { replies: [], otherwise: reply(toolUse("StructuredOutput", { n: 1 })) },
      hooks: { stop: async () => ({ objection: "Never." }) },
    });
    await opened.say("count");
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "stop_hook_limit", answer: { n: 1 } }]);
    expect(opened.all("model.started")).toHaveLength(4);
  });

  test("that another hook blocks every time comes to an end", async () => {
    const opened = await openTestSession({
      limits: { maxObjections: 3 },
      script: { replies: [reply("Done.")] },
      hooks: {
        input: async ({ from }) =>
          from.kind === "hook" ? { block: "Not that.", context: [] } : { context: [] },
        stop: async () => ({ objection: "Go on." }),
      },
    });
    await opened.say("go");
    expect(opened.all("input.dropped")).toHaveLength(3);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "stop_hook_limit" }]);
  });

  test("of a turn that was lost ends with it, and starts no turn of its own", async () => {
    const events: Durable[] = [];
    const point = crashPoint({ after: 7 });
    const first = await openTestSession({
      log: point.log(memoryLog({ events })),
      script: { replies: [reply("Done.")] },
      hooks: { stop: async () => ({ objection: "Go on." }) },
    });
    void first.say("go");
    await point.crashed;
    expect(events.at(-1)).toMatchObject({ type: "input.accepted", input: { from: { kind: "hook" } } });

    const next = await openTestSession({ log: memoryLog({ events }), unfinished: "lost" });
    await next.session.run();
    expect(next.types()).toEqual([]);
    expect(next.session.state.pending).toEqual([]);
    const inputs = events.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []));
    expect(events.filter(({ type }) => type === "turn.finished")).toMatchObject([
      { reason: "lost", inputIds: inputs },
    ]);
  });
});
