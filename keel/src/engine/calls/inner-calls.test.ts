import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { openTestSession, type TestSessionOptions } from "../../../../test/support/test-session.ts";
import { changeTool, lookTool } from "../../../../test/support/test-tools.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import { text, textOf } from "../../protocol/message.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import type { SharedBudget } from "../step-context.ts";

/** Calls Look so many times, and says what came of each. */
const programTool = defineTool({
  name: "Program",
  description: "Runs a program.",
  input: schemaOf(z.object({ times: z.number() })),
  traits: { readOnly: true, concurrent: false, replay: "never" },
  runsPrograms: true,
  claims: async () => [],
  async *run({ times }, { calls }, signal) {
    const said: string[] = [];
    for (let at = 0; at < times; at++) {
      const outcome = await calls?.("Look", { at: String(at) }, signal);
      said.push(`${outcome?.failed ? "no" : "yes"}: ${outcome?.text}`);
    }
    return { content: [text(said.join("\n"))], display: { kind: "text", text: "" } };
  },
}) as Tool;

async function run(times: readonly number[], more: TestSessionOptions = {}) {
  const trace: string[] = [];
  const opened = await openTestSession({
    script: {
      replies: [reply("", ...times.map((each) => toolUse("Program", { times: each }))), reply("Done.")],
    },
    tools: [programTool, lookTool(trace), changeTool(trace)],
    ...more,
  });
  await opened.say("go");
  const programs = opened.all("tool.finished").filter(({ tool }) => tool === "Program");
  return { ...opened, trace, said: programs.map(({ content }) => textOf(content).split("\n")) };
}

describe("the calls of programs", () => {
  test("have one bound for all programs of a reply, and the next reply has its own", async () => {
    verifies("P13");
    const bound = "no: The programs of one reply make 5 calls at most.";
    const { said, trace, all } = await run([3, 4], { limits: { innerCalls: 5 } });
    expect(said.map((lines) => lines.filter((line) => line.startsWith("yes")).length)).toEqual([3, 2]);
    expect(said[1]?.slice(2)).toEqual([bound, bound]);
    // What was refused never began, and is no call.
    expect(trace.filter((line) => line.endsWith("starts"))).toHaveLength(5);
    expect(all("tool.finished").filter(({ within }) => within !== undefined)).toHaveLength(5);

    const script = {
      replies: [
        reply("", toolUse("Program", { times: 5 })),
        reply("", toolUse("Program", { times: 5 })),
        reply("Done."),
      ],
    };
    const again = await run([], { script, limits: { innerCalls: 5 } });
    expect(again.said.flat().every((line) => line.startsWith("yes"))).toBe(true);
    expect(again.said.flat()).toHaveLength(10);
  });

  test("that hooks refuse count like others", async () => {
    const { said } = await run([3], {
      limits: { innerCalls: 2 },
      hooks: {
        beforeTool: async ({ tool }) =>
          tool === "Look"
            ? { context: [], decision: { verdict: "deny", reason: "Not this." } }
            : { context: [] },
      },
    });
    expect(said[0]?.map((line) => line.startsWith("no: The programs"))).toEqual([false, false, true]);
  });

  test("have nothing beyond what is left of the session's budget", async () => {
    verifies("P13");
    let calls = 0;
    const budget: SharedBudget = {
      bound: (limits, own) => (calls >= 2 ? { ...limits, maxBudgetUsd: own.costUsd } : limits),
      // As if what the second call started had spent the rest.
      get exhausted() {
        return calls >= 2 ? ("budget_usd" as const) : undefined;
      },
      hear: (event) => {
        if (event.type === "tool.finished" && event.within !== undefined) calls++;
      },
      reserve: async () => ({ release: () => undefined }),
    };
    const { said } = await run([4], { budget });
    const spent = "no: Nothing is left of the session's budget.";
    expect(said[0]?.slice(2)).toEqual([spent, spent]);
    expect(said[0]?.slice(0, 2).every((line) => line.startsWith("yes"))).toBe(true);
  });
});
