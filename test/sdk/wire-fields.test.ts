// Fields that programs of the interface read: of the first message of a turn, of replies, results and questions.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { newMemo, noFacts } from "../../keel/src/sdk/dialect/memo.ts";
import { initMessage } from "../../keel/src/sdk/dialect/say.ts";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { CanUseTool } from "../../keel/src/sdk/options/callbacks.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { httpError, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { all, heard, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const allow = async () => ({ behavior: "allow" as const });

const agent = (kind: string, background = false) =>
  toolUse("Agent", {
    description: "look",
    prompt: "TASK",
    subagent_type: kind,
    run_in_background: background,
  });

const ofAgents = (messages: SDKMessage[]) =>
  messages.flatMap((message) =>
    message.type === "assistant" && message.parent_tool_use_id !== null ? [message] : [],
  );

const textOf = ({ message }: Extract<SDKMessage, { type: "assistant" }>): string =>
  message.content.map((block) => (block.type === "text" ? block.text : block.type)).join();

describe("the first message of a turn", () => {
  test("names what a host may rely on, and tools and agents as programs know them", async () => {
    verifies("S2.17");
    const { options, server } = await sdkStage({ replies: [reply("Hi.")] });
    const running = query({ prompt: "go", options });
    const [init] = await all(running);
    expect(init).toMatchObject({
      subtype: "init",
      tools: expect.arrayContaining(["Task", "Read"]),
      agents: expect.arrayContaining(["Explore", "Plan", "general-purpose"]),
      capabilities: ["interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1"],
      fast_mode_state: "off",
      analytics_disabled: true,
    });
    expect(init).not.toMatchObject({ tools: expect.arrayContaining(["Agent"]) });
    const asked = server.requests[0]?.body["tools"] as { name: string }[];
    expect(asked.map(({ name }) => name)).toContain("Agent");
  });

  test("says where notes are kept, where there are any", () => {
    const facts = { ...noFacts, memoryFolder: "/notes" };
    expect(initMessage(newMemo(facts))).toMatchObject({ memory_paths: { auto: "/notes" } });
    expect(initMessage(newMemo(noFacts))).not.toHaveProperty("memory_paths");
  });
});

describe("replies and results", () => {
  test("a reply has the id of its request and what it used; its blocks have the same", async () => {
    verifies("S2.21");
    const usage = { inputTokens: 100, outputTokens: 20, webSearches: 2 };
    const { options } = await sdkStage({
      replies: [replyWith({ usage }, "Look.", toolUse("Read", { file_path: "a.txt" })), reply("Done.")],
    });
    writeFileSync(path.join(options.cwd, "a.txt"), "a\n");
    const messages = await all(query({ prompt: "go", options }));
    const [first, second, third] = messages.filter((message) => message.type === "assistant");
    expect(first).toMatchObject({
      request_id: expect.stringMatching(/./),
      message: { usage: { input_tokens: 100, output_tokens: 20, service_tier: "standard" } },
    });
    expect(second).toMatchObject({ request_id: first?.request_id, message: { usage: first?.message.usage } });
    expect(third?.request_id).not.toBe(first?.request_id);
    expect(messages.at(-1)).toMatchObject({
      ttft_ms: expect.any(Number),
      fast_mode_state: "off",
      subagent_stats: { spawned: 0 },
      usage: { server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 }, service_tier: "standard" },
    });
  });

  test("an edit is told with what it takes where nothing is said, to the program and to whoever is asked", async () => {
    verifies("S2.21");
    const { options } = await sdkStage({
      replies: [
        reply(toolUse("Read", { file_path: "a.txt" })),
        reply(toolUse("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" })),
        reply("Done."),
      ],
    });
    writeFileSync(path.join(options.cwd, "a.txt"), "one\n");
    const asked: unknown[] = [];
    const canUseTool: CanUseTool = async (_, input) => {
      asked.push(input);
      return { behavior: "allow", updatedInput: input };
    };
    const messages = await all(query({ prompt: "go", options: { ...options, canUseTool } }));
    const uses = messages.flatMap((message) =>
      message.type === "assistant" ? message.message.content.filter(({ type }) => type === "tool_use") : [],
    );
    expect(uses[1]).toMatchObject({ input: { replace_all: false } });
    expect(asked).toMatchObject([{ replace_all: false }]);
    expect(messages.at(-1)).toMatchObject({ result: "Done.", permission_denials: [] });
  });
});

describe("whoever is asked", () => {
  test("learns what the call is about and what wants the question", async () => {
    verifies("S2.16");
    const { options } = await sdkStage({
      replies: [
        reply(toolUse("Bash", { command: "touch a", description: "Make a file" })),
        reply(toolUse("Write", { file_path: "b.txt", content: "x" })),
        reply(toolUse("Read", { file_path: "/etc/hostname" })),
        reply(toolUse("Bash", { command: "touch hooked" })),
        reply("Done."),
      ],
    });
    const asked: unknown[] = [];
    const canUseTool: CanUseTool = async (name, _, told) => {
      const { description, decisionReasonType, matchedAskRule, blockedPath } = told;
      asked.push([name, { description, decisionReasonType, matchedAskRule, blockedPath }]);
      return { behavior: "deny", message: "no" };
    };
    const settings = { permissions: { ask: ["Write"] } };
    const hooks = {
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [
            async (input: unknown) =>
              JSON.stringify(input).includes("hooked")
                ? {
                    hookSpecificOutput: {
                      hookEventName: "PreToolUse" as const,
                      permissionDecision: "ask" as const,
                    },
                  }
                : {},
          ],
        },
      ],
    };
    await all(query({ prompt: "go", options: { ...options, canUseTool, settings, hooks } }));
    expect(asked).toMatchObject([
      ["Bash", { description: "Make a file", decisionReasonType: "mode" }],
      [
        "Write",
        { decisionReasonType: "rule", matchedAskRule: { source: expect.any(String), toolName: "Write" } },
      ],
      ["Read", { decisionReasonType: "workingDir", blockedPath: "/etc/hostname" }],
      ["Bash", { description: "touch hooked", decisionReasonType: "hook" }],
    ]);
  });

  test("a hook after a question to the person sees the answers in its input", async () => {
    verifies("S2.36");
    const questions = [
      {
        question: "Which?",
        header: "Way",
        multiSelect: false,
        options: [
          { label: "A", description: "first" },
          { label: "B", description: "second" },
        ],
      },
    ];
    const { options } = await sdkStage({
      replies: [reply(toolUse("AskUserQuestion", { questions })), reply("B it is.")],
    });
    const seen: unknown[] = [];
    const hooks = {
      PostToolUse: [
        {
          hooks: [
            async (input: { tool_input?: unknown }) => {
              seen.push(input.tool_input);
              return {};
            },
          ],
        },
      ],
    };
    const canUseTool: CanUseTool = async (_, input) => ({
      behavior: "allow",
      updatedInput: { ...input, answers: { "Which?": "B" } },
    });
    await all(query({ prompt: "go", options: { ...options, canUseTool, hooks: hooks as never } }));
    expect(seen).toMatchObject([{ questions, answers: { "Which?": "B" } }]);
  });
});

describe("agents", () => {
  const script = (kind: string, background: boolean): Script => ({
    rules: [
      {
        when: { lastUserContains: "TASK" },
        reply: reply("Looking.", toolUse("Read", { file_path: "missing" }), toolUse("Nothing", {})),
        times: 1,
      },
    ],
    replies: [reply(agent(kind, background)), reply("The report."), reply("Done."), reply("Heard.")],
  });

  test("are started by the name that programs know, in any case, and their report counts every call", async () => {
    verifies("S4.56");
    const { options } = await sdkStage(script("Explore", false));
    const messages = await all(query({ prompt: "go", options: { ...options, canUseTool: allow } }));
    const report = messages.findLast((message) => message.type === "user");
    expect(report).toMatchObject({ tool_use_result: { status: "completed", totalToolUseCount: 2 } });
    expect(messages).toContainEqual(
      expect.objectContaining({ subtype: "task_started", subagent_type: "Explore" }),
    );
    expect(ofAgents(messages).map(textOf)).toEqual(["tool_use", "tool_use"]);
    expect(messages.at(-1)).toMatchObject({ subagent_stats: { spawned: 1 } });
  });

  test("say their words when they work in the background, where nobody waits for their report", async () => {
    verifies("S2.21");
    const { options } = await sdkStage(script("general-purpose", true));
    const messages = await all(query({ prompt: "go", options: { ...options, canUseTool: allow } }));
    expect(ofAgents(messages).map(textOf)).toContain("Looking.");
  });
});

describe("told beside the conversation", () => {
  const hook = (command: string) => ({
    hooks: { UserPromptSubmit: [{ hooks: [{ type: "command" as const, command }] }] },
  });

  test("what a slow hook has printed so far, and nothing of one that wants to be silent", async () => {
    verifies("S2.18");
    const { options } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const slow = { ...options, includeHookEvents: true, settings: hook("echo half; sleep 2; echo whole") };
    const hookMessages = (await all(query({ prompt: "go", options: slow }))).filter(
      (one) => "hook_id" in one,
    );
    const half = { subtype: "hook_progress", stdout: "half\n", output: "half\n", stderr: "" };
    expect(hookMessages.slice(0, 2)).toMatchObject([{ subtype: "hook_started" }, half]);
    expect(hookMessages.at(-1)).toMatchObject({ subtype: "hook_response", stdout: "half\nwhole\n" });
  });

  test("nothing of what a hook printed that wants to be silent; its words for the person are said", async () => {
    verifies("S2.39");
    const { options } = await sdkStage({ replies: [reply("One.")] });
    const answer = JSON.stringify({ suppressOutput: true, systemMessage: "Heard." });
    const settings = hook(`echo '${answer}'`);
    const messages = await all(
      query({ prompt: "go", options: { ...options, includeHookEvents: true, settings } }),
    );
    const [, response] = messages.filter((message) => "hook_id" in message);
    expect(response).toMatchObject({ subtype: "hook_response", stdout: "", output: "", outcome: "success" });
    expect(messages).toContainEqual(expect.objectContaining({ subtype: "informational", content: "Heard." }));
  });

  test("the calls of a reply in one line, to who asks for it", async () => {
    verifies("S2.26");
    const { options } = await sdkStage({
      replies: [
        reply(toolUse("Read", { file_path: "a.txt" }), toolUse("Bash", { command: "echo hi" })),
        reply("Done."),
      ],
    });
    writeFileSync(path.join(options.cwd, "a.txt"), "a\n");
    const env = { ...options.env, CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES: "1" };
    const messages = await all(query({ prompt: "go", options: { ...options, env } }));
    const at = messages.findIndex(({ type }) => type === "tool_use_summary");
    expect(messages[at]).toMatchObject({ preceding_tool_use_ids: [expect.any(String), expect.any(String)] });
    expect(messages[at]).toMatchObject({ summary: expect.stringMatching(/Read a\.txt|Bash echo hi/) });
    expect(messages[at - 1]?.type).toBe("user");
  });

  test("a key that is refused", async () => {
    verifies("S2.26");
    const refused = httpError(401, { type: "authentication_error", message: "invalid x-api-key" });
    const { options } = await sdkStage({ replies: [], otherwise: refused });
    const env = { ...options.env, CLAUDE_CODE_MAX_RETRIES: "0" };
    const { messages } = await heard(query({ prompt: "go", options: { ...options, env } }));
    expect(messages).toContainEqual(
      expect.objectContaining({ type: "auth_status", isAuthenticating: false, error: expect.any(String) }),
    );
  });

  test("files whose content is kept before they are changed", async () => {
    verifies("S2.20");
    const { options } = await sdkStage({
      replies: [
        reply(toolUse("Read", { file_path: "a.txt" })),
        reply(toolUse("Write", { file_path: "a.txt", content: "new" })),
        reply("Done."),
      ],
    });
    writeFileSync(path.join(options.cwd, "a.txt"), "old");
    const changed = await all(
      query({
        prompt: "go",
        options: { ...options, enableFileCheckpointing: true, permissionMode: "acceptEdits" },
      }),
    );
    expect(changed).toContainEqual(
      expect.objectContaining({
        subtype: "files_persisted",
        files: [{ filename: path.join(options.cwd, "a.txt"), file_id: expect.any(String) }],
        failed: [],
      }),
    );
  });
});
