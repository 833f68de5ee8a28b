import { describe, expect, test } from "vitest";
import type { IsolatedWorkspace } from "../keel/src/agents/tree.ts";
import { fold } from "../keel/src/core/fold.ts";
import { emptyState } from "../keel/src/core/state/state.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { textOf } from "../keel/src/protocol/message.ts";
import { type MemoryStore, memoryStore } from "../keel/src/store/memory/memory.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { crashPoint } from "../keel/src/testing/crash.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";
import { type MemoryWorkspace, memoryWorkspace } from "../keel/src/testing/memory-workspace.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { openFamily, rootId } from "./agents/family.ts";
import { verifies } from "./support/verifies.ts";

/** Three turns: an agent that is waited for, one in the background, one in a worktree. Each writes a file and reports. */
const turns = ["waited", "background", "worktree"] as const;

const agent = (name: (typeof turns)[number]) =>
  toolUse(
    "Agent",
    {
      description: name,
      prompt: `write ${name}`,
      subagent_type: "worker",
      run_in_background: name === "background",
      ...(name === "worktree" ? { isolation: "worktree" } : {}),
    },
    `call-${name}`,
  );

/** It looks at what it is asked instead of counting, so that it says the same when it is asked again. */
function answerOf({ system, messages }: ModelRequest): Reply {
  const lastReply = messages.findLastIndex(({ role }) => role === "assistant");
  const newest = messages.slice(lastReply + 1).flatMap(({ content }) => content);
  const words = textOf(newest);
  const isResult = newest.some(({ type }) => type === "tool_result");
  if (system.join().includes("You are a worker")) {
    const name = /write (\w+)/.exec(textOf(messages[0]?.content ?? []))?.[1] ?? "";
    return isResult
      ? reply(`Report of ${name}.`)
      : reply(toolUse("Write", { file_path: `/project/${name}.txt`, content: name }, `w-${name}`));
  }
  const turn = turns.find((name) => words.includes(`turn ${name}`));
  return turn ? reply(agent(turn)) : reply("Understood.");
}

type World = { store: MemoryStore; readonly workspace: MemoryWorkspace; readonly left: string[] };
const newWorld = (): World => ({ store: memoryStore(), workspace: memoryWorkspace(), left: [] });

async function live(
  world: World,
  { after = Number.POSITIVE_INFINITY, prefix = 0 } = {},
): Promise<"crashed" | "lived"> {
  const point = crashPoint({ after });
  const clock = instantClock();
  const isolate = async (): Promise<{ ok: true; place: IsolatedWorkspace }> => ({
    ok: true,
    place: {
      workspace: point.workspace(world.workspace),
      worktree: { path: "/worktrees/one", branch: "keel/one", from: "/project" },
      leave: async () => {
        world.left.push("left");
        return "kept";
      },
    },
  });
  const play = async (): Promise<void> => {
    const { session, settle } = await openFamily({
      model: point.model(scriptedModel(answerOf, { clock, law: "none" })),
      store: point.store(world.store),
      workspace: point.workspace(world.workspace),
      clock: point.clock(clock),
      ids: countingIds({ prefix }),
      isolate,
    });
    await settle();
    for (const [index, name] of turns.entries()) {
      const id = `00000000-0000-4000-8000-00000000000${index}`;
      await session.submit({ type: "input", id, content: [{ type: "text", text: `turn ${name}` }] });
      await settle();
    }
    await session.close("ended");
  };
  const outcome = await point.outcome(play());
  return outcome.crashed ? "crashed" : "lived";
}

async function logsOf({ store }: World): Promise<Map<string, Durable[]>> {
  const ids = [rootId, ...(await store.list({ parent: rootId })).map(({ id }) => id)];
  return new Map(ids.map((id) => [id, store.events(id)]));
}

describe("a crash after any event of a session with agents", async () => {
  const whole = newWorld();
  await live(whole);
  const events = [...(await logsOf(whole)).values()].flat().length;
  const points = Array.from({ length: events }, (_, index) => index + 1);

  test("the run without a crash is what the scenario means", async () => {
    const logs = await logsOf(whole);
    expect(logs.size).toBe(4);
    expect(logs.get(rootId)?.filter(({ type }) => type === "turn.finished")).toHaveLength(4);
    for (const name of turns) expect(whole.workspace.files.text(`/project/${name}.txt`)).toBe(name);
    expect(events).toBeGreaterThan(80);
  });

  test.each(points)(
    "after event %i: every level has its terminal events, no result is lost and nothing runs twice",
    async (cut) => {
      verifies("G1", "G3", "G18", "S4.55", "S2.32");
      const world = newWorld();
      expect(await live(world, { after: cut })).toBe("crashed");
      const atCrash = await logsOf(world);
      world.store = world.store.restart();
      expect(await live(world, { prefix: 1 })).toBe("lived");

      const logs = await logsOf(world);
      for (const [id, log] of logs) {
        expect(
          log.map(({ seq }) => seq),
          id,
        ).toEqual(log.map((_, index) => index + 1));
        for (const input of inputsOf(log)) expect(terminalsOf(log, input), `${id} ${input}`).toBe(1);
        const starts = log.flatMap((event) => (event.type === "tool.started" ? [event.callId] : []));
        expect(new Set(starts).size, id).toBe(starts.length);
        const state = log.reduce(fold, emptyState);
        expect(state.turn, id).toBeNull();
        expect([...state.tasks.values()].filter(({ status }) => status === "running")).toEqual([]);
      }
      // One agent for each call, and each effect at most once.
      const parents = [...logs.values()].flatMap(
        ([first]) => (first?.type === "session.opened" && first.parent?.callId) || [],
      );
      expect(new Set(parents).size).toBe(parents.length);
      for (const name of turns)
        expect(
          world.workspace.effects.filter((effect) => effect.includes(`${name}.txt`)).length,
        ).toBeLessThan(2);
      // What an agent had reported before the crash reaches its parent.
      const root = logs.get(rootId)?.reduce(fold, emptyState);
      for (const [id, log] of atCrash) {
        if (id === rootId || !log.some(isGoodEnd)) continue;
        const words = log.flatMap((event) =>
          event.type === "model.finished" ? [textOf(event.content)] : [],
        );
        expect(JSON.stringify(root?.history.slice()), id).toContain(words.at(-1));
      }
    },
  );
});

const isGoodEnd = (event: Durable): boolean => event.type === "turn.finished" && event.reason === "completed";

const inputsOf = (log: readonly Durable[]): string[] =>
  log.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []));

const terminalsOf = (log: readonly Durable[], input: string): number =>
  log.filter((event) =>
    event.type === "turn.finished"
      ? event.inputIds.includes(input)
      : event.type === "input.dropped" && event.inputId === input,
  ).length;
