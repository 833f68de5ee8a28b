// The reference of the interface, line by line: behaviours that no scenario of the conformance kit and no other test shows.
// Texts are ours; names, fields and order are the interface's.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SDKSentMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import type { Query } from "../../keel/src/sdk/query/query-methods.ts";
import { getSessionMessages } from "../../keel/src/sdk/stored/session-functions.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";

const kindOf = (message: SDKSentMessage): string =>
  "subtype" in message && message.type === "system" ? `system/${message.subtype}` : message.type;
const kinds = (messages: readonly SDKSentMessage[]): string[] => messages.map(kindOf);
const of = (messages: readonly SDKSentMessage[], kind: string): SDKSentMessage[] =>
  messages.filter((message) => kindOf(message) === kind);

async function run(prompt: string, script: Script, more: Options = {}) {
  const stage = await sdkStage(script);
  return { ...stage, messages: await all(query({ prompt, options: { ...stage.options, ...more } })) };
}

const allow: Options["canUseTool"] = async (_, input) => ({ behavior: "allow", updatedInput: input });

describe("which tools there are", () => {
  test("those that only ask are offered to who answers questions, and to nobody else", async () => {
    const asking = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];
    const namesOf = ({ messages }: { messages: SDKSentMessage[] }): string[] =>
      messages.flatMap((message) =>
        message.type === "system" && message.subtype === "init" ? message.tools : [],
      );
    const alone = namesOf(await run("hi", { replies: [reply("Hi.")] }));
    const asked = namesOf(await run("hi", { replies: [reply("Hi.")] }, { canUseTool: allow }));
    expect(asking.filter((name) => alone.includes(name))).toEqual([]);
    expect(asking.filter((name) => !asked.includes(name))).toEqual([]);
  });

  test("no sources of settings still leave the built-in skills and agents", async () => {
    const { messages } = await run("hi", { replies: [reply("Hi.")] }, { settingSources: [] });
    const [init] = of(messages, "system/init");
    expect(init).toMatchObject({
      agents: expect.arrayContaining(["general-purpose"]),
      skills: expect.arrayContaining(["review"]),
    });
  });
});

describe("a command", () => {
  test("that prints nothing says so to the model", async () => {
    const { messages } = await run("go", {
      replies: [reply(toolUse("Bash", { command: "true" })), reply("ok")],
    });
    const [result] = of(messages, "user");
    expect(JSON.stringify(result)).toMatch(/no output/i);
  });
});

describe("modes", () => {
  test("a change is told as a status with the mode", async () => {
    const { options } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const running = query({ prompt: "go", options: { ...options, keepOpen: true } });
    const messages: SDKSentMessage[] = [];
    for await (const message of running) {
      messages.push(message);
      if (message.type === "result" && messages.filter(({ type }) => type === "result").length === 1) {
        await running.setPermissionMode("acceptEdits");
        await running.streamInput(said("more"));
      } else if (message.type === "result") break;
    }
    running.close();
    expect(of(messages, "system/status")).toContainEqual(
      expect.objectContaining({ status: null, permissionMode: "acceptEdits" }),
    );
    expect(of(messages, "system/init").at(-1)).toMatchObject({ permissionMode: "acceptEdits" });
  });

  test("an approved plan tells the mode before the result of its call", async () => {
    const { messages } = await run(
      "plan",
      {
        replies: [reply(toolUse("ExitPlanMode", { plan: "1. Paint." }, "exit")), reply("Painted.")],
      },
      { permissionMode: "plan", canUseTool: allow },
    );
    const told = kinds(messages);
    const status = messages.findIndex(
      (message) =>
        kindOf(message) === "system/status" &&
        "permissionMode" in message &&
        message.permissionMode === "default",
    );
    expect(status).toBeGreaterThan(0);
    expect(status).toBeLessThan(told.indexOf("user"));
  });
});

describe("hooks", () => {
  const one = (output: object, event = "PostToolUse"): Options => ({
    hooks: { [event]: [{ hooks: [async () => output] }] },
  });
  const script: Script = { replies: [reply(toolUse("Bash", { command: "echo hi" })), reply("Done.")] };

  test("words for the person are told as a notice", async () => {
    const { messages } = await run("go", script, one({ systemMessage: "Mind the step." }));
    expect(of(messages, "system/informational")).toContainEqual(
      expect.objectContaining({ content: expect.stringContaining("Mind the step."), level: "notice" }),
    );
  });

  test("one that throws is told as a warning by its tag, and the call goes on", async () => {
    const broken = async () => {
      throw new Error("no luck");
    };
    const { messages } = await run("go", script, { hooks: { PreToolUse: [{ hooks: [broken] }] } });
    expect(of(messages, "system/informational")).toContainEqual(
      expect.objectContaining({ level: "warning", tag: "hook_callback_failed" }),
    );
    expect(messages.at(-1)).toMatchObject({ subtype: "success", result: "Done." });
  });

  test("a prompt that is blocked is told as one that does not go on, and ends without a turn", async () => {
    const blocked = one({ decision: "block", reason: "Not on Sundays." }, "UserPromptSubmit");
    const { messages, server } = await run("go", { replies: [] }, blocked);
    expect(of(messages, "system/informational")).toContainEqual(
      expect.objectContaining({ prevent_continuation: true }),
    );
    expect(messages.at(-1)).toMatchObject({ subtype: "success", num_turns: 0 });
    expect(server.requests).toHaveLength(0);
  });

  test("an objection at the end is a user message of the harness that names its reason", async () => {
    let first = true;
    const object = async () => {
      const output = first ? { decision: "block" as const, reason: "Tests are missing." } : {};
      first = false;
      return output;
    };
    const { messages } = await run(
      "go",
      { replies: [reply("Done."), reply("Tested.")] },
      { hooks: { Stop: [{ hooks: [object] }] } },
    );
    const [user] = of(messages, "user");
    expect(user).toMatchObject({ isSynthetic: true });
    // In which words it is said is ours.
    expect(JSON.stringify(user)).toContain("Tests are missing.");
    expect(messages.at(-1)).toMatchObject({ result: "Tested.", num_turns: 2 });
  });

  test("around a call come in their order, and the batch behind all of them", async () => {
    const seen: string[] = [];
    const see = async (name: string) => {
      seen.push(name);
      return {};
    };
    const note = (name: string) => [{ hooks: [() => see(name)] }];
    await run(
      "go",
      {
        replies: [
          reply(toolUse("Bash", { command: "touch a" }), toolUse("Bash", { command: "touch b" })),
          reply("Done."),
        ],
      },
      {
        canUseTool: async (_, input) => {
          seen.push("asked");
          return { behavior: "allow", updatedInput: input };
        },
        hooks: {
          UserPromptSubmit: note("prompt"),
          PreToolUse: note("pre"),
          PermissionRequest: note("request"),
          PostToolUse: note("post"),
          PostToolBatch: note("batch"),
          Stop: note("stop"),
        },
      },
    );
    expect(seen[0]).toBe("prompt");
    expect(seen.at(-1)).toBe("stop");
    expect(seen.filter((name) => name === "batch")).toHaveLength(1);
    expect(seen.lastIndexOf("post")).toBeLessThan(seen.indexOf("batch"));
    expect(seen.indexOf("pre")).toBeLessThan(seen.indexOf("asked"));
    expect(seen.indexOf("asked")).toBeLessThan(seen.indexOf("post"));
  });
});

describe("agents and tasks", () => {
  test("one that is waited for: its call, its start, its prompt, its end, and the result of the call", async () => {
    const work = {
      description: "count",
      prompt: "Count them.",
      subagent_type: "finder",
      run_in_background: false,
    };
    const { messages } = await run(
      "go",
      {
        replies: [reply(toolUse("Agent", work, "call")), reply("Three.")],
        rules: [{ when: { systemContains: "You find." }, reply: reply("Three of them.") }],
      },
      { agents: { finder: { description: "Finds.", prompt: "You find." } } },
    );
    const told = kinds(messages);
    const place = (kind: string): number => told.indexOf(kind);
    expect(place("system/task_started")).toBeGreaterThan(place("assistant"));
    expect(messages[place("user")]).toMatchObject({ parent_tool_use_id: "call" });
    expect(place("user")).toBeGreaterThan(place("system/task_started"));
    expect(place("system/task_notification")).toBeGreaterThan(place("user"));
    const end = messages.findIndex(
      (message) =>
        message.type === "user" &&
        message.parent_tool_use_id === null &&
        JSON.stringify(message).includes('"call"'),
    );
    expect(end).toBeGreaterThan(place("system/task_notification"));
    expect(of(messages, "system/task_started")[0]).toMatchObject({
      task_id: expect.stringMatching(/^a[0-9a-f]{16}$/),
      tool_use_id: "call",
    });
  });

  test("a command that is stopped: it is killed, told as stopped, and no turn follows", async () => {
    const { options } = await sdkStage({
      replies: [
        reply(toolUse("Bash", { command: "sleep 600", run_in_background: true }, "bg")),
        reply("It runs."),
      ],
      otherwise: reply("A turn too many."),
    });
    const running: Query = query({ prompt: "go", options: { ...options, canUseTool: allow } });
    const messages: SDKSentMessage[] = [];
    for await (const message of running) {
      messages.push(message);
      if (message.type === "result") {
        const [started] = of(messages, "system/task_started");
        if (started && "task_id" in started) await running.stopTask(String(started.task_id));
      }
    }
    expect(of(messages, "system/task_started")[0]).toMatchObject({
      task_id: expect.stringMatching(/^b[0-9a-z]{8}$/),
    });
    expect(of(messages, "system/task_updated").at(-1)).toMatchObject({ patch: { status: "killed" } });
    expect(of(messages, "system/task_notification").at(-1)).toMatchObject({ status: "stopped" });
    expect(messages.filter(({ type }) => type === "result")).toHaveLength(1);
  });
});

describe("words with a slash", () => {
  test("a command that needs no model: an answer of nobody's, and a result that names it", async () => {
    const { messages, server } = await run("/context", { replies: [] });
    expect(of(messages, "assistant")[0]).toMatchObject({ message: { model: "<synthetic>" } });
    expect(messages.at(-1)).toMatchObject({ type: "result", local_command: "context", num_turns: 0 });
    expect(server.requests).toHaveLength(0);
  });

  test("a command of the project: its arguments are put in, and its shell lines are run", async () => {
    const stage = await sdkStage({ replies: [reply("ok")] });
    const folder = path.join(stage.cwd, ".claude/commands");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "greet.md"), "Greet $ARGUMENTS on !`echo Monday`.\n");
    const options: Options = {
      ...stage.options,
      settingSources: ["project"],
      allowedTools: ["Bash(echo:*)"],
    };
    await all(query({ prompt: "/greet Ada and Bob", options }));
    const sent = JSON.stringify(stage.server.requests[0]?.body["messages"]);
    expect(sent).toContain("Greet Ada and Bob on Monday.");
  });
});

describe("messages while a turn runs", () => {
  test("one that must be heard now ends the turn, which is no failure, and has its own", async () => {
    const { options } = await sdkStage({
      replies: [reply(toolUse("Bash", { command: "sleep 30" }, "long")), reply("Heard.")],
      otherwise: reply("Heard."),
    });
    const urgent = "22222222-2222-4222-8222-222222222222";
    const running = query({ prompt: "go", options: { ...options, canUseTool: allow, keepOpen: true } });
    const messages: SDKSentMessage[] = [];
    for await (const message of running as AsyncIterable<SDKSentMessage>) {
      messages.push(message);
      if (message.type === "assistant" && messages.filter(({ type }) => type === "assistant").length === 1)
        await running.streamInput(said("stop that", { priority: "now", uuid: urgent }));
      // It is done behind its result.
      if (message.type === "command_lifecycle" && message.state === "completed") break;
    }
    running.close();
    const results = of(messages, "result");
    expect(results[0]).toMatchObject({
      subtype: "success",
      terminal_reason: expect.stringMatching(/^aborted_/),
    });
    expect(results[1]).toMatchObject({ subtype: "success", result: "Heard." });
    const states = messages.flatMap((message) =>
      message.type === "command_lifecycle" && message.command_uuid === urgent ? [message.state] : [],
    );
    expect(states).toEqual(["queued", "started", "completed"]);
  });
});

describe("sessions that are kept", () => {
  test("system messages are among the messages where they are wanted, and not otherwise", async () => {
    const { messages, cwd } = await run("hi", { replies: [reply("Hi.")] });
    const id = messages.at(-1)?.session_id ?? "";
    const plain = await getSessionMessages(id, { dir: cwd });
    const whole = await getSessionMessages(id, { dir: cwd, includeSystemMessages: true });
    expect(plain.map(({ type }) => type)).toEqual(["user", "assistant"]);
    expect(whole.map(({ type }) => type)).toContain("system");
  });
});

async function* said(content: string, more: object = {}) {
  yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null, ...more } as const;
}
