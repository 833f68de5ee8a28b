/** What was said, found again: a search without the vector of its question, and that vector alone. */
import path from "node:path";
import type { Contest, Samples } from "../measure.ts";
import { questionKinds } from "../workloads/prose.ts";
import { type Bench, prepared, type Suite } from "./suite.ts";

export const memorySuite: Suite = async (bench) => {
  const { chunks, manyChunks } = bench.counts;
  const folder = process.env["KEEL_EMBED_FOLDER"];
  return {
    contests: [
      searchContest(bench, chunks),
      searchContest(bench, manyChunks),
      indexContest(bench),
      // The local model is no dependency: measured where somebody has it.
      ...(folder === undefined ? [] : [questionContest(bench, folder)]),
    ],
    close: async () => undefined,
  };
};

function searchContest({ counts, programs, folder }: Bench, chunks: number): Contest {
  const place = prepared(async () => {
    const file = path.join(await folder(), "index.sqlite");
    await programs.run("programs/fill-memory", { file, chunks });
    return { file, repeats: counts.searches };
  });
  const run = (name: string) => async (): Promise<Samples> =>
    (await programs.run<Samples>(name, await place())).result;
  const what = `${chunks.toLocaleString("en")} chunks`;
  return {
    name: what,
    floor: { name: "plain FTS5 and a bare scan of the same vectors", run: run("floors/search-memory") },
    keel: { name: "keel", run: run("programs/search-memory") },
    figures: questionKinds.map((key) => ({
      key,
      name: `search in ${what}: ${key} words`,
      unit: "ms",
      goal: { kind: "ratio", most: 1.5 },
    })),
  };
}

/** It goes on beside the work, and must not be in its way. */
function indexContest({ counts, programs, folder }: Bench): Contest {
  const run = (name: string) => async (): Promise<Samples> => {
    const file = path.join(await folder(), "index.sqlite");
    const options = { file, events: counts.memoryEvents, resultBytes: 4_000 };
    return { delay: [(await programs.run<{ delay: number }>(name, options)).result.delay] };
  };
  return {
    name: "taking in",
    floor: { name: "the same texts into plain FTS5, an event at a time", run: run("floors/index-memory") },
    keel: { name: "keel", run: run("programs/index-memory") },
    figures: [
      {
        key: "delay",
        name: `${counts.memoryEvents.toLocaleString("en")} events are taken in: 99 % of the loop's waits at most`,
        unit: "ms",
        goal: { kind: "value", most: 20 },
      },
    ],
  };
}

/** A question that takes longer than its deadline goes by its words alone. */
function questionContest({ counts, programs }: Bench, folder: string): Contest {
  const run = (name: string) => async (): Promise<Samples> => {
    const options = { folder, repeats: counts.searches * 5 };
    return { question: (await programs.run<{ ms: number[] }>(name, options)).result.ms };
  };
  return {
    name: "question",
    floor: { name: "the same package, called directly", run: run("floors/embed-question") },
    keel: { name: "keel, in a thread", run: run("programs/embed-question") },
    figures: [
      {
        key: "question",
        name: "vector of a question, by the local model",
        unit: "ms",
        goal: { kind: "value", most: 100 },
      },
    ],
  };
}
