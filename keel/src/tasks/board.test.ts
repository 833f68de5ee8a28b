import { describe, expect, test } from "vitest";
import {
  memoryLog,
  openTestSession,
  type TestSession,
  type TestSessionOptions,
} from "../../../test/support/test-session.ts";
import { anyInput } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { fault } from "../kernel/fault.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { TaskAbout, TaskEnd } from "../ports/tasks.ts";
import type { Tool } from "../ports/tool.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

const ended: TaskEnd = { status: "completed", exitCode: 0, summary: "count: ended with exit code 0" };

/** Work that a test ends by hand. */
function handWork() {
  const { promise: over, resolve: end } = Promise.withResolvers<TaskEnd>();
  const begun: string[] = [];
  return { over, end, begun, output: () => "1 2 3", stop: async () => end({ status: "stopped" }) };
}

type Hand = ReturnType<typeof handWork> & { readonly fails?: string };

/** Starts the work and returns at once. */
const starter = (work: Hand, about: TaskAbout = {}): Tool =>
  defineTool({
    name: "Start",
    description: "Starts work.",
    input: anyInput,
    claims: async () => [],
    traits: { readOnly: true },
    async *run(_, { tasks }) {
      yield { kind: "text", text: "starting" };
      const data = { kind: "shell", origin: "asked", description: "count", ...about } as const;
      const task = await tasks.start(data, async ({ id }) => {
        if (work.fails !== undefined) throw new Error(work.fails);
        work.begun.push(id);
        return work;
      });
      return { content: [text(task.id)], display: { kind: "text", text: task.id } };
    },
  }) as Tool;

async function openWith(work: Hand, more: TestSessionOptions & { about?: TaskAbout } = {}) {
  const { about, ...options } = more;
  const replies = [reply(toolUse("Start", {})), reply("Started."), reply("Heard."), reply("More.")];
  const model = scriptedModel({ replies });
  const opened = await openTestSession({ model, tools: [starter(work, about)], ...options });
  return { ...opened, model };
}

const changes = ({ all }: Pick<TestSession, "all">) =>
  all("task.changed").map(({ status, data }) => [status, data?.by ?? ""]);

describe("a task", () => {
  test("is on record before it begins, and runs on when its turn has ended", async () => {
    verifies("S2.31");
    const work = handWork();
    const opened = await openWith(work);
    await opened.say("count");
    const [start] = opened.all("task.changed");
    expect(start).toMatchObject({
      status: "running",
      data: { description: "count", callId: expect.any(String) },
    });
    expect(start?.taskId).toMatch(/^b[0-9a-f]{8}$/);
    expect(work.begun).toEqual([start?.taskId]);
    expect(opened.session.state.tasks.get(start?.taskId ?? "")).toMatchObject({ status: "running" });
    expect(opened.all("turn.finished")).toHaveLength(1);
  });

  test("that ends comes back as input, starts a turn, and is told in a few structured words", async () => {
    verifies("S4.57");
    const work = handWork();
    const opened = await openWith(work);
    await opened.say("count");
    work.end(ended);
    await work.over;
    await opened.session.run();
    expect(changes(opened)).toEqual([
      ["running", ""],
      ["completed", "itself"],
    ]);
    expect(opened.all("input.accepted").at(-1)).toMatchObject({
      input: { from: { kind: "task" }, when: "now" },
    });
    expect(JSON.stringify(opened.model.requests.at(-1))).toContain("status: completed (exit code 0)");
    expect(opened.all("turn.finished")).toHaveLength(2);
  });

  test("that ends while a turn runs joins it at its next safe boundary", async () => {
    const work = handWork();
    const ending = defineTool({
      name: "Look",
      description: "Meanwhile the work ends.",
      input: anyInput,
      claims: async () => [],
      traits: { readOnly: true },
      async *run() {
        yield { kind: "text", text: "looking" };
        work.end(ended);
        await work.over;
        return { content: [text("seen")], display: { kind: "text", text: "seen" } };
      },
    }) as Tool;
    const replies = [reply(toolUse("Start", {})), reply(toolUse("Look", {})), reply("All done.")];
    const opened = await openTestSession({ script: { replies }, tools: [starter(work), ending] });
    await opened.say("count");
    expect(opened.types().filter((type) => type === "input.joined" || type === "turn.finished")).toEqual([
      "input.joined",
      "turn.finished",
    ]);
  });

  test("that was killed by somebody is not told as a success", async () => {
    verifies("S2.31");
    const work = handWork();
    const opened = await openWith(work);
    await opened.say("count");
    work.end({ status: "failed", exitCode: null, signal: "SIGKILL", summary: "count: killed by SIGKILL" });
    await work.over;
    await opened.session.run();
    expect(JSON.stringify(opened.model.requests.at(-1))).toContain("status: failed (SIGKILL)");
  });

  test("that a command left behind ends without a turn, and is told with the next input", async () => {
    const work = handWork();
    const opened = await openWith(work, { about: { origin: "left" } });
    await opened.say("count");
    work.end(ended);
    await work.over;
    await opened.session.run();
    expect(opened.all("turn.finished")).toHaveLength(1);
    await opened.say("and now?");
    expect(JSON.stringify(opened.model.requests.at(-1))).toContain("A background task has ended.");
    expect(opened.all("turn.started").at(-1)).toMatchObject({ tasks: work.begun });
    await opened.say("once more");
    expect(opened.all("turn.started").at(-1)?.tasks).toBeUndefined();
  });

  test("that cannot be begun has failed, and says so", async () => {
    const opened = await openWith({ ...handWork(), fails: "no shell" });
    await opened.say("count");
    expect(changes(opened).map(([status]) => status)).toEqual(["running", "failed"]);
    expect(opened.all("tool.finished")[0]).toMatchObject({ failed: true });
    await opened.session.run();
    expect(opened.all("turn.finished")).toHaveLength(1);
  });
});

describe("a task is stopped", () => {
  test("by the host, without a turn; the model hears of it with the next input", async () => {
    const work = handWork();
    const opened = await openWith(work);
    await opened.say("count");
    const taskId = work.begun[0] ?? "";
    expect(await opened.session.submit({ type: "stop", taskId })).toEqual({
      type: "stopped",
      taskId,
      found: true,
    });
    expect(changes(opened).at(-1)).toEqual(["stopped", "host"]);
    await opened.session.run();
    expect(opened.all("turn.finished")).toHaveLength(1);
    await opened.say("well?");
    expect(JSON.stringify(opened.model.requests.at(-1))).toContain("status: stopped (by the user)");
    expect(await opened.session.submit({ type: "stop", taskId: "b0" })).toMatchObject({ found: false });
  });

  test("by the end of the session, and whoever goes on with it is told", async () => {
    const work = handWork();
    const log = memoryLog();
    const opened = await openWith(work, { log });
    await opened.say("count");
    await opened.session.close("ended");
    expect(opened.types().slice(-2)).toEqual(["task.changed", "session.closed"]);
    expect(changes(opened).at(-1)).toEqual(["stopped", "shutdown"]);
    const model = scriptedModel({ replies: [reply("I see.")] });
    await (await openTestSession({ log, model })).say("hello again", { id: "second-life" });
    expect(JSON.stringify(model.requests[0])).toContain("status: stopped (when the session ended)");
  });

  test("by nobody when a turn is interrupted", async () => {
    const work = handWork();
    const opened = await openWith(work);
    await opened.say("count");
    await opened.session.submit({ type: "interrupt" });
    expect(opened.session.state.tasks.get(work.begun[0] ?? "")).toMatchObject({ status: "running" });
  });

  test("and one that had ended by itself before the stop reached it was not stopped", async () => {
    const work = handWork();
    const opened = await openWith({ ...work, stop: async () => work.end(ended) });
    await opened.say("count");
    await opened.session.submit({ type: "stop", taskId: work.begun[0] ?? "" });
    expect(changes(opened).at(-1)).toEqual(["completed", "itself"]);
  });
});

describe("no end is lost", () => {
  async function logOfRunning(): Promise<Durable[]> {
    const log = memoryLog();
    const opened = await openWith(handWork(), { log });
    await opened.say("count");
    return [...log.events];
  }

  test("a task of a process that is gone is settled as lost, once, and told", async () => {
    const log = memoryLog({ events: await logOfRunning() });
    const model = scriptedModel({ replies: [reply("Oh.")] });
    const opened = await openTestSession({ log, model });
    expect(log.events.at(-1)).toMatchObject({
      type: "task.changed",
      status: "stopped",
      data: { by: "lost" },
    });
    const length = log.events.length;
    await openTestSession({ log });
    expect(log.events).toHaveLength(length);
    await opened.say("still there?", { id: "second-life" });
    expect(JSON.stringify(model.requests[0])).toContain("lost, since the process that ran it has ended");
  });

  test("an end whose notice was never written, or was dropped, is told with the next input", async () => {
    const events = await logOfRunning();
    const last = events.at(-1);
    const taskId = events.find((event) => event.type === "task.changed")?.taskId ?? "";
    const end = {
      ...last,
      type: "task.changed",
      taskId,
      status: "completed",
      seq: (last?.seq ?? 0) + 1,
    } as Durable;
    const input = { id: "n1", content: [text("notice")], from: { kind: "task", taskId }, when: "now" };
    const told = { ...end, type: "input.accepted", input, seq: end.seq + 1 } as unknown as Durable;
    const dropped = {
      ...end,
      type: "input.dropped",
      inputId: "n1",
      why: "cancelled",
      seq: end.seq + 2,
    } as Durable;
    for (const tail of [[end], [end, told, dropped]]) {
      const model = scriptedModel({ replies: [reply("Ah.")] });
      const opened = await openTestSession({ log: memoryLog({ events: [...events, ...tail] }), model });
      await opened.say("news?", { id: "second-life" });
      expect(JSON.stringify(model.requests[0])).toContain(`task: ${taskId}`);
    }
  });

  test("an end that comes while the log takes nothing is recorded when it does again", async () => {
    const work = handWork();
    const log = memoryLog();
    let isFull = false;
    const opened = await openWith(work, {
      log: {
        ...log,
        get lastSeq() {
          return log.lastSeq;
        },
        append: async (events) => {
          if (isFull) throw fault("log_unwritable", { path: "/log", reason: "full" });
          await log.append(events);
        },
      },
    });
    await opened.say("count");
    isFull = true;
    await expect(opened.say("more")).rejects.toMatchObject({ code: "log_unwritable" });
    work.end(ended);
    await work.over;
    isFull = false;
    await opened.say("again");
    expect(changes(opened)).toEqual([
      ["running", ""],
      ["completed", "itself"],
    ]);
  });
});
