import { describe, expect, test } from "vitest";
import { parseRule } from "../keel/src/policy/rules.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import { textOf } from "../keel/src/protocol/message.ts";
import { memoryStore } from "../keel/src/store/memory/memory.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { openFamily, rootId, worker } from "./agents/family.ts";
import { verifies } from "./support/verifies.ts";

const isWorker = ({ system }: ModelRequest): boolean => system.join().includes("You are a worker");
const newest = ({ messages }: ModelRequest): string => textOf(messages.at(-1)?.content ?? []);
const lastCall = ({ messages }: ModelRequest): string | undefined =>
  (messages.at(-1)?.content ?? []).findLast((block) => block.type === "tool_result")?.callId;
const agent = (id: string, more: Record<string, string | boolean> = {}) =>
  toolUse(
    "Agent",
    {
      ...{ description: `work ${id}`, prompt: `do ${id}`, subagent_type: "worker", run_in_background: false },
      ...more,
    },
    id,
  );
/** The main conversation by its newest words or result, an agent by its own. */
const model = (
  main: (request: ModelRequest) => Reply,
  below: (request: ModelRequest) => Reply = () => reply("Done below."),
) => scriptedModel((request) => (isWorker(request) ? below(request) : main(request)));

describe("an agent that is waited for", () => {
  test("is a session whose log names its parent call, and its report is the call's result", async () => {
    verifies("S2.30", "S4.55", "S0.62", "S0.63");
    const store = memoryStore();
    const asked = model((request) => (lastCall(request) ? reply("All done.") : reply(agent("c1"))));
    const { say, session, own, below } = await openFamily({ store, model: asked });

    await say("go");

    expect(own("tool.finished")).toMatchObject([
      { callId: "c1", failed: false, data: { status: "completed" } },
    ]);
    expect(textOf(own("tool.finished")[0]?.content ?? [])).toContain("Done below.");
    const [info] = await store.list({ parent: rootId });
    expect(info?.parent).toEqual({ session: rootId, callId: "c1" });
    expect(below("turn.finished")).toMatchObject([
      { reason: "completed", origin: { parentCallId: "c1", kind: "worker", depth: 1 } },
    ]);
    expect(own("task.changed").map(({ status }) => status)).toEqual(["running", "completed"]);
    // What it cost is on the bill of the session, not on that of the turn.
    const [turn] = own("turn.finished");
    expect(session.state.bill.costUsd).toBeGreaterThan(turn?.costUsd ?? 0);
  });

  test("goes to the background when it is sent there, and its end comes back as input", async () => {
    verifies("S2.33", "S4.57", "P35");
    const gate = Promise.withResolvers<void>();
    const asked = model(
      (request) =>
        newest(request).includes("<task-notice>")
          ? reply("Heard of it.")
          : lastCall(request)
            ? reply("Going on.")
            : reply(agent("c1")),
      () => reply("Late news."),
    );
    const slow = {
      ...asked,
      stream: (request: ModelRequest, signal: AbortSignal) => held(asked, request, signal, gate),
    };
    const { session, own, settle } = await openFamily({ model: slow });

    await session.submit({ type: "input", content: [{ type: "text", text: "go" }] });
    await until(() => own("task.changed").length > 0);
    await until(async () => {
      const receipt = await session.submit({ type: "background" });
      return receipt.type === "backgrounded" && receipt.callIds.length > 0;
    });
    await session.run();
    expect(own("tool.finished")).toMatchObject([{ data: { status: "async_launched" } }]);
    gate.resolve();
    await settle();

    expect(own("task.changed").map(({ data }) => data?.origin)).toEqual(["waited", "moved", "moved"]);
    const notice = own("input.accepted").at(-1)?.input;
    expect(notice?.from).toMatchObject({ kind: "task" });
    expect(textOf(notice?.content ?? [])).toContain("Late news.");
    expect(own("turn.finished").map(({ reason }) => reason)).toEqual(["completed", "completed"]);
  });

  test("ends with its turn when the person interrupts", async () => {
    const gate = Promise.withResolvers<void>();
    const asked = model(() => reply(agent("c1")));
    const slow = {
      ...asked,
      stream: (request: ModelRequest, signal: AbortSignal) => held(asked, request, signal, gate),
    };
    const { session, own, below } = await openFamily({ model: slow });
    await session.submit({ type: "input", content: [{ type: "text", text: "go" }] });
    await until(() => below("model.started").length > 0);
    await session.submit({ type: "interrupt" });
    await session.run();
    expect(own("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
    expect(below("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
    expect(below("session.closed")).toHaveLength(1);
    expect(own("task.changed").at(-1)).toMatchObject({ status: "stopped" });
  });
});

describe("an agent in the background", () => {
  const asked = () =>
    model((request) =>
      newest(request).includes("<task-notice>")
        ? reply("Heard of it.")
        : lastCall(request)
          ? reply("Meanwhile.")
          : reply(agent("c1", { run_in_background: true })),
    );

  test("works while the turn ends; its report comes as input and starts a turn", async () => {
    verifies("S2.32", "S2.19", "S4.57");
    const { say, settle, own } = await openFamily({ model: asked() });
    await say("go");
    await settle();
    expect(own("tool.finished")).toMatchObject([{ data: { status: "async_launched" } }]);
    expect(own("turn.finished")).toHaveLength(2);
    expect(textOf(own("input.accepted").at(-1)?.input.content ?? [])).toContain("Done below.");
  });

  test("ends when its parent ends, with its own terminal events", async () => {
    const gate = Promise.withResolvers<void>();
    const real = asked();
    const slow = {
      ...real,
      stream: (request: ModelRequest, signal: AbortSignal) => held(real, request, signal, gate),
    };
    const store = memoryStore();
    const { say, session, own, below } = await openFamily({ model: slow, store });
    await say("go");
    await until(() => below("model.started").length > 0);
    await session.close("ended");
    const [info] = await store.list({ parent: rootId });
    const log = store.events(info?.id ?? "");
    expect(log.at(-1)?.type).toBe("session.closed");
    expect(log.filter(({ type }) => type === "turn.finished")).toHaveLength(1);
    expect(own("task.changed").at(-1)).toMatchObject({ status: "stopped", data: { by: "shutdown" } });
  });

  test("goes on with what it knew when it is told something later", async () => {
    verifies("S4.56");
    const told = scriptedModel((request) => {
      if (isWorker(request))
        return newest(request).includes("and now") ? reply("Did more.") : reply("Done below.");
      if (newest(request).includes("Did more.")) return reply("Good.");
      if (newest(request).includes("Done below."))
        return reply(toolUse("SendMessage", { to: "bob", message: "and now the rest" }, "m1"));
      return lastCall(request)
        ? reply("Meanwhile.")
        : reply(agent("c1", { run_in_background: true, name: "bob" }));
    });
    const store = memoryStore();
    const { say, settle, own, below, session } = await openFamily({ model: told, store });
    await say("go");
    await settle();
    expect(textOf(own("input.accepted").at(-1)?.input.content ?? [])).toContain("Did more.");
    expect(await store.list({ parent: rootId })).toHaveLength(1);
    // Each life is billed once.
    const all = [...own("model.finished"), ...below("model.finished")];
    const written = all.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
    expect(all).toHaveLength(told.requests.length);
    expect(session.state.bill.usage.outputTokens).toBe(written);
    expect(Object.values(session.state.bill.models)[0]?.usage.outputTokens).toBe(written);
  });
});

describe("the rights of an agent", () => {
  test("a rule that denies above denies below, and the parent's mode bounds its own", async () => {
    verifies("G46");
    const deny = [parseRule("Write(//project/secret.txt)") ?? []].flat();
    const asked = model(
      (request) => (lastCall(request) ? reply("ok") : reply(agent("c1"))),
      (request) =>
        lastCall(request)
          ? reply("tried")
          : reply(toolUse("Write", { file_path: "/project/secret.txt", content: "x" }, "w1")),
    );
    const { say, below } = await openFamily({
      model: asked,
      rules: { allow: [], ask: [], deny },
      definitions: [{ ...worker, permissionMode: "bypassPermissions" }],
    });
    await say("go");
    expect(below("tool.finished")).toMatchObject([{ callId: "w1", failed: true, denied: { by: "rule" } }]);
  });

  test("what it must ask reaches the parent's host with its origin; what is allowed for the session holds for all", async () => {
    const asked = model(
      (request) =>
        lastCall(request) === "c2" ? reply("ok") : reply(agent(lastCall(request) === "c1" ? "c2" : "c1")),
      (request) =>
        lastCall(request)
          ? reply("written")
          : reply(toolUse("Write", { file_path: `/project/${newest(request).slice(3)}.txt`, content: "x" })),
    );
    const { say, below, own } = await openFamily({
      model: asked,
      definitions: [{ ...worker, permissionMode: "bypassPermissions" }],
      answer: () => ({ verdict: "allow", rules: ["Write"] }),
    });
    await say("go");
    expect(below("ask.opened")).toMatchObject([
      { ask: { tool: "Write", origin: { kind: "worker", parentCallId: "c1" } } },
    ]);
    expect(below("tool.finished").map(({ failed }) => failed)).toEqual([false, false]);
    expect(own("settings.changed").at(-1)?.patch.permissions).toMatchObject([{ rules: ["Write"] }]);
  });

  test("it has the tools of its kind and no others", async () => {
    const asked = model((request) => (lastCall(request) ? reply("ok") : reply(agent("c1"))));
    const { say } = await openFamily({ model: asked, definitions: [{ ...worker, tools: ["Read", "Grep"] }] });
    await say("go");
    const below = asked.requests.find(isWorker);
    expect(below?.tools.map(({ name }) => name)).toEqual(["Grep", "Read"]);
  });
});

describe("how many agents there may be", () => {
  const nested = () =>
    scriptedModel((request) => {
      const depth = isWorker(request)
        ? Number(/do c(\d)/.exec(textOf(request.messages[0]?.content ?? []))?.[1])
        : 0;
      return lastCall(request) ? reply(`back at ${depth}`) : reply(agent(`c${depth + 1}`));
    });

  test("agents start agents, but not deeper than the limit", async () => {
    const asked = nested();
    const { say, below } = await openFamily({ model: asked, agentLimits: { maxDepth: 2 } });
    await say("go");
    const depths = below("turn.started").map(({ origin }) => origin?.depth);
    expect(depths).toEqual([1, 2]);
    // The deepest has no tool for it.
    expect(below("tool.finished").filter(({ origin }) => origin?.depth === 2)).toMatchObject([
      { failed: true, invalid: true },
    ]);
  });

  test("a large fan-out is asked about once, and nothing more starts when the answer is no", async () => {
    const many = Array.from({ length: 5 }, (_, index) => agent(`c${index}`));
    const asked = model((request) => (lastCall(request) ? reply("ok") : reply(...many)));
    const refuse = await openFamily({
      model: asked,
      agentLimits: { maxUnasked: 3 },
      answer: () => ({ verdict: "deny" }),
    });
    await refuse.say("go");
    expect(refuse.own("ask.opened")).toHaveLength(1);
    expect(refuse.below("turn.started")).toHaveLength(3);
    expect(refuse.own("tool.finished").filter(({ failed }) => failed)).toHaveLength(2);
  });
});

test("hooks hear of an agent's start and stop, and of its calls with its kind", async () => {
  verifies("S0.44");
  const heard: string[] = [];
  const asked = model(
    (request) => (lastCall(request) ? reply("ok") : reply(agent("c1"))),
    (request) => (lastCall(request) ? reply("seen") : reply(toolUse("Glob", { pattern: "*" }, "g1"))),
  );
  const { say, below } = await openFamily({
    model: asked,
    hooks: {
      watchTools: true,
      agentStarted: async ({ kind }) => {
        heard.push(`start ${kind}`);
        return { context: ["Mind the keel."] };
      },
      beforeTool: async ({ tool }, { agent: inside, session }) => {
        heard.push(`${tool} in ${inside?.kind ?? "main"} ${session === rootId}`);
        return { context: [] };
      },
      agentStopped: async ({ lastText }) => {
        heard.push(`stop ${lastText}`);
        return {};
      },
      stop: async () => {
        heard.push("stop of main");
        return {};
      },
    },
  });
  await say("go");
  expect(heard).toEqual([
    "Agent in main true",
    "start worker",
    "Glob in worker true",
    "stop seen",
    "stop of main",
  ]);
  expect(below("turn.started")[0]?.context).toContain("Mind the keel.");
});

test("a fork reads its parent's cache: its request starts with the parent's own bytes", async () => {
  verifies("S4.58");
  const long = "A long instruction. ".repeat(400);
  const asked = scriptedModel(
    (request) => {
      if (newest(request).includes("copy of the agent above")) return reply("Forked and done.");
      return lastCall(request) ? reply("ok") : reply(agent("c1", { subagent_type: "fork" }));
    },
    { cache: "simulated" },
  );
  const { say, below } = await openFamily({
    model: asked,
    definitions: [{ name: "fork", description: "", prompt: "", inherits: "conversation", from: "built-in" }],
  });
  await say(long);
  const [first, forked] = asked.requests;
  expect(forked?.system).toEqual(first?.system);
  expect(forked?.tools).toEqual(first?.tools);
  expect(forked?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
  const [done] = below("model.finished");
  const { cacheReadTokens = 0, cacheWriteTokens = 0, inputTokens = 0 } = done?.usage ?? {};
  expect(cacheReadTokens).toBeGreaterThan(2_000);
  expect(cacheReadTokens).toBeGreaterThan((cacheWriteTokens + inputTokens) * 5);
  expect(forked?.cacheKey).toBe(rootId);
});

/** Agents answer only when the gate is open. */
async function* held(
  real: ReturnType<typeof scriptedModel>,
  request: ModelRequest,
  signal: AbortSignal,
  gate: PromiseWithResolvers<void>,
) {
  if (isWorker(request)) {
    const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    await Promise.race([gate.promise, stopped]);
  }
  yield* real.stream(request, signal);
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2_000; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("It never came.");
}
