// Seed 002's lifecycle with a team: a leader, three members, result 1, notices, result 2, the end; crashed after every
// event and resumed. Everybody says what its conversation wants next, so that it says the same when it is asked again.
import { describe, expect, test } from "vitest";
import { fold } from "../keel/src/core/fold.ts";
import { emptyState } from "../keel/src/core/state/state.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { type Message, textOf } from "../keel/src/protocol/message.ts";
import { type MemoryStore, memoryStore } from "../keel/src/store/memory/memory.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { crashPoint } from "../keel/src/testing/crash.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";
import { memoryWorkspace } from "../keel/src/testing/memory-workspace.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { openFamily, rootId } from "./agents/family.ts";
import { countOf } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const names = ["ann", "ben", "cleo"] as const;
const member = (name: string) =>
  toolUse(
    "Agent",
    { description: name, prompt: `Work, ${name}.`, subagent_type: "worker", name },
    `new-${name}`,
  );
const update = (id: string, more: object) => toolUse("TaskUpdate", { taskId: "1", ...more }, id);
const tell = (to: string, message: string, id: string) => toolUse("SendMessage", { to, message }, id);

/** What each wants to have called, one after the other. */
const wanted: Readonly<Record<string, readonly (readonly ReturnType<typeof toolUse>[])[]>> = {
  main: [
    [toolUse("TeamCreate", { team_name: "crew" }, "create")],
    [toolUse("TaskCreate", { subject: "Look", description: "" }, "list"), ...names.map(member)],
  ],
  ann: [
    [update("ann-1", { status: "in_progress" })],
    [tell("ben", "To Ben from Ann.", "ann-2")],
    [update("ann-3", { status: "completed" })],
  ],
  ben: [],
  cleo: [[tell("*", "To all from Cleo.", "cleo-1")]],
};

function answerOf({ messages }: ModelRequest): Reply {
  const who = /You are (\w+), a member/.exec(textOf(messages[0]?.content ?? []))?.[1] ?? "main";
  const called = new Set(messages.flatMap(callsOf));
  const next = wanted[who]?.find((calls) => calls.some((call) => !called.has("id" in call ? call.id : "")));
  return next ? reply(...next) : reply(`Report of ${who}.`);
}

const callsOf = ({ content }: Message): (string | undefined)[] =>
  content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));

type World = { store: MemoryStore };

async function live(world: World, { after = Number.POSITIVE_INFINITY, prefix = 0 } = {}): Promise<string> {
  const point = crashPoint({ after });
  const clock = instantClock();
  const play = async (): Promise<void> => {
    const { session, settle, crew } = await openFamily({
      model: point.model(scriptedModel(answerOf, { clock, law: "none" })),
      store: point.store(world.store),
      workspace: point.workspace(memoryWorkspace()),
      clock: point.clock(clock),
      ids: countingIds({ prefix }),
      settings: { permissionMode: "bypassPermissions" },
    });
    await crew.revive();
    const id = "00000000-0000-4000-8000-000000000001";
    await session.submit({ type: "input", id, content: [{ type: "text", text: "Go." }] });
    await settle();
    await session.close("ended");
  };
  const outcome = await point.outcome(play());
  return outcome.crashed ? "crashed" : "lived";
}

async function logsOf({ store }: World): Promise<Map<string, Durable[]>> {
  const ids = [rootId, ...(await store.list({ parent: rootId })).map(({ id }) => id)];
  return new Map(ids.map((id) => [id, store.events(id)]));
}

const inputsOf = (log: readonly Durable[]) =>
  log.flatMap((event) => (event.type === "input.accepted" ? [event.input] : []));
const terminalsOf = (log: readonly Durable[], input: string): number =>
  log.filter((event) =>
    event.type === "turn.finished"
      ? event.inputIds.includes(input)
      : event.type === "input.dropped" && event.inputId === input,
  ).length;
const heard = (log: readonly Durable[], words: string): number =>
  inputsOf(log).filter(({ content }) => textOf(content).includes(words)).length;

function expectWhole(logs: Map<string, Durable[]>): void {
  const byName = new Map<string, Durable[]>();
  for (const [id, log] of logs) {
    expect(
      log.map(({ seq }) => seq),
      id,
    ).toEqual(log.map((_, index) => index + 1));
    for (const input of inputsOf(log)) expect(terminalsOf(log, input.id), `${id} ${input.id}`).toBe(1);
    const state = log.reduce(fold, emptyState);
    expect(state.turn, id).toBeNull();
    expect(state.pending, id).toEqual([]);
    expect([...state.tasks.values()].filter(({ status }) => status === "running")).toEqual([]);
    const [first] = inputsOf(log);
    byName.set(/You are (\w+), a member/.exec(textOf(first?.content ?? []))?.[1] ?? "main", log);
  }
  // Nobody has failed: who was at work goes on, and whom the words had not reached that woke them rests until they do.
  const ends = [...logs.values()]
    .flat()
    .flatMap((event) => (event.type === "task.changed" && event.status !== "running" ? [event.status] : []));
  expect(new Set(ends)).toEqual(new Set(["completed"]));
  // One life for each call, and everybody is there.
  expect(logs.size).toBe(4);
  const [main = [], ann = [], ben = [], cleo = []] = ["main", ...names].map((name) => byName.get(name));
  // Each message is read once by each for whom it is, by nobody else.
  expect([main, ann, ben, cleo].map((log) => heard(log, "To Ben from Ann."))).toEqual([0, 0, 1, 0]);
  expect([main, ann, ben, cleo].map((log) => heard(log, "To all from Cleo."))).toEqual([1, 1, 1, 0]);
  const state = main.reduce(fold, emptyState);
  expect(state.worklist.todos).toMatchObject([{ id: "1", owner: "ann", status: "completed" }]);
  // One claims, nobody else ever has it.
  const owners = main.flatMap((event) => (event.type === "team.changed" && event.todos?.[0]?.owner) || []);
  expect(new Set(owners)).toEqual(new Set(["ann"]));
  for (const name of names)
    expect(JSON.stringify(state.history.slice()), name).toContain(`Report of ${name}.`);
}

describe("a crash after any event of a team", async () => {
  const whole: World = { store: memoryStore() };
  await live(whole);
  const logs = await logsOf(whole);
  const events = [...logs.values()].flat().length;
  const count = countOf("team-crashes");
  const points = Array.from(
    { length: Math.min(count, events) },
    (_, index) => Math.floor((index * events) / Math.min(count, events)) + 1,
  );

  test("the lifecycle without a crash: result 1 comes first, more follow, and nobody is killed", () => {
    verifies("S2.34", "S2.35", "S4.57");
    expectWhole(logs);
    const root = logs.get(rootId) ?? [];
    const first = root.findIndex(({ type }) => type === "turn.finished");
    const ends = root.flatMap((event, index) =>
      event.type === "task.changed" && event.status !== "running" ? [index] : [],
    );
    expect(ends.length).toBeGreaterThanOrEqual(3);
    expect(first).toBeLessThan(Math.max(...ends));
    expect(root.filter(({ type }) => type === "turn.finished").length).toBeGreaterThan(1);
    expect(root.filter((event) => event.type === "task.changed" && event.status === "stopped")).toEqual([]);
  });

  test.each(points)(
    "after event %i: each goes on, no message is lost or read twice, no task has two owners",
    async (cut) => {
      verifies("S2.34", "G1", "G3");
      const world: World = { store: memoryStore() };
      expect(await live(world, { after: cut })).toBe("crashed");
      world.store = world.store.restart();
      expect(await live(world, { prefix: 1 })).toBe("lived");
      expectWhole(await logsOf(world));
    },
  );
});
