import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { realClock, realWorkspace } from "../../../test/support/real-workspace.ts";
import { openTestSession, type TestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Json } from "../kernel/json.ts";
import type { TaskEnd, TaskWork } from "../ports/tasks.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { taskOutputTool, taskStopTool } from "./background-tasks.ts";
import { bashTool } from "./bash.ts";
import { builtInTools } from "./catalog.ts";

const room = realTools();
const inBackground = async (command: string, more: { timeout?: number; description?: string } = {}) => {
  const call = await room.call(bashTool, { command, run_in_background: true, ...more });
  return { call, id: idIn(call.data) };
};
const output = (task_id: string, more: { block?: boolean; timeout?: number } = {}) =>
  room.call(taskOutputTool, { task_id, ...more });
const idIn = (data: Json | undefined): string =>
  /"backgroundTaskId":"(b[0-9a-f]{8})"/.exec(JSON.stringify(data ?? null))?.[1] ?? "none";
const statuses = () =>
  room.tasks.events.flatMap((event) => (event.type === "task.changed" ? [event.status] : []));

describe("a command in the background", () => {
  test("returns at once, writes into its file while it runs, and tells how it ended", async () => {
    verifies("S2.31");
    const { call, id } = await inBackground(
      "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3",
    );
    expect(call).toMatchObject({ refused: false, data: { backgroundTaskId: id } });
    expect(call.failed).toBeUndefined();
    const file = path.join(room.cwd, `${id}.output`);
    expect(call.said).toContain(file);
    await until(() => existsSync(file) && readFileSync(file, "utf8") === "one\n");
    expect((await output(id, { block: false })).said).toMatch(/status: running[\s\S]*\n\none$/);
    room.put("go", "");
    const end = await output(id);
    expect(end.said).toMatch(/status: failed \(exit code 3\)[\s\S]*\n\none\ntwo$/);
    expect(end.data).toMatchObject({ status: "failed", exitCode: 3, output: "one\ntwo" });
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
    expect(statuses()).toEqual(["running", "failed"]);
    // Whoever waited for the end was told of it.
    expect(room.tasks.events.some(({ type }) => type === "input.accepted")).toBe(false);
  });

  test("that is killed has failed, whoever killed it", async () => {
    const { id } = await inBackground("kill -9 $$");
    expect((await output(id)).said).toMatch(/status: failed \(SIGKILL\)/);
    const { id: late } = await inBackground("sleep 30", { timeout: 100 });
    expect((await output(late)).said).toMatch(/status: failed[\s\S]*stopped at its time limit/);
  });

  test("is stopped with all that it started, and TaskStop says so, once or twice", async () => {
    const { id } = await inBackground("setsid sleep 30 & sleep 30", { description: "wait" });
    const stopped = await room.call(taskStopTool, { task_id: id });
    expect(stopped).toMatchObject({
      said: expect.stringContaining("status: stopped (by you"),
      data: { task_id: id, task_type: "shell", command: "setsid sleep 30 & sleep 30" },
    });
    const again = await room.call(taskStopTool, { shell_id: id });
    expect(again.said).toContain("It had ended before.");
    expect(statuses()).toEqual(["running", "stopped"]);
    expect(room.tasks.events.some(({ type }) => type === "input.accepted")).toBe(false);
  });

  test("does not keep a waiter longer than it wants to wait", async () => {
    const { id } = await inBackground("sleep 30");
    expect((await output(id, { timeout: 50 })).said).toMatch(/status: running[\s\S]*no output so far/);
  });

  test("that the session does not know is refused with those that it knows", async () => {
    expect(await output("b00000000")).toMatchObject({ refused: true, said: expect.stringContaining("none") });
    const { id } = await inBackground("true");
    await output(id);
    expect((await room.call(taskStopTool, { task_id: "x" })).said).toContain(`${id} (completed)`);
    expect(await room.call(taskStopTool, {})).toMatchObject({ refused: true });
  });

  test("starts no more than a session can oversee", async () => {
    const { promise: over, resolve } = Promise.withResolvers<TaskEnd>();
    const work: TaskWork = { over, output: () => "", stop: async () => resolve({ status: "stopped" }) };
    for (let started = 0; started < 64; started++)
      await room.tasks.board.forCall("c").start({ kind: "shell" }, async () => work);
    expect((await inBackground("true")).call).toMatchObject({ refused: true });
  });
});

test("what a command leaves behind is told, listed, and followed to its end", async () => {
  const command = "(until [ -e go ]; do sleep 0.02; done; echo late) & echo now";
  const call = await room.call(bashTool, { command, description: "serve" });
  const [, id = ""] = /still running, as task (b[0-9a-f]{8});/.exec(call.said) ?? [];
  expect(call.said).toMatch(/^now\n\[\d process/);
  expect(room.tasks.state.tasks.get(id)).toMatchObject({
    status: "running",
    data: { origin: "left", description: "serve" },
  });
  room.put("go", "");
  const end = await output(id);
  expect(end.said).toMatch(/status: completed[\s\S]*how is not known[\s\S]*\n\nlate$/);
  expect(room.get(`${id}.output`)).toBe("late\n");
});

describe("a command that is waited for", () => {
  let cwd = "";
  beforeEach(() => {
    cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-moved-")));
  });
  afterEach(() => rmSync(cwd, { recursive: true, force: true }));

  const open = (command: string, ...more: ReturnType<typeof reply>[]): Promise<TestSession> =>
    openTestSession({
      tools: builtInTools(),
      workspace: realWorkspace({ cwd }),
      clock: realClock,
      script: { replies: [reply(toolUse("Bash", { command }, "call_1")), ...more] },
    });

  test("is moved to the background: its call returns at once, and the command goes on", async () => {
    verifies("S2.31");
    const command = "echo begun; until [ -e go ]; do sleep 0.02; done; echo end > end";
    const opened = await open(command, reply("It goes on."), reply("It has ended."));
    const said = opened.say("run it");
    await until(() => opened.all("tool.progress").length > 0);
    const asked = await opened.session.submit({ type: "background" });
    expect(asked).toEqual({ type: "backgrounded", callIds: ["call_1"] });
    await said;
    expect(opened.all("tool.finished")[0]).toMatchObject({
      failed: false,
      content: [
        { text: expect.stringContaining("moved it to the background") },
        { text: "Output so far:\nbegun\n" },
      ],
      data: { backgroundTaskId: expect.stringMatching(/^b[0-9a-f]{8}$/) },
    });
    expect(opened.all("task.changed")).toMatchObject([{ status: "running", data: { origin: "moved" } }]);
    // An interrupt spares it.
    await opened.session.submit({ type: "interrupt" });
    writeFileSync(path.join(cwd, "go"), "");
    await until(() => opened.all("turn.finished").length === 2);
    expect(readFileSync(path.join(cwd, "end"), "utf8")).toBe("end\n");
    expect(opened.all("task.changed").at(-1)).toMatchObject({ status: "completed", data: { exitCode: 0 } });
  });

  test("is not moved when nobody runs, or another call is named", async () => {
    const opened = await open("sleep 0.3", reply("Done."));
    expect(await opened.session.submit({ type: "background" })).toEqual({
      type: "backgrounded",
      callIds: [],
    });
    const said = opened.say("run it");
    await until(() => opened.types().includes("tool.started"));
    expect(await opened.session.submit({ type: "background", callId: "other" })).toMatchObject({
      callIds: [],
    });
    await said;
    expect(opened.all("task.changed")).toEqual([]);
  });

  test("and all that is in the background ends with the session", async () => {
    const opened = await open("sleep 31 & setsid sleep 32 &", reply("Left."));
    await opened.say("run it");
    expect(opened.all("task.changed")).toHaveLength(1);
    await opened.session.close("ended");
    expect(opened.all("task.changed").at(-1)).toMatchObject({ status: "stopped", data: { by: "shutdown" } });
    expect(opened.types().at(-1)).toBe("session.closed");
  });
});

async function until(holds: () => boolean): Promise<void> {
  const endsAt = performance.now() + 8_000;
  while (!holds() && performance.now() < endsAt) await pause(10);
}
