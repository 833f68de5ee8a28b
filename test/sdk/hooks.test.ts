// Functions, commands and addresses are hooks by one contract: the same answer has the same effect.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { HookEvent, HookOutput } from "../../keel/src/protocol/hook.ts";
import type { SDKMessage, SDKResultMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import type { Settings } from "../../keel/src/sdk/options/settings.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { kinds } from "../hooks/kinds.ts";
import { all, type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const write = (name: string, content = "x") => toolUse("Write", { file_path: name, content });
const own = (hookEventName: HookEvent, more: object): HookOutput => ({
  hookSpecificOutput: { hookEventName, ...more },
});

type Row = {
  readonly name: string;
  readonly event: HookEvent;
  readonly answer: HookOutput;
  readonly matcher?: string;
  readonly options?: Options;
  /** How it turned out, in a few words. */
  readonly outcome: object;
};

const rows: readonly Row[] = [
  { name: "no opinion", event: "PreToolUse", answer: {}, outcome: { ran: true, asked: 1 } },
  {
    name: "an allow takes the question away",
    event: "PreToolUse",
    answer: own("PreToolUse", { permissionDecision: "allow" }),
    outcome: { ran: true, asked: 0 },
  },
  {
    name: "a deny is a refusal in its words",
    event: "PreToolUse",
    answer: own("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "WORDS" }),
    outcome: { ran: false, asked: 0, told: true, denied: 1 },
  },
  {
    name: "an older block is the same",
    event: "PreToolUse",
    answer: { decision: "block", reason: "WORDS" },
    outcome: { ran: false, asked: 0, told: true, denied: 1 },
  },
  {
    name: "an ask asks, whatever allows it",
    event: "PreToolUse",
    answer: own("PreToolUse", { permissionDecision: "ask" }),
    options: { allowedTools: ["Write"] },
    outcome: { ran: true, asked: 1 },
  },
  {
    name: "a changed input is what runs",
    event: "PreToolUse",
    answer: own("PreToolUse", {
      permissionDecision: "allow",
      updatedInput: { file_path: "a.txt", content: "CHANGED" },
    }),
    outcome: { ran: true, content: "CHANGED" },
  },
  {
    name: "words before a call reach the model",
    event: "PreToolUse",
    answer: own("PreToolUse", { additionalContext: "WORDS" }),
    outcome: { ran: true, told: true },
  },
  {
    name: "a call is handed to the host",
    event: "PreToolUse",
    answer: own("PreToolUse", { permissionDecision: "defer" }),
    outcome: { ran: false, terminal: "tool_deferred" },
  },
  {
    name: "a stop before a call ends the turn without it",
    event: "PreToolUse",
    answer: { continue: false, stopReason: "enough" },
    outcome: { ran: false, terminal: "hook_stopped" },
  },
  {
    name: "a matcher that does not match",
    event: "PreToolUse",
    matcher: "Bash|Edit",
    answer: { decision: "block" },
    outcome: { ran: true, asked: 1 },
  },
  {
    name: "words after a call reach the model",
    event: "PostToolUse",
    answer: own("PostToolUse", { additionalContext: "WORDS" }),
    outcome: { ran: true, told: true },
  },
  {
    name: "a result is replaced",
    event: "PostToolUse",
    answer: own("PostToolUse", { updatedToolOutput: "WORDS" }),
    outcome: { ran: true, told: true },
  },
  {
    name: "words of a batch reach the model",
    event: "PostToolBatch",
    answer: own("PostToolBatch", { additionalContext: "WORDS" }),
    outcome: { ran: true, told: true },
  },
  {
    name: "a prompt is blocked",
    event: "UserPromptSubmit",
    answer: { decision: "block", reason: "WORDS" },
    outcome: { ran: false, requests: 0, turns: 0 },
  },
  {
    name: "words reach the model with the prompt",
    event: "UserPromptSubmit",
    answer: own("UserPromptSubmit", { additionalContext: "WORDS" }),
    outcome: { ran: true, told: true },
  },
  {
    name: "a prompt gives the session its title",
    event: "UserPromptSubmit",
    answer: own("UserPromptSubmit", { sessionTitle: "Another title" }),
    outcome: { ran: true, title: "Another title" },
  },
  {
    name: "a session starts with words and a title",
    event: "SessionStart",
    answer: own("SessionStart", { additionalContext: "WORDS", sessionTitle: "A title" }),
    outcome: { ran: true, told: true, title: "A title" },
  },
  {
    name: "a question is answered in the host's place",
    event: "PermissionRequest",
    answer: own("PermissionRequest", { decision: { behavior: "deny", message: "WORDS" } }),
    options: {
      canUseTool: async (_, __, { signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve(null))),
    },
    outcome: { ran: false, told: true },
  },
  {
    name: "a question that nobody would answer is answered",
    event: "PermissionRequest",
    answer: own("PermissionRequest", { decision: { behavior: "allow" } }),
    options: { permissionPrompts: "none" },
    outcome: { ran: true, asked: 0, denied: 0 },
  },
  {
    name: "an end is objected to, until it is enough",
    event: "Stop",
    answer: { decision: "block", reason: "WORDS" },
    outcome: { ran: true, told: true },
  },
  {
    name: "an end is final",
    event: "Stop",
    answer: { continue: false },
    outcome: { ran: true, terminal: "stop_hook_prevented" },
  },
  {
    name: "the person is told something",
    event: "PostToolUse",
    answer: { systemMessage: "FOR THE PERSON" },
    outcome: { ran: true, shown: true },
  },
];

async function outcomeOf(stage: SdkStage, options: Options) {
  let asked = 0;
  const canUseTool = async () => {
    asked++;
    return { behavior: "allow" as const };
  };
  const messages: SDKMessage[] = await all(
    query({ prompt: "go", options: { ...stage.options, canUseTool, ...options } }),
  );
  const results = messages.filter((message): message is SDKResultMessage => message.type === "result");
  const result = results.at(-1);
  const file = path.join(stage.cwd, "a.txt");
  const ran = existsSync(file);
  return {
    ran,
    asked,
    content: ran ? readFileSync(file, "utf8") : "",
    told: JSON.stringify(stage.server.requests.slice(0, 4).map(({ body }) => body)).includes("WORDS"),
    shown: messages.some((message) => "content" in message && message.content === "FOR THE PERSON"),
    denied: result?.permission_denials.length ?? 0,
    terminal: result?.terminal_reason,
    turns: result?.num_turns,
    requests: stage.server.requests.length,
    title: messages.flatMap((message) => ("title" in message ? [message.title] : []))[0],
  };
}

describe.each(Object.keys(kinds))("a hook that is a %s", (kind) => {
  test.each(rows)("$name", async ({ event, answer, matcher, options, outcome }) => {
    verifies("S2.37", "S2.39", "S2.40", "S2.41", "S2.42");
    const stage = await sdkStage({ replies: [reply(write("a.txt"))], otherwise: reply("Done.") });
    const hook = await kinds[kind]?.({ event, answer, ...(matcher === undefined ? {} : { matcher }) });
    expect(await outcomeOf(stage, { ...hook, ...options })).toMatchObject(outcome);
  });
});

describe("runs of hooks", () => {
  const settings: Settings = {
    hooks: {
      SessionStart: [{ hooks: [{ type: "command", command: "echo hello" }] }],
      PreToolUse: [{ matcher: "Write", hooks: [{ type: "command", command: "echo no >&2; exit 2" }] }],
    },
  };

  test("are told to who asks for it: those of a start before its init, functions never", async () => {
    verifies("S2.18");
    const { options } = await sdkStage({ replies: [reply(write("a.txt"))], otherwise: reply("Done.") });
    const hooks = { Stop: [{ hooks: [async () => ({})] }] };
    const messages = await all(
      query({ prompt: "go", options: { ...options, settings, hooks, includeHookEvents: true } }),
    );
    const told = messages.flatMap((message) =>
      message.type === "system" ? [message.subtype] : [message.type],
    );
    expect(told.slice(0, 3)).toEqual(["hook_started", "hook_response", "init"]);
    expect(messages.filter((message) => "hook_id" in message)).toMatchObject([
      { subtype: "hook_started", hook_event: "SessionStart" },
      { subtype: "hook_response", outcome: "success", stdout: "hello\n", exit_code: 0 },
      { subtype: "hook_started", hook_event: "PreToolUse" },
      { subtype: "hook_response", stderr: "no\n", exit_code: 2 },
    ]);
  });

  test("are not told to others", async () => {
    const { options } = await sdkStage({ replies: [reply(write("a.txt"))], otherwise: reply("Done.") });
    const messages = await all(query({ prompt: "go", options: { ...options, settings } }));
    expect(messages.filter((message) => "hook_id" in message)).toEqual([]);
  });
});
