// `isolation: "process"`: Keel's own query() over the wire of the interface, in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { AbortError } from "../../keel/src/sdk/query/conversation.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { createSession } from "../../keel/src/sdk/query/session.ts";
import { startup } from "../../keel/src/sdk/query/startup.ts";
import { InMemorySessionStore } from "../../keel/src/sdk/stored/session-store.ts";
import { createSdkMcpServer } from "../../keel/src/sdk/tools/mcp-server.ts";
import { tool } from "../../keel/src/sdk/tools/tool.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";
import { command, until } from "./stage.ts";

const write = toolUse("Write", { file_path: "a.txt", content: "x" });

async function apart(
  script: Script,
): Promise<{ options: Options & { cwd: string }; stage: Awaited<ReturnType<typeof sdkStage>> }> {
  const stage = await sdkStage(script);
  return { options: { ...stage.options, isolation: "process" }, stage };
}

const resultIn = (messages: readonly SDKMessage[]): SDKMessage | undefined =>
  messages.findLast(({ type }) => type === "result");
const typesIn = (messages: readonly SDKMessage[]): string[] => messages.map(({ type }) => type);

/** The same program in this process and in another one: what it hears is the same. */
test("a query says the same apart as it does here", async () => {
  verifies("S2.10");
  const script = { replies: [reply("Reading.", toolUse("Read", { file_path: "none.txt" })), reply("Done.")] };
  const told: SDKMessage[][] = [];
  for (const isolation of ["none", "process"] as const) {
    const { options } = await sdkStage(script);
    told.push(await all(query({ prompt: "go", options: { ...options, isolation } })));
  }
  const [here = [], away = []] = told;
  expect(typesIn(away)).toEqual(typesIn(here));
  expect(resultIn(away)).toMatchObject({ subtype: "success", result: "Done.", num_turns: 2 });
});

describe("callbacks", () => {
  test("a permission is asked of the program, with its signal", async () => {
    const { options } = await apart({ replies: [reply(write), reply("Written.")] });
    const asked: unknown[] = [];
    const messages = await all(
      query({
        prompt: "write",
        options: {
          ...options,
          canUseTool: async (name, input, { signal, toolUseID }) => {
            asked.push([name, input, signal instanceof AbortSignal, typeof toolUseID]);
            return { behavior: "allow", updatedInput: { ...input, file_path: "b.txt" } };
          },
        },
      }),
    );
    expect(asked).toEqual([["Write", { file_path: "a.txt", content: "x" }, true, "string"]]);
    expect(existsSync(path.join(options.cwd, "b.txt"))).toBe(true);
    expect(resultIn(messages)).toMatchObject({ result: "Written." });
  });

  test("hooks and tools of the program run here, and a tool tells how far it is", async () => {
    const { options } = await apart({
      replies: [reply(toolUse("mcp__own__twice", { text: "ha" })), reply("Haha.")],
    });
    const seen: unknown[] = [];
    const twice = tool(
      "twice",
      "says it twice",
      { text: textSchema },
      async ({ text }, { sendNotification }) => {
        await sendNotification({ method: "notifications/progress", params: { progress: 1, total: 2 } });
        seen.push(["tool", text, process.pid]);
        return { content: [{ type: "text", text: `${text}${text}` }] };
      },
    );
    const messages = await all(
      query({
        prompt: "go",
        options: {
          ...options,
          allowedTools: ["mcp__own__twice"],
          mcpServers: { own: createSdkMcpServer({ name: "own", tools: [twice] }) },
          hooks: {
            PreToolUse: [
              {
                hooks: [
                  async ({ hook_event_name: point }) => {
                    seen.push(["hook", point, process.pid]);
                    return {};
                  },
                ],
              },
            ],
          },
        },
      }),
    );
    expect(seen).toEqual([
      ["hook", "PreToolUse", process.pid],
      ["tool", "ha", process.pid],
    ]);
    expect(JSON.stringify(messages)).toContain("haha");
    expect(resultIn(messages)).toMatchObject({ result: "Haha." });
  });

  test("what does not fit the schema of a tool never reaches it", async () => {
    const { options } = await apart({
      replies: [reply(toolUse("mcp__own__twice", { text: 7 })), reply("Sorry.")],
    });
    const never = tool("twice", "says it twice", { text: textSchema }, async () => {
      throw new Error("it was called");
    });
    const messages = await all(
      query({
        prompt: "go",
        options: {
          ...options,
          allowedTools: ["mcp__own__twice"],
          mcpServers: { own: createSdkMcpServer({ name: "own", tools: [never] }) },
        },
      }),
    );
    expect(JSON.stringify(messages)).not.toContain("it was called");
    expect(resultIn(messages)).toMatchObject({ result: "Sorry." });
  });
});

test("with callbacks the process goes after the last message, also after one that has no turn or is none", async () => {
  const { options } = await apart({
    replies: [reply("One."), reply("Two."), reply("A summary."), reply("Three.")],
  });
  async function* prompts() {
    for (const content of ["one", "two", "/compact", [{ type: "dance" }]])
      yield { type: "user" as const, message: { role: "user" as const, content } };
  }
  const messages = await all(query({ prompt: prompts(), options: { ...options, hooks: { Stop: [] } } }));
  expect(messages.filter(({ type }) => type === "result").length).toBeGreaterThanOrEqual(2);
  expect(typesIn(messages)).not.toContain("command_lifecycle");
});

describe("methods", () => {
  test("messages as they come, and settings in between", async () => {
    const { options, stage } = await apart({ replies: [reply("One."), reply("Two.")] });
    const asked = Promise.withResolvers<void>();
    async function* prompts() {
      yield { type: "user" as const, message: { role: "user" as const, content: "one" } };
      await asked.promise;
      yield { type: "user" as const, message: { role: "user" as const, content: "two" } };
    }
    const running = query({ prompt: prompts(), options });
    const messages: SDKMessage[] = [];
    for await (const message of running) {
      messages.push(message);
      if (message.type !== "result" || messages.filter(({ type }) => type === "result").length > 1) continue;
      await running.setModel("claude-haiku-4-5");
      expect((await running.supportedModels()).length).toBeGreaterThan(0);
      expect(await running.mcpServerStatus()).toEqual([]);
      await expect(running.stopTask("none")).resolves.toBeUndefined();
      await expect(running.rewindFiles("none")).rejects.toThrow();
      asked.resolve();
    }
    expect(stage.server.requests.map(({ body }) => (body as { model: string }).model)).toEqual([
      "claude-sonnet-4-5",
      "claude-haiku-4-5",
    ]);
  });

  test("an interrupt ends the turn, close ends the process", async () => {
    const { options } = await apart({ replies: [reply(toolUse("Bash", { command: "sleep 30" }))] });
    let child: ChildProcess | undefined;
    const running = query({
      prompt: "sleep",
      options: {
        ...options,
        allowedTools: ["Bash"],
        keepOpen: true,
        pathToClaudeCodeExecutable: command,
        spawnClaudeCodeProcess: ({ command: file, args, cwd, env }) => {
          const started = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
          child = started;
          return started;
        },
      },
    });
    const messages: SDKMessage[] = [];
    for await (const message of running) {
      messages.push(message);
      if (message.type === "assistant") setTimeout(() => void running.interrupt(), 500);
      if (message.type === "result") running.close();
    }
    expect(resultIn(messages)).toMatchObject({ subtype: "error_during_execution" });
    await until("the process has ended", () => child?.exitCode !== null);
  });

  test("a store of the program receives the session and brings it back", async () => {
    const { options, stage } = await apart({ replies: [reply("Kept."), reply("Back.")] });
    const sessionStore = new InMemorySessionStore();
    const first = await all(query({ prompt: "keep-this", options: { ...options, sessionStore } }));
    const resume = resultIn(first)?.session_id ?? "";
    const { rmSync } = await import("node:fs");
    rmSync(stage.home, { recursive: true, force: true });
    const second = await all(query({ prompt: "again", options: { ...options, sessionStore, resume } }));
    expect(resultIn(second)).toMatchObject({ result: "Back.", session_id: resume });
    expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("keep-this");
  });

  test("startup warms a process up for one prompt", async () => {
    const { options } = await apart({ replies: [reply("Warm.")] });
    const warm = await startup({ options });
    expect(resultIn(await all(warm.query("hello")))).toMatchObject({ result: "Warm." });
    expect(() => warm.query("again")).toThrow("one prompt");
  });
});

describe("ends", () => {
  test("an abort is thrown, and the process is gone", async () => {
    const { options } = await apart({ replies: [replyWith({ delayMs: 10_000 }, "late")] });
    const abortController = new AbortController();
    const running = query({ prompt: "go", options: { ...options, abortController } });
    setTimeout(() => abortController.abort(), 1_500);
    await expect(all(running)).rejects.toBeInstanceOf(AbortError);
  });

  test("leaving the loop early ends the process", async () => {
    const { options } = await apart({ replies: [replyWith({ delayMs: 10_000 }, "late")] });
    let child: ChildProcess | undefined;
    const spawnClaudeCodeProcess: Options["spawnClaudeCodeProcess"] = ({ args, cwd, env }) => {
      const started = spawn(command, args.slice(1), { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
      child = started;
      return started;
    };
    for await (const message of query({ prompt: "go", options: { ...options, spawnClaudeCodeProcess } })) {
      expect(message.type).toBe("system");
      break;
    }
    expect(child?.exitCode).not.toBeNull();
  });

  test("an executable that there is not, and one that breaks, are told with their last words", async () => {
    const { options } = await apart({ replies: [] });
    await expect(
      all(query({ prompt: "go", options: { ...options, pathToClaudeCodeExecutable: "/no/such/keel" } })),
    ).rejects.toThrow("/no/such/keel");
    const spawnClaudeCodeProcess: Options["spawnClaudeCodeProcess"] = ({ cwd }) =>
      spawn("sh", ["-c", "echo no luck >&2; exit 3"], { cwd, stdio: ["pipe", "pipe", "pipe"] });
    const broken = query({ prompt: "go", options: { ...options, spawnClaudeCodeProcess } });
    await expect(all(broken)).rejects.toThrow(/code 3.*no luck/s);
    await expect(broken.supportedModels()).rejects.toThrow();
  });

  test("a session object cannot live elsewhere, and says so", async () => {
    await expect(createSession({ isolation: "process" })).rejects.toThrow("query()");
  });
});

/** A schema without a library: any Standard Schema will do. */
const textSchema = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: (value: unknown) =>
      typeof value === "string" ? { value } : { issues: [{ message: "must be a text" }] },
    jsonSchema: { input: () => ({ type: "string" }) },
    types: undefined as { input: string; output: string } | undefined,
  },
};
