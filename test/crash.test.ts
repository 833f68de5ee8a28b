import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { fold } from "../keel/src/core/fold.ts";
import { callsIn } from "../keel/src/core/state/call-state.ts";
import { emptyState } from "../keel/src/core/state/state.ts";
import type { Session } from "../keel/src/engine/session.ts";
import type { Log } from "../keel/src/ports/store.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import type { Message } from "../keel/src/protocol/message.ts";
import { jsonlStore } from "../keel/src/store/jsonl/store.ts";
import { sqliteStore } from "../keel/src/store/sqlite/store.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { crashPoint } from "../keel/src/testing/crash.ts";
import { instantClock } from "../keel/src/testing/fake-clock.ts";
import { type MemoryWorkspace, memoryWorkspace } from "../keel/src/testing/memory-workspace.ts";
import { viewOf } from "../keel/src/testing/read-request.ts";
import { type RequestLaw, requestLaw } from "../keel/src/testing/request-law.ts";
import { violationsIn } from "../keel/src/testing/request-rules.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { builtInTools } from "../keel/src/tools/catalog.ts";
import { answerAsk, answerOf, commands, files, inputId, play } from "./crash/scenario.ts";
import { countOf } from "./support/budget.ts";
import { memoryLog, openTestSession } from "./support/test-session.ts";
import { verifies } from "./support/verifies.ts";

type World = {
  readonly written: Durable[];
  /** Opens what earlier lives left of it. */
  log(): Promise<Log>;
  readonly workspace: MemoryWorkspace;
  /** Over all lives: what a resumed session sends extends what the crashed one had sent. */
  readonly law: RequestLaw;
};
type Life = { readonly session: Session; readonly requests: readonly unknown[] };

function newWorld(open: (written: Durable[]) => World["log"] = inMemory): World {
  const written: Durable[] = [];
  const law = requestLaw({ log: () => written });
  return { written, log: open(written), workspace: memoryWorkspace({ files, shell: commands }), law };
}

const inMemory = (written: Durable[]) => async () => memoryLog({ events: written });

/** On a real disk: what `written` has after a crash is what a new process reads there. */
const onDisk = (home: string, open: typeof jsonlStore) => (written: Durable[]) => async (): Promise<Log> => {
  const { session } = memoryLog();
  const store = open({ home });
  const isNew = store.location(session) === undefined;
  const log = isNew ? await store.create(session, { cwd: home }) : await store.open(session);
  expect(log.notices).toEqual([]);
  written.splice(0, written.length, ...(await Array.fromAsync(log.read())));
  return {
    session,
    notices: log.notices,
    get lastSeq() {
      return log.lastSeq;
    },
    async append(events) {
      await log.append(events);
      written.push(...events);
    },
    read: (after) => log.read(after),
    close: () => log.close(),
  };
};

/** Lives once in a world: to the end, or until the crash after `after` events of this life. */
async function live(
  world: World,
  { after = Number.POSITIVE_INFINITY, prefix = 0 } = {},
): Promise<Life | "crashed"> {
  const point = crashPoint({ after });
  const clock = instantClock();
  const model = scriptedModel(answerOf, { clock, law: world.law });
  const opened = openTestSession({
    log: point.log(await world.log()),
    model: point.model(model),
    workspace: point.workspace(world.workspace),
    clock: point.clock(clock),
    ids: countingIds({ prefix }),
    tools: builtInTools(),
    answer: answerAsk,
  });
  const whole = opened.then(async ({ session }) => {
    await play(session, world.written);
    return { session, requests: model.requests };
  });
  const outcome = await point.outcome(whole);
  return outcome.crashed ? "crashed" : outcome.value;
}

/** What must be the same: the conversation without thoughts about ids, the files, the bill. */
function essence(world: World): { history: Message[]; costUsd: number; files: Record<string, string> } {
  const state = world.written.reduce(fold, emptyState);
  const texts = Object.fromEntries(
    ["a.txt", "b.txt", "first.txt", "second.txt", "third.txt"].map((name) => [
      name,
      world.workspace.files.text(`/project/${name}`) ?? "missing",
    ]),
  );
  return { history: state.history.slice(), costUsd: state.bill.costUsd, files: texts };
}

/** What the crash interrupted, read from the log alone. */
function interruptedWork(written: readonly Durable[]): { call: string | undefined; request: boolean } {
  const state = written.reduce(fold, emptyState);
  return {
    call: callsIn(state.calls).find(({ status }) => status === "started")?.use.id,
    request: state.request !== null,
  };
}

const terminalEvents = (written: readonly Durable[], input: string): number =>
  written.filter((event) =>
    event.type === "turn.finished"
      ? event.inputIds.includes(input)
      : event.type === "input.dropped" && event.inputId === input,
  ).length;

describe("a crash after any event", async () => {
  const whole = newWorld();
  const first = await live(whole);
  const expected = essence(whole);
  const points = Array.from({ length: whole.written.length }, (_, index) => index + 1);

  test("the run without a crash is what the scenario means", () => {
    expect(first).not.toBe("crashed");
    expect(expected.files).toEqual({
      "a.txt": "ALPHA\nbeta\n",
      "b.txt": "ONE\nTWO\n",
      "first.txt": "first",
      "second.txt": "second",
      "third.txt": "third",
    });
    expect(whole.written.filter(({ type }) => type === "turn.finished")).toHaveLength(12);
    expect(whole.written.filter(({ type }) => type === "context.compacted")).toHaveLength(1);
    expect(whole.written.filter(({ type }) => type === "context.returned")).toHaveLength(1);
    expect(JSON.stringify(expected.history)).not.toContain("turn 11");
    expect(whole.written.length).toBeGreaterThan(100);
  });

  test.each(points)(
    "after event %i: the session goes on and ends, with nothing lost and nothing done twice",
    async (cut) => {
      verifies("G1", "G2", "G3", "G18", "P28");
      await crashAndGoOn(newWorld(), cut);
    },
  );

  test.each([
    ["JSON lines", jsonlStore],
    ["SQLite", sqliteStore],
  ] as const)("the same with its log on a real disk, in %s", { timeout: 3_600_000 }, async (_, open) => {
    verifies("G1", "S1.7");
    const count = countOf("crashes-on-disk");
    for (let run = 0; run < count; run++) {
      const home = await mkdtemp(path.join(tmpdir(), "keel-crash-"));
      try {
        const cut = points[Math.floor(((run + 0.5) * points.length) / count)] ?? 1;
        await crashAndGoOn(newWorld(onDisk(home, open)), cut);
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    }
  });

  async function crashAndGoOn(world: World, cut: number): Promise<void> {
    expect(await live(world, { after: cut })).toBe("crashed");
    const atCrash = interruptedWork(world.written);
    expect(world.written).toHaveLength(cut);
    const second = await live(world, { prefix: 1 });
    if (second === "crashed") throw new Error("the second life crashed");

    for (let turn = 1; turn <= 12; turn++)
      expect(terminalEvents(world.written, inputId(turn)), `input ${turn}`).toBe(1);
    const starts = world.written.filter((event) => event.type === "tool.started").map(({ callId }) => callId);
    expect(new Set(starts).size).toBe(starts.length);
    for (const [effect, times] of counted(world.workspace.effects)) {
      expect(times, effect).toBeLessThanOrEqual(counted(whole.workspace.effects).get(effect) ?? 0);
    }
    for (const request of second.requests) expect(violationsIn(viewOf(request as never))).toEqual([]);
    expect(world.written.map(({ seq }) => seq)).toEqual(world.written.map((_, index) => index + 1));
    expect(world.written.reduce(fold, emptyState)).toEqual(second.session.state);

    const got = essence(world);
    if (atCrash.call === undefined || isReplayable(atCrash.call)) {
      expect(got.history).toEqual(expected.history);
      expect(got.files).toEqual(expected.files);
      expect(got.costUsd).toBeCloseTo(expected.costUsd, 10);
    } else {
      // Inside an unsafe call: it is told as interrupted, and it alone may be missing.
      const result = world.written.find(
        (event) => event.type === "tool.finished" && event.callId === atCrash.call,
      );
      expect(result).toMatchObject({ interrupted: true, failed: true });
      expect(shape(got.history)).toEqual(shape(expected.history));
      expect(without(got.files, touched[atCrash.call])).toEqual(
        without(expected.files, touched[atCrash.call]),
      );
    }
    const unknown = second.session.state.bill.unknownRequests;
    expect(unknown).toBe(atCrash.request ? 1 : 0);
  }
});

/** The file that each unsafe call of the scenario changes. */
const touched: Record<string, string> = {
  e1: "a.txt",
  e2: "b.txt",
  e3: "b.txt",
  e4: "a.txt",
  s1: "first.txt",
  s2: "second.txt",
  s3: "third.txt",
};

const without = (files: Record<string, string>, name: string | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(files).filter(([file]) => file !== name));

/** A conversation without what its results say: who said what kind of thing, about which call, and the model's words. */
/** A call that was lost may have left its file otherwise: a file that is given back tells what is in it now. */
const shape = (history: readonly Message[]): unknown =>
  history.map(({ role, content }) =>
    content.map((block) => {
      if (block.type === "tool_result") return [role, block.type, block.callId];
      const again = block.type === "text" ? /You read .* It is unchanged:/.exec(block.text) : null;
      return [role, again ? again[0] : block];
    }),
  );

function counted(effects: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const effect of effects) counts.set(effect, (counts.get(effect) ?? 0) + 1);
  return counts;
}

const isReplayable = (callId: string): boolean => callId.startsWith("r") || callId.startsWith("x");
