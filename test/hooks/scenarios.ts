// What a turn can pass: for each scenario the points at which hooks are called, in order. A mode is a way to drive a
// session; a new one is a new entry of `modes` in the matrix, and has to pass every scenario.
import type { HookEvent } from "../../keel/src/protocol/hook.ts";
import { httpError, reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";

export type Scenario = {
  readonly name: string;
  readonly replies: readonly Reply[];
  /** From the prompt to the end of its turn. */
  readonly points: readonly HookEvent[];
  /** Whether the turn ends well. */
  readonly ends: "well" | "badly";
};

const write = (name: string) => toolUse("Write", { file_path: name, content: "x" });
const tooLong = httpError(400, { message: "prompt is too long: 250000 tokens > 200000 maximum" });

export const scenarios: readonly Scenario[] = [
  {
    name: "a turn without tools",
    replies: [reply("Done.")],
    points: ["UserPromptSubmit", "Stop"],
    ends: "well",
  },
  {
    name: "a call that works and one that fails",
    replies: [reply(write("a.txt")), reply(toolUse("Read", { file_path: "missing.txt" })), reply("Done.")],
    points: [
      "UserPromptSubmit",
      ...(["PreToolUse", "PostToolUse", "PostToolBatch"] as const),
      ...(["PreToolUse", "PostToolUseFailure", "PostToolBatch"] as const),
      "Stop",
    ],
    ends: "well",
  },
  {
    name: "a call that nobody allows",
    replies: [reply(toolUse("Bash", { command: "touch b.txt" })), reply("Done.")],
    points: [
      "UserPromptSubmit",
      "PreToolUse",
      "Notification",
      "PermissionRequest",
      "PermissionDenied",
      "PostToolBatch",
      "Stop",
    ],
    ends: "well",
  },
  {
    name: "a call that a rule denies",
    replies: [reply(toolUse("Read", { file_path: "secret.txt" })), reply("Done.")],
    points: ["UserPromptSubmit", "PreToolUse", "PermissionDenied", "PostToolBatch", "Stop"],
    ends: "well",
  },
  {
    name: "the model's list",
    replies: [
      reply(toolUse("TaskCreate", { subject: "Paint", description: "All of it." })),
      reply(toolUse("TaskUpdate", { taskId: "1", status: "completed" })),
      reply("Done."),
    ],
    points: [
      "UserPromptSubmit",
      ...(["PreToolUse", "PostToolUse", "TaskCreated", "PostToolBatch"] as const),
      ...(["PreToolUse", "PostToolUse", "TaskCompleted", "PostToolBatch"] as const),
      "Stop",
    ],
    ends: "well",
  },
  {
    name: "a conversation that is shortened",
    replies: [reply(write("a.txt")), tooLong, reply("NOTES"), reply("Done.")],
    points: [
      "UserPromptSubmit",
      ...(["PreToolUse", "PostToolUse", "PostToolBatch"] as const),
      ...(["PreCompact", "PostCompact", "SessionStart"] as const),
      "Stop",
    ],
    ends: "well",
  },
  {
    name: "a model that fails",
    replies: [httpError(400, { message: "no" })],
    points: ["UserPromptSubmit", "StopFailure"],
    ends: "badly",
  },
];

/** Points that a turn of one session does not pass, and the test that names them. */
export const elsewhere = ["keel/src/hooks/moments.test.ts", "test/sdk/model-hooks.test.ts"];

/** Every run of the matrix ends with the first; the column of sub-agents begins and ends with the others. */
export const frames: readonly HookEvent[] = ["SessionEnd", "SubagentStart", "SubagentStop"];
