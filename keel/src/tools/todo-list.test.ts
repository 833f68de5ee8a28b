import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession, type TestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Json } from "../kernel/json.ts";
import type { Tool } from "../ports/tool.ts";
import { reply, toolUse } from "../testing/reply.ts";
import {
  maxTodos,
  taskCreateTool,
  taskGetTool,
  taskListTool,
  taskUpdateTool,
  todoWriteTool,
} from "./todo-list.ts";

const tools: Tool[] = [taskCreateTool, taskGetTool, taskListTool, taskUpdateTool, todoWriteTool];

type Use = readonly [tool: string, input: Json];

/** One call a reply, in a session of its own. */
async function run(...uses: readonly Use[]): Promise<TestSession> {
  const session = await openTestSession({
    tools,
    script: { replies: [...uses.map(([name, input]) => reply(toolUse(name, input))), reply("done")] },
  });
  await session.say("go");
  return session;
}
const results = ({ all }: TestSession) => all("tool.finished");
const said = (session: TestSession, index: number): string => {
  const part = results(session).at(index)?.content[0];
  return part?.type === "text" ? part.text : "";
};
const create = (subject: string): Use => ["TaskCreate", { subject, description: `${subject} in full` }];

describe("the task list", () => {
  test("is made, changed and read by its four tools, without a question", async () => {
    verifies("S4.13");
    const session = await run(
      ["TaskCreate", { subject: "Do A", description: "A in full", activeForm: "Doing A" }],
      ["TaskUpdate", { taskId: "1", status: "in_progress" }],
      ["TaskList", {}],
      ["TaskGet", { taskId: "1" }],
    );
    expect(session.all("ask.opened")).toEqual([]);
    expect(results(session).map(({ data }) => data)).toEqual([
      { task: { id: "1", subject: "Do A", description: "A in full" } },
      {
        success: true,
        taskId: "1",
        updatedFields: ["status"],
        statusChange: { from: "pending", to: "in_progress" },
      },
      { tasks: [{ id: "1", subject: "Do A", status: "in_progress", blockedBy: [] }] },
      {
        task: {
          id: "1",
          subject: "Do A",
          description: "A in full",
          status: "in_progress",
          blocks: [],
          blockedBy: [],
          activeForm: "Doing A",
        },
      },
    ]);
    expect(said(session, 0)).toContain("Do A");
    expect(said(session, 2)).toBe("#1 [in_progress] Do A");
    expect(said(session, 3)).toContain("A in full");
  });

  test("shows a screen what is being done at the moment", async () => {
    const session = await run(
      ["TaskCreate", { subject: "Do A", description: "", activeForm: "Doing A" }],
      ["TaskUpdate", { taskId: "1", status: "in_progress" }],
    );
    expect(results(session)[1]?.display).toEqual({
      kind: "todo",
      items: [{ id: "1", text: "Doing A", status: "in_progress" }],
    });
  });

  test("numbers tasks for good: what was deleted does not come back under its number", async () => {
    const session = await run(
      create("a"),
      create("b"),
      ["TaskUpdate", { taskId: "2", status: "deleted" }],
      create("c"),
    );
    expect(session.session.state.worklist.todos.map(({ id, text }) => `${id} ${text}`)).toEqual([
      "1 a",
      "3 c",
    ]);
    expect(results(session)[2]?.data).toMatchObject({ statusChange: { from: "pending", to: "deleted" } });
  });

  test("knows what waits for what, from both sides, and forgets it with the task", async () => {
    const session = await run(
      create("a"),
      create("b"),
      create("c"),
      ["TaskUpdate", { taskId: "2", addBlockedBy: ["1"], addBlocks: ["3"] }],
      ["TaskList", {}],
      ["TaskGet", { taskId: "2" }],
      ["TaskUpdate", { taskId: "2", status: "deleted" }],
      ["TaskList", {}],
    );
    expect(said(session, 4)).toBe("#1 [pending] a\n#2 [pending] b (after #1)\n#3 [pending] c (after #2)");
    expect(results(session)[5]?.data).toMatchObject({ task: { blocks: ["3"], blockedBy: ["1"] } });
    expect(said(session, 7)).toBe("#1 [pending] a\n#3 [pending] c");
  });

  test("keeps words, owner and other values; null takes one away", async () => {
    const session = await run(
      ["TaskCreate", { subject: "a", description: "", metadata: { x: 1, y: [2] } }],
      [
        "TaskUpdate",
        {
          taskId: "1",
          subject: "b",
          description: "d",
          activeForm: "f",
          owner: "ada",
          metadata: { x: null, z: 3 },
        },
      ],
      ["TaskGet", { taskId: "1" }],
    );
    expect(results(session)[2]?.data).toEqual({
      task: {
        id: "1",
        subject: "b",
        description: "d",
        status: "pending",
        blocks: [],
        blockedBy: [],
        activeForm: "f",
        owner: "ada",
        metadata: { y: [2], z: 3 },
      },
    });
    expect(results(session)[1]?.data).not.toHaveProperty("statusChange");
  });

  test.each<[string, readonly Use[], string]>([
    [
      "a task that is not there",
      [create("a"), ["TaskUpdate", { taskId: "9", status: "completed" }]],
      "There is no task 9. There are: 1.",
    ],
    ["an empty list", [["TaskUpdate", { taskId: "1" }]], "There is no task 1: the list is empty."],
    [
      "a link to nothing",
      [create("a"), ["TaskUpdate", { taskId: "1", addBlocks: ["4"] }]],
      "There is no task 4.",
    ],
    [
      "a task that waits for itself",
      [create("a"), ["TaskUpdate", { taskId: "1", addBlockedBy: ["1"] }]],
      "would have to wait for itself",
    ],
    [
      "a circle",
      [
        create("a"),
        create("b"),
        ["TaskUpdate", { taskId: "1", addBlockedBy: ["2"] }],
        ["TaskUpdate", { taskId: "2", addBlockedBy: ["1"] }],
      ],
      "would have to wait for itself",
    ],
  ])("says what is wrong with %s, and stays as it was", async (_, uses, words) => {
    const session = await run(...uses);
    const last = results(session).at(-1);
    expect(last).toMatchObject({ failed: true, invalid: true });
    expect(last).not.toHaveProperty("todos");
    expect(said(session, -1)).toContain(words);
  });

  test("asked for a task that is not there, says so without failing", async () => {
    const session = await run(["TaskGet", { taskId: "5" }]);
    expect(results(session)[0]).toMatchObject({ failed: false, data: { task: null } });
  });

  test("has a most", async () => {
    const full = Array.from({ length: maxTodos + 1 }, (_, index) => create(`t${index}`));
    const session = await run(...full);
    expect(session.session.state.worklist.todos).toHaveLength(maxTodos);
    expect(said(session, -1)).toContain("which is the most");
  });

  test("is right when several calls of one reply change it", async () => {
    const uses = ["a", "b", "c"].map((subject) => toolUse("TaskCreate", { subject, description: "" }));
    const session = await openTestSession({ tools, script: { replies: [reply(...uses), reply("done")] } });
    await session.say("go");
    expect(session.session.state.worklist.todos.map(({ id, text }) => `${id}${text}`)).toEqual([
      "1a",
      "2b",
      "3c",
    ]);
  });
});

describe("TodoWrite", () => {
  const todos = [
    { content: "Do A", status: "in_progress", activeForm: "Doing A" },
    { content: "Do B", status: "pending", activeForm: "Doing B" },
  ];

  test("writes the list anew and tells the former one", async () => {
    const session = await run(["TodoWrite", { todos }], ["TodoWrite", { todos: todos.slice(0, 1) }]);
    expect(results(session).map(({ data }) => data)).toEqual([
      { oldTodos: [], newTodos: todos },
      { oldTodos: todos, newTodos: todos.slice(0, 1) },
    ]);
    expect(session.session.state.worklist.todos).toMatchObject([{ id: "1", text: "Do A" }]);
  });

  test("knows what the task tools wrote, and the other way round", async () => {
    const session = await run(create("a"), ["TodoWrite", { todos }], ["TaskList", {}]);
    expect(results(session)[1]?.data).toMatchObject({
      oldTodos: [{ content: "a", status: "pending", activeForm: "a" }],
    });
    expect(said(session, 2)).toBe("#1 [in_progress] Do A\n#2 [pending] Do B");
  });

  test("refuses an unknown status in words that name it", async () => {
    const session = await run(["TodoWrite", { todos: [{ content: "a", status: "done", activeForm: "a" }] }]);
    expect(results(session)[0]).toMatchObject({ failed: true, invalid: true });
    expect(said(session, 0)).toContain("todos.0.status");
  });
});

test("a change whose outcome was lost in a crash is made once", async () => {
  const whole = memoryLog();
  const first = await openTestSession({
    tools,
    log: whole,
    script: { replies: [reply(toolUse("TaskCreate", { subject: "a", description: "" })), reply("done")] },
  });
  await first.say("go");
  const started = whole.events.findIndex(({ type }) => type === "tool.started");
  const second = await openTestSession({
    tools,
    log: memoryLog({ events: whole.events.slice(0, started + 1) }),
    script: { replies: [reply("done")] },
  });
  await second.session.run();
  expect(second.session.state.worklist.todos).toMatchObject([{ id: "1", text: "a" }]);
});
