import { describe, expect, test } from "vitest";
import { goldenLogs, quietPlaces, simulatedLogs } from "../../../../test/support/quiet-places.ts";
import { memoryLog } from "../../../../test/support/test-session.ts";
import { memoOfLog } from "../../../../test/support/told.ts";
import { toEvents } from "../../hosts/runner/dialect.ts";
import { newMemo as newRunnerMemo } from "../../hosts/runner/memo.ts";
import type { CachedFold, Log } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { InitFacts } from "../../sdk/dialect/memo.ts";
import { messagesFold } from "../../sdk/dialect/messages-fold.ts";
import { type HostFold, HostFolds } from "./host-folds.ts";

const facts: InitFacts = {
  sessionId: "00000000-0000-7000-8000-00000000005e",
  cwd: "/project",
  model: "from this process",
  permissionMode: "default",
  tools: ["Read"],
  version: "1",
  apiKeySource: "user",
};

/** A log that has these events so far, and may grow. */
function stageOf(events: readonly Durable[], kept?: CachedFold) {
  let newest: CachedFold | undefined;
  const written = [...events];
  const lastSeq = (): number => written.at(-1)?.seq ?? 0;
  const log: Log = {
    ...memoryLog({ events: written }),
    cachedFold: () => kept,
    cacheFold: async (write) => {
      newest = { seq: lastSeq(), texts: await write() };
    },
  };
  const folds = new HostFolds(log);
  return {
    folds,
    log: folds.log(),
    kept: () => newest,
    grow: (more: readonly Durable[]) => written.push(...more),
  };
}

/** What a process that opens the log and ends it at once keeps. */
async function keptOf<M>(events: readonly Durable[], wanted: HostFold<M>): Promise<CachedFold | undefined> {
  const { folds, log, kept } = stageOf(events);
  await folds.fold(wanted);
  await log.cacheFold?.(() => ["the state"]);
  return kept();
}

async function foldedWith<M>(
  events: readonly Durable[],
  kept: CachedFold | undefined,
  wanted: HostFold<M>,
): Promise<M> {
  const { folds, log } = stageOf(events, kept);
  log.cachedFold?.();
  return folds.fold(wanted);
}

const runnerFold = (checkpointing: boolean): HostFold<ReturnType<typeof newRunnerMemo>> => {
  const known = { sessionId: facts.sessionId, checkpointing };
  return {
    name: "runner",
    start: newRunnerMemo({ sessionId: "", checkpointing: false }),
    step: (memo, event) => toEvents(event, memo)[1],
    takeUp: (memo) => ({ ...memo, ...known }),
  };
};

const counting: HostFold<number> = {
  name: "count",
  start: 0,
  step: (count) => count + 1,
  takeUp: (count) => count,
};

const [, all = []] = goldenLogs[0] ?? [];

describe("what a host makes of a session's events", () => {
  test("is the same whether it was kept or is made anew, in both dialects", async () => {
    const wanted = [messagesFold(facts), runnerFold(true)] as HostFold<unknown>[];
    const earlier = [messagesFold({ ...facts, tools: [], partialMessages: true }), runnerFold(false)];
    let places = 0;
    const logs = [...goldenLogs, ...(await Array.fromAsync(simulatedLogs(15)))];
    for (const [name, events] of logs)
      for (const place of quietPlaces(events)) {
        places++;
        for (const [at, fold] of wanted.entries()) {
          const kept = await keptOf(events.slice(0, place), earlier[at] as HostFold<unknown>);
          expect(
            await foldedWith(events, kept, fold),
            `${name}: kept at ${place}, ${fold.name}`,
          ).toStrictEqual(await foldedWith(events, undefined, fold));
        }
      }
    expect(places).toBeGreaterThan(100);
  });

  test("is what the dialect makes of the whole log", async () => {
    const wanted = messagesFold(facts);
    expect(await foldedWith(all, await keptOf(all.slice(0, 20), wanted), wanted)).toEqual(
      memoOfLog(all, facts),
    );
  });

  test("reads only what came after it was kept, and the engine does not see it", async () => {
    const kept = await keptOf(all.slice(0, 5), counting);
    expect(kept?.texts).toEqual(["the state", '{"hosts":{"count":5}}']);
    const { folds, log } = stageOf(all.slice(0, 9), kept);
    expect(log.cachedFold?.()?.texts).toEqual(["the state"]);
    const seen: number[] = [];
    const watched: HostFold<number> = { ...counting, step: (count, { seq }) => seen.push(seq) && count + 1 };
    expect(await folds.fold(watched)).toBe(9);
    expect(seen).toEqual([6, 7, 8, 9]);
  });

  test("is kept with all that came since it was made, read once more from the log", async () => {
    const { folds, log, grow, kept } = stageOf(all.slice(0, 3));
    expect(await folds.fold(counting)).toBe(3);
    grow(all.slice(3, 7));
    await log.cacheFold?.(() => []);
    expect(kept()?.texts).toEqual(['{"hosts":{"count":7}}']);
    grow(all.slice(7, 9));
    await log.cacheFold?.(() => []);
    expect(kept()?.texts).toEqual(['{"hosts":{"count":9}}']);
  });

  test("has nothing but what the events say: what else this process knows is not kept", async () => {
    const known = { cwd: "/known", tools: ["Known"], warnings: ["known"], version: "known" };
    const wanted = messagesFold({ ...facts, ...known, sessionId: "known", apiKeySource: "known" });
    const kept = await keptOf(all, wanted);
    expect(kept?.texts.at(-1)).toContain('{"messages":{');
    expect(kept?.texts.at(-1)).not.toMatch(/known/i);
    expect((await foldedWith(all, kept, wanted)).facts).toMatchObject(known);
  });

  test("leaves the engine its texts where no host has kept anything", async () => {
    const texts = ["the state", "the conversation", '{"inputs":["count"],"calls":[]}'];
    const { folds, log } = stageOf(all, { seq: 5, texts });
    expect(log.cachedFold?.()?.texts).toEqual(texts);
    expect(await folds.fold(counting)).toBe(all.length);
  });

  test.each([undefined, "", "{", "[1]", '{"hosts":{"count":{"$":"tree"}}}', '{"count":1000}'])(
    "is made anew when what was kept is %j",
    async (text) => {
      const kept = { seq: 5, texts: text === undefined ? [] : ["the state", text] };
      expect(await foldedWith(all, kept, counting)).toBe(all.length);
    },
  );
});
