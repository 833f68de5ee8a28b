// Points beside the turn: another model, a cleared conversation, the model's list, folders, a copy of a session.
import { describe, expect, test } from "vitest";
import { openTestSession, type TestSessionOptions } from "../../../test/support/test-session.ts";
import type { Tool } from "../ports/tool.ts";
import type { HookEvent, HookInput } from "../protocol/hook.ts";
import { hookEvents } from "../protocol/hook.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { taskCreateTool, taskUpdateTool } from "../tools/todo-list.ts";
import type { Hook } from "./run.ts";
import { hooksFrom } from "./run-hooks.ts";

async function watched(
  options: Omit<TestSessionOptions, "hooks"> = {},
  answers: Partial<Record<HookEvent, object>> = {},
) {
  const seen: HookInput[] = [];
  const hooks = hookEvents.map(
    (event): Hook => ({
      event,
      name: "watch",
      call: async (input) => {
        seen.push(input);
        return answers[event];
      },
    }),
  );
  const opened = await openTestSession({
    ...options,
    hooks: hooksFrom({ hooks, transcript: async () => undefined }),
  });
  const names = () => seen.map(({ hook_event_name }) => hook_event_name);
  return { ...opened, seen, names };
}

describe("another model", () => {
  const script = { replies: [reply("One."), reply("Two.")] };
  const switching = { type: "set", patch: { model: "small-model" } } as const;

  test("is told before and after, with what it has to read", async () => {
    const { session, say, seen } = await watched(
      { script },
      {
        PostModelSwitch: {
          hookSpecificOutput: { hookEventName: "PostModelSwitch", additionalContext: "WORDS" },
        },
      },
    );
    await say("go");
    await session.submit(switching);
    const switches = seen.filter(({ hook_event_name }) => hook_event_name.endsWith("ModelSwitch"));
    expect(switches).toMatchObject([
      {
        hook_event_name: "PreModelSwitch",
        from_model: "test-model",
        to_model: "small-model",
        source: "sdk",
      },
      { hook_event_name: "PostModelSwitch", requested_model: "small-model" },
    ]);
    expect(switches[0]).toHaveProperty("context_tokens", 120);
    expect(JSON.stringify(session.state.history.at(-1))).toContain("WORDS");
  });

  test("can be refused, also after a turn was interrupted; then nothing has changed", async () => {
    const { session, say } = await watched(
      { script },
      {
        PreModelSwitch: {
          hookSpecificOutput: {
            hookEventName: "PreModelSwitch",
            permissionDecision: "deny",
            permissionDecisionReason: "too dear",
          },
        },
      },
    );
    await say("go");
    await session.submit({ type: "interrupt" });
    await expect(session.submit(switching)).rejects.toThrow("too dear");
    expect(session.state.settings?.model).toBe("test-model");
  });

  test("before the first input is nobody's concern", async () => {
    const { session, names } = await watched({ script });
    await session.submit(switching);
    expect(names()).toEqual([]);
  });
});

test("a cleared conversation ends for hooks and starts with the next input", async () => {
  const { session, say, seen } = await watched({ script: { replies: [reply("One."), reply("Two.")] } });
  await say("one");
  await session.submit({ type: "clear" });
  await say("two");
  await session.close("ended");
  const lives = seen.filter(({ hook_event_name }) => hook_event_name.startsWith("Session"));
  expect(lives).toMatchObject([
    { hook_event_name: "SessionStart", source: "startup" },
    { hook_event_name: "SessionEnd", reason: "clear" },
    { hook_event_name: "SessionStart", source: "clear" },
    { hook_event_name: "SessionEnd", reason: "other" },
  ]);
});

test("the model's list is told when an item comes and when it is done", async () => {
  const script = {
    replies: [
      reply(toolUse("TaskCreate", { subject: "Paint", description: "All of it." })),
      reply(toolUse("TaskUpdate", { taskId: "1", status: "in_progress" })),
      reply(toolUse("TaskUpdate", { taskId: "1", status: "completed" })),
      reply("Done."),
    ],
  };
  const tools = [taskCreateTool, taskUpdateTool] as Tool[];
  const { say, seen } = await watched({ script, tools });
  await say("go");
  expect(seen.filter(({ hook_event_name }) => hook_event_name.startsWith("Task"))).toMatchObject([
    { hook_event_name: "TaskCreated", task_id: "1", task_subject: "Paint", task_description: "All of it." },
    { hook_event_name: "TaskCompleted", task_id: "1", task_subject: "Paint" },
  ]);
});

test("a folder that is added is told", async () => {
  const { session, say, seen } = await watched({ script: { replies: [reply("One.")] } });
  await say("go");
  await session.submit({
    type: "set",
    patch: { permissions: [{ type: "folders", change: "add", folders: ["/elsewhere"] }] },
  });
  expect(seen.at(-1)).toMatchObject({ hook_event_name: "DirectoryAdded", directory: "/elsewhere" });
});
