// Whatever a call or a model does not answer is left behind: every wait has a deadline and a signal.
import { describe, expect, test } from "vitest";
import { openTestSession } from "../../../test/support/test-session.ts";
import { anyInput } from "../../../test/support/test-tools.ts";
import type { Checkpoints } from "../ports/checkpoints.ts";
import { defineTool, type ToolDefinition } from "../ports/define-tool.ts";
import type { Model, ModelEvent } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { instantClock } from "../testing/fake-clock.ts";
import { memoryWorkspace } from "../testing/memory-workspace.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { testModelInfo } from "../testing/scripted-model.ts";

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

function tool(over: Partial<ToolDefinition<{ at?: string | undefined }>> = {}): Tool {
  return defineTool({
    name: "Odd",
    description: "Is odd.",
    input: anyInput,
    claims: async () => [{ action: "read", target: "/project/a" }],
    traits: { readOnly: true },
    async *run() {
      return { content: [text("fine")], display: { kind: "text", text: "" } };
    },
    ...over,
  }) as Tool;
}

const once = { replies: [reply(toolUse("Odd", { at: "x" }, "c1")), reply("I see.")] };

const stuck: [string, Parameters<typeof openTestSession>[0]][] = [
  ["its tool checks the input", { tools: [tool({ check: never })] }],
  ["its tool says what it would touch", { tools: [tool({ claims: never })] }],
  [
    "a path is looked at",
    {
      tools: [tool()],
      workspace: { ...memoryWorkspace(), files: { ...memoryWorkspace().files, describe: never } },
    },
  ],
];

describe("a call that is never through while", () => {
  test.each(stuck)("%s is refused at the deadline, and the turn goes on", async (_, options) => {
    const opened = await openTestSession({ ...options, script: once });
    await opened.say("go");
    expect(opened.all("tool.finished")).toMatchObject([
      { callId: "c1", failed: true, content: [{ text: expect.stringContaining("within 60 s") }] },
    ]);
    expect(opened.all("tool.started")).toEqual([]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });

  test.each(stuck)("%s ends with an interrupt, at once", async (_, options) => {
    // Neither the deadline nor a grace ever comes: only the signal can end it.
    const clock = instantClock({ maxMs: 100 });
    const opened = await openTestSession({ ...options, script: once, clock });
    opened.session.onEvent(({ type }) => {
      if (type === "model.finished") setImmediate(() => opened.session.submit({ type: "interrupt" }));
    });
    await opened.say("go");
    expect(opened.all("tool.finished")).toMatchObject([{ callId: "c1", denied: { by: "interrupt" } }]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });
});

describe("checkpoints that do not answer", () => {
  const none: Checkpoints = {
    backUp: async (path) => ({ path, blob: null }),
    prepare: async () => undefined,
    changes: async () => [],
    stamp: async () => null,
    preview: async () => [],
    restore: async () => undefined,
    close: async () => undefined,
  };
  const command = tool({
    traits: {},
    claims: async () => [
      { action: "execute", target: "make" },
      { action: "write", target: "/project/b" },
    ],
  });
  test.each([
    ["before a command", { prepare: never }],
    ["after a command", { changes: never }],
    [
      "about the stamp of a file",
      { changes: async () => [{ path: "/project/b", blob: null }], stamp: never },
    ],
  ] satisfies [string, Partial<Checkpoints>][])("%s are left behind with a warning", async (_, part) => {
    const opened = await openTestSession({
      tools: [command],
      script: once,
      checkpoints: { ...none, ...part },
    });
    await opened.say("go");
    expect(opened.all("tool.finished")).toMatchObject([{ callId: "c1", failed: false }]);
    expect(opened.all("notice.raised")).toMatchObject([{ code: "checkpoint_late" }]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });

  test("about one file: it is told as lost, and the call runs", async () => {
    const opened = await openTestSession({
      tools: [command],
      script: once,
      checkpoints: { ...none, backUp: never },
    });
    await opened.say("go");
    expect(opened.all("files.saved")).toMatchObject([{ lost: ["/project/b"] }]);
    expect(opened.all("tool.finished")).toMatchObject([{ failed: false }]);
  });

  test("after a command that was interrupted do not hold the end of the turn", async () => {
    const slow = tool({
      traits: {},
      claims: async () => [{ action: "execute", target: "make" }],
      run: async function* () {
        yield { kind: "text", text: "working" };
        return { content: [text("made")], display: { kind: "text", text: "" } };
      },
    });
    const opened = await openTestSession({
      tools: [slow],
      script: once,
      checkpoints: { ...none, changes: never },
      // Longer waits than the graces never end here.
      clock: instantClock({ maxMs: 5_000 }),
    });
    opened.session.onEvent(({ type }) => {
      if (type === "tool.progress") void opened.session.submit({ type: "interrupt" });
    });
    await opened.say("go");
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });
});

describe("a model that does not hear its signal", () => {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const deaf: Model = {
    info: (model) => ({ ...testModelInfo, id: model, name: model }),
    async *stream(request): AsyncGenerator<ModelEvent> {
      yield { type: "start", model: request.model, usage };
      await never();
    },
  };

  test("is left behind when the turn is interrupted", async () => {
    const opened = await openTestSession({ model: deaf, clock: instantClock({ maxMs: 5_000 }) });
    opened.session.onEvent(({ type }) => {
      if (type === "reply.started") void opened.session.submit({ type: "interrupt" });
    });
    await opened.say("go");
    expect(opened.all("model.failed")).toMatchObject([{ fault: { code: "aborted" } }]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });

  test("is left behind when it falls silent, and tried again as often as any other", async () => {
    const opened = await openTestSession({ model: deaf });
    await opened.say("go");
    expect(opened.all("model.failed").map(({ fault }) => fault.code)).toEqual(
      Array.from({ length: 4 }, () => "stream_stalled"),
    );
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "model_error" }]);
  });
});
