// What becomes of agents at odd moments: a stop before they begin, a log that fails, a crash while they go on. Each of
// these was found by the simulation.
import { describe, expect, test } from "vitest";
import { fold } from "../keel/src/core/fold.ts";
import { emptyState } from "../keel/src/core/state/state.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { text, textOf } from "../keel/src/protocol/message.ts";
import { contextTokens } from "../keel/src/protocol/usage.ts";
import { type MemoryStore, memoryStore } from "../keel/src/store/memory/memory.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { openFamily, rootId } from "./agents/family.ts";
import { faultyStore, type Wrongs } from "./agents/faulty-store.ts";
import { verifies } from "./support/verifies.ts";

const isWorker = ({ system }: ModelRequest): boolean => system.join().includes("You are a worker");
const hasResult = ({ messages }: ModelRequest): boolean =>
  (messages.at(-1)?.content ?? []).some(({ type }) => type === "tool_result");
const agent = (more: Record<string, boolean> = {}) =>
  toolUse("Agent", {
    description: "a part",
    prompt: "Do it.",
    subagent_type: "worker",
    run_in_background: false,
    ...more,
  });
/** The session gives one piece of work away for each input; the agent says the same each time. */
const model = (below: (request: ModelRequest) => Reply = () => reply("Reported.")) =>
  scriptedModel(
    (request) =>
      isWorker(request) ? below(request) : hasResult(request) ? reply("Understood.") : reply(agent()),
    { law: "none" },
  );

const childOf = async (store: MemoryStore): Promise<string> =>
  (await store.list({ parent: rootId }))[0]?.id ?? "none";
const stateOf = (store: MemoryStore, id: string) => store.events(id).reduce(fold, emptyState);
const tokensOf = (events: readonly Durable[]): number =>
  events.reduce(
    (sum, event) =>
      sum + ("requestId" in event && "usage" in event && event.usage ? contextTokens(event.usage) : 0),
    0,
  );

/** Every input of every level has exactly one end, nothing runs, and the bill says what was used. */
async function expectSettled(store: MemoryStore): Promise<void> {
  const child = await childOf(store);
  for (const id of [rootId, child]) {
    const log = store.events(id);
    const inputs = log.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []));
    for (const input of inputs) expect(endsOf(log, input), `${id} ${input}`).toBe(1);
    const { turn, tasks } = stateOf(store, id);
    expect(turn).toBeNull();
    expect([...tasks.values()].filter(({ status, data }) => status === "running" || data.unsettled)).toEqual(
      [],
    );
  }
}

const endsOf = (log: readonly Durable[], input: string): number =>
  log.filter((event) =>
    event.type === "turn.finished"
      ? event.inputIds.includes(input)
      : event.type === "input.dropped" && event.inputId === input,
  ).length;

/** Opens the same logs in another process and lets everything come to its end. */
async function openAgain(store: MemoryStore, wrongs: Wrongs = {}) {
  const restarted = store.restart();
  const family = await openFamily({
    model: model(),
    store: faultyStore(restarted, wrongs),
    ids: countingIds({ prefix: 7 }),
  });
  await family.settle();
  return { ...family, store: restarted };
}

describe("an agent at an odd moment", () => {
  test("whose first turn cannot be written leaves no input without an end", async () => {
    verifies("G18");
    const store = memoryStore();
    const wrongs: Wrongs = {};
    const family = await openFamily({ model: model(), store: faultyStore(store, wrongs) });
    wrongs.append = (id, events) => id !== rootId && events.some(({ type }) => type === "turn.started");
    await family.say("go");
    await family.settle();
    const again = await openAgain(store);
    await expectSettled(again.store);
  });

  test("that is closed drops what waits: nobody would come back to it", async () => {
    const store = memoryStore();
    const gate = Promise.withResolvers<void>();
    const wrongs: Wrongs = {};
    const family = await openFamily({ model: model(), store: faultyStore(store, wrongs) });
    wrongs.hold = (id, events) =>
      id !== rootId && events.some(({ type }) => type === "input.accepted") ? gate.promise : undefined;
    const asked = family.say("go");
    await untilTrue(async () => (await childOf(store)) !== "none");
    const stopped = family.session.close("stopped");
    gate.resolve();
    await Promise.all([asked, stopped]);
    const log = store.events(await childOf(store));
    for (const event of log) if (event.type === "input.accepted") expect(endsOf(log, event.input.id)).toBe(1);
    expect(log.at(-1)?.type).toBe("session.closed");
  });
});

describe("an agent whose log fails", () => {
  test("is a failure above at once, and comes to its end in its own log with the next opening", async () => {
    verifies("G18", "G8");
    const store = memoryStore();
    const wrongs: Wrongs = {
      append: (id, events) => id !== rootId && events.some(({ type }) => type === "model.finished"),
    };
    const family = await openFamily({ model: model(), store: faultyStore(store, wrongs) });
    await family.say("go");
    await family.settle();
    expect(family.own("task.changed").at(-1)).toMatchObject({ status: "failed", data: { unsettled: true } });
    expect(family.own("turn.finished")).toMatchObject([{ reason: "completed" }]);

    const again = await openAgain(store);
    await expectSettled(again.store);
    // What was told is not told again.
    expect(again.own("turn.started")).toEqual([]);
  });

  test("when it is looked for after a crash does not lose what it reported", async () => {
    verifies("G3", "G18");
    const store = memoryStore();
    const wrongs: Wrongs = {
      // The process ends before the session above has its end on record.
      append: (id, events) =>
        id === rootId &&
        events.some((event) => event.type === "task.changed" && event.status === "completed"),
    };
    const family = await openFamily({ model: model(), store: faultyStore(store, wrongs) });
    await family.say("go");
    const child = await childOf(store);

    const blind = await openAgain(store, { read: (id) => id === child });
    expect(stateOf(blind.store, rootId).tasks.values().next().value).toMatchObject({
      status: "stopped",
      data: { unsettled: true },
    });
    const again = await openAgain(blind.store);
    const [task] = [...stateOf(again.store, rootId).tasks.values()];
    expect(task).toMatchObject({ status: "completed", data: { report: "Reported.", unsettled: false } });
    expect(task?.isTold).toBe(false);
    await expectSettled(again.store);
    const used = [rootId, child].reduce((sum, id) => sum + tokensOf(again.store.events(id)), 0);
    expect(contextTokens(stateOf(again.store, rootId).bill.usage)).toBe(used);
  });

  test("or that never had one is lost, and that is that", async () => {
    const store = memoryStore();
    const family = await openFamily({ model: model(), store: faultyStore(store, {}) });
    await family.say("go");
    const child = await childOf(store);
    const cut = store.events(rootId).findIndex(({ type }) => type === "task.changed") + 1;
    const other = memoryStore();
    const log = await other.create(rootId, { cwd: "/project" });
    await log.append(store.events(rootId).slice(0, cut));
    await log.close();
    const again = await openAgain(other);
    expect(again.store.events(rootId).some(({ type }) => type === "turn.finished")).toBe(true);
    const [task] = [...stateOf(again.store, rootId).tasks.values()];
    expect(task).toMatchObject({ status: "stopped", data: { session: child, by: "lost" } });
    expect(task?.data.unsettled).toBeUndefined();
  });
});

describe("an agent that goes on", () => {
  const talking = () =>
    scriptedModel(
      (request) => {
        if (isWorker(request)) return reply("Reported.");
        const id = /\ba[0-9a-f]{16}\b/.exec(JSON.stringify(request.messages))?.[0];
        const words = textOf(request.messages.at(-1)?.content ?? []);
        if (words.includes("more")) return reply(toolUse("SendMessage", { to: id ?? "", message: "More." }));
        return hasResult(request) || words.includes("task-notice") ? reply("Understood.") : reply(agent());
      },
      { law: "none" },
    );

  test("and cannot be opened has ended as before, and is paid for once", async () => {
    verifies("G18");
    const store = memoryStore();
    const wrongs: Wrongs = {};
    const family = await openFamily({ model: talking(), store: faultyStore(store, wrongs) });
    await family.say("go");
    const child = await childOf(store);
    wrongs.read = (id) => id === child;
    await family.say("more");
    await family.settle();
    expect(family.own("tool.finished").at(-1)).toMatchObject({ tool: "SendMessage", failed: true });
    const [task] = [...stateOf(store, rootId).tasks.values()];
    expect(task).toMatchObject({ status: "completed", data: { report: "Reported." } });
    const used = [rootId, child].reduce((sum, id) => sum + tokensOf(store.events(id)), 0);
    expect(contextTokens(family.session.state.bill.usage)).toBe(used);
  });

  test("and whose log cannot take the words was told nothing, and whoever said them hears so", async () => {
    verifies("G3");
    const store = memoryStore();
    const wrongs: Wrongs = {};
    const family = await openFamily({ model: talking(), store: faultyStore(store, wrongs) });
    await family.say("go");
    const child = await childOf(store);
    const length = store.events(child).length;
    wrongs.append = (id) => id === child;
    await family.say("more");
    await family.settle();
    expect(store.events(child)).toHaveLength(length);
    const [sent] = family.own("tool.finished").filter(({ tool }) => tool === "SendMessage");
    expect(sent?.failed).toBe(true);
    expect(textOf(sent?.content ?? [])).toContain("could not be told");
  });

  test("and whose process ends before it heard the words is told them once by the call, which runs again, and is paid for once", async () => {
    verifies("G3");
    const store = memoryStore();
    const wrongs: Wrongs = {};
    const family = await openFamily({ model: talking(), store: faultyStore(store, wrongs) });
    await family.say("go");
    const child = await childOf(store);
    const length = store.events(child).length;
    await family.say("more");
    // As a crash leaves it that came when the session above had it on record, and nobody else.
    const other = memoryStore();
    const going = store
      .events(rootId)
      .findLastIndex((event) => event.type === "task.changed" && event.status === "running");
    for (const [id, events, parent] of [
      [rootId, store.events(rootId).slice(0, going + 1), undefined],
      [child, store.events(child).slice(0, length), rootId],
    ] as const) {
      const log = await other.create(id, { cwd: "/project", ...(parent ? { parent } : {}) });
      await log.append(events);
      await log.close();
    }
    const again = await openAgain(other);
    const [task] = [...stateOf(again.store, rootId).tasks.values()];
    expect(task).toMatchObject({ status: "completed", data: { by: "itself" } });
    const told = again.store
      .events(child)
      .filter((event) => event.type === "input.accepted" && textOf(event.input.content) === "More.");
    expect(told).toHaveLength(1);
    // Its end is news now, and what this session then does is on the bill as well.
    const all = [rootId, ...(await again.store.list({ parent: rootId })).map(({ id }) => id)];
    const used = all.reduce((sum, id) => sum + tokensOf(again.store.events(id)), 0);
    expect(contextTokens(stateOf(again.store, rootId).bill.usage)).toBe(used);
  });
});

test("an agent that comes to life when its session has closed ends at once, and nothing calls it running", async () => {
  verifies("G9", "G18");
  const store = memoryStore();
  const gate = Promise.withResolvers<void>();
  const wrongs: Wrongs = {};
  const family = await openFamily({ model: model(), store: faultyStore(store, wrongs) });
  wrongs.hold = (id, events) =>
    id === rootId && events.some(({ type }) => type === "task.changed") ? gate.promise : undefined;
  void family.session.submit({ type: "input", content: [text("go")] });
  await untilTrue(async () => family.session.state.tasks.size > 0);
  const closed = family.session.close("stopped");
  await new Promise((resolve) => setTimeout(resolve, 20));
  gate.resolve();
  await closed;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(store.events(rootId).at(-1)?.type).toBe("session.closed");
  const [task] = [...stateOf(store, rootId).tasks.values()];
  expect(task).toMatchObject({ status: "stopped" });
  const again = await openAgain(store);
  for (const one of stateOf(again.store, rootId).tasks.values()) expect(one.data.unsettled).not.toBe(true);
});

test("an agent whose files cannot be looked at any more is not waited for for ever", async () => {
  verifies("G18");
  const clock = instantClock();
  const never = new Promise<never>(() => undefined);
  const writing = model((request) =>
    hasResult(request)
      ? reply("Reported.")
      : reply(toolUse("Write", { file_path: "/project/a", content: "x" })),
  );
  const family = await openFamily({
    model: writing,
    clock,
    checkpoints: {
      backUp: async (path) => ({ path, blob: null }),
      prepare: async () => undefined,
      changes: async () => [],
      stamp: () => never,
      preview: async () => [],
      restore: async () => undefined,
      close: async () => undefined,
    },
  });
  await family.say("go");
  await family.settle();
  expect(family.below("turn.finished")).toMatchObject([{ reason: "completed" }]);
  expect(family.below("notice.raised")).toMatchObject([{ code: "checkpoint_late" }]);
});

async function untilTrue(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
