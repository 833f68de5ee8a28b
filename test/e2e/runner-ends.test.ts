// How a turn, a call of an agent and the process itself end, in the words of the runner.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { httpError, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { type Line, startHost } from "./runner-host.ts";
import { openStage } from "./stage.ts";

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const bash = (command: string, id: string) => toolUse("Bash", { command }, id);
const types = (lines: readonly Line[]): string[] => lines.map(({ type }) => type);

describe("keel runner", () => {
  test("a turn's result has its own cost, usage and counts; an agent's calls count, and its time only once", async () => {
    verifies("S0.55", "S0.65");
    const usage = { inputTokens: 40_000, outputTokens: 2_000 };
    const work = {
      description: "d",
      prompt: "inspect the gate",
      subagent_type: "general-purpose",
      run_in_background: false,
    };
    const stage = await openStage({
      rules: [
        {
          when: { lastUserContains: "inspect the gate" },
          times: 1,
          reply: reply(bash("sleep 0.4; echo inner done", "inner")),
        },
        { when: { toolResultContains: "inner done" }, times: 1, reply: reply("Looked.") },
      ],
      replies: [
        replyWith({ usage }, toolUse("Agent", work, "agent")),
        replyWith({ usage }, "Done."),
        replyWith({ usage }, toolUse("WebSearch", { query: "nothing" }, "web")),
        replyWith({ usage }, "Again."),
      ],
    });
    const host = startHost(stage, ["--allowed-tools", "Bash(sleep:*),Bash(echo:*),Agent,WebSearch"]);
    host.send({ type: "message", id: uuid(1), content: "go" });
    const first = await host.next("result");
    host.send({ type: "message", id: uuid(2), content: "search" });
    const second = await host.next("result");
    host.end();
    await host.exited;
    expect(host.stray).toEqual([]);
    expect(first).toMatchObject({ success: true, status: "completed", requests: 2 });
    expect(first["stats"]).toMatchObject({
      toolCalls: 2,
      toolsByType: { Agent: 1, Bash: 1 },
      subAgents: 1,
      bashCommands: 1,
    });
    const inside = host.lines.find((line) => line.type === "tool_end" && line["toolUseId"] === "agent");
    expect((first["stats"] as Line)["totalToolDurationMs"]).toBe(inside?.["durationMs"]);
    // 40,000 tokens in and 2,000 out of this model cost five cents, twice in a turn.
    expect(second).toMatchObject({
      usage: { inputTokens: 80_000, outputTokens: 4_000 },
      costUsd: 0.1,
      requests: 2,
    });
    expect(Number(second["totalCostUsd"])).toBeCloseTo(Number(first["costUsd"]) + 0.1, 9);
    expect(second["stats"]).toMatchObject({
      toolCalls: 1,
      toolsByType: { WebSearch: 1 },
      subAgents: 0,
      webSearches: 1,
    });
  });

  test("a message and a result each have a checkpoint: files go back to before the one, or to after the other", async () => {
    verifies("S0.58", "S0.79");
    const write = (content: string) => reply(toolUse("Bash", { command: `echo ${content} > a.txt` }));
    const stage = await openStage({
      replies: [write("two"), reply("Done."), write("three"), reply("Done.")],
    });
    const file = path.join(stage.project, "a.txt");
    writeFileSync(file, "one\n");
    const host = startHost(stage, ["--enable-checkpointing", "--allowed-tools", "Bash"]);
    const results: Line[] = [];
    for (const number of [1, 2]) {
      host.send({ type: "message", id: uuid(number), content: "change it" });
      results.push(await host.next("result"));
    }
    const made = host.lines.filter(({ type }) => type === "checkpoint_created");
    expect(made.map(({ at }) => at)).toEqual(["message", "result", "message", "result"]);
    expect(made.map(({ checkpoint }) => checkpoint)).toEqual([
      uuid(1),
      results[0]?.["checkpoint"],
      uuid(2),
      results[1]?.["checkpoint"],
    ]);
    expect(new Set(made.map(({ checkpoint }) => checkpoint)).size).toBe(4);
    const back = async (checkpoint: unknown): Promise<string> => {
      host.send({ type: "rewind_files", id: "r", checkpoint });
      const { files } = await host.next("files_rewound");
      expect(files).toMatchObject([{ path: file }]);
      return readFileSync(file, "utf8");
    };
    expect(await back(made[1]?.["checkpoint"])).toBe("two\n");
    expect(await back(made[0]?.["checkpoint"])).toBe("one\n");
    expect(await back(made[3]?.["checkpoint"])).toBe("three\n");
    host.end();
    await host.exited;
    expect(host.stray).toEqual([]);
  });

  test.each([
    ["is thrown", "throw new Error('thrown by nobody')"],
    ["is rejected", "Promise.reject(new Error('rejected by nobody'))"],
  ])(
    "what %s and nobody catches ends the process with a word, and everything that was open",
    async (_, what) => {
      verifies("S0.78");
      const stage = await openStage({ replies: [reply(bash("sleep 60", "b"))] });
      const trap = path.join(stage.project, "trap.cjs");
      writeFileSync(trap, `process.on("SIGUSR2", () => { ${what}; });`);
      const host = startHost(stage, ["--allowed-tools", "Bash(sleep:*)"], {
        NODE_OPTIONS: `--require ${trap}`,
      });
      host.send({ type: "message", id: uuid(1), content: "go" });
      await host.next("tool_start");
      host.child.kill("SIGUSR2");
      expect(await host.exited).toEqual({ code: 1, signal: null });
      expect(host.stray).toEqual([]);
      const fatal = host.lines.find(({ type }) => type === "error");
      expect(fatal).toMatchObject({ fatal: true, message: expect.stringContaining("by nobody") });
      expect(types(host.lines)).toEqual(expect.arrayContaining(["tool_end", "result", "session_ended"]));
      expect(host.lines.at(-1)).toMatchObject({ type: "shutdown", reason: "error" });
    },
  );

  test.each([
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("%s ends it like a stop", async (signal, code) => {
    verifies("S0.78");
    const host = startHost(await openStage({ replies: [] }));
    await host.next("init");
    host.child.kill(signal);
    expect(await host.exited).toEqual({ code, signal: null });
    expect(host.lines.at(-1)).toMatchObject({ type: "shutdown", reason: signal });
  });

  test.each([
    "OAuth token has expired",
    "invalid x-api-key",
    "Your credit balance is too low",
    "Not logged in",
  ])("a provider that says it only in words is understood: %s", async (words) => {
    verifies("S0.74");
    const stage = await openStage({ replies: [httpError(400, { message: words })] });
    const host = startHost(stage);
    host.send({ type: "message", content: "hi" });
    const friendly = expect.stringContaining("did not accept the key");
    expect(await host.next("auth_error")).toMatchObject({ message: friendly });
    expect(await host.next("result")).toMatchObject({ success: false });
    host.end();
    expect((await host.exited).code).toBe(0);
  });
});
