/** Decisions about shell commands beside the grammar alone. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { DecisionTexts, DecisionTimes } from "../decisions.ts";
import type { Entrant } from "../measure.ts";
import { commandTexts, slowTexts } from "../workloads/commands.ts";
import { writePast } from "../workloads/past.ts";
import { type Bench, prepared, type Suite } from "./suite.ts";

/** Texts that are longer are never approved, and so not parsed. */
const longest = 10_000;

export const policySuite: Suite = async (bench) => {
  const texts = commandTexts();
  const given: DecisionTexts = {
    texts,
    half: slowTexts(longest / 2),
    whole: slowTexts(longest),
    repeats: bench.counts.policyRepeats,
  };
  const file = path.join(await bench.folder(), "commands.json");
  await writeFile(file, JSON.stringify(given));
  const log = prepared(async () => {
    const written = path.join(await bench.folder(), "past.jsonl");
    await writePast(written, bench.counts.pastCalls);
    return written;
  });
  const past = (name: string, run: string): Entrant => ({
    name,
    run: async () => {
      const given = { file: await log(), calls: bench.counts.pastCalls };
      return { ...(await bench.programs.run<{ whole: number[] }>(run, given)).result };
    },
  });
  return {
    contests: [
      {
        name: "policy",
        floor: entrant(bench, { name: "the grammar alone", run: "floors/grammar", file }),
        keel: entrant(bench, { name: "keel", run: "programs/policy", file }),
        figures: [
          {
            key: "each",
            name: `a decision about a command, over ${texts.length} of the corpus`,
            unit: "ms",
            goal: { kind: "value", most: 1 },
          },
          {
            key: "p99",
            name: "its 99th percentile in a pass",
            unit: "ms",
            goal: { kind: "value", most: 5 },
          },
          { key: "eachCpu", name: "a decision, in processor time", unit: "ms" },
          {
            key: "p99Cpu",
            name: "its 99th percentile in a pass, in processor time",
            unit: "ms",
            goal: { kind: "value", most: 5 },
          },
          { key: "first", name: "the first decision, with loading the grammar", unit: "ms" },
          { key: "half", name: "the slowest of texts made to be slow, 5 KB, in processor time", unit: "ms" },
          {
            key: "whole",
            name: "the slowest of texts made to be slow, 10 KB, in processor time",
            unit: "ms",
            goal: { kind: "value", most: 50 },
          },
        ],
      },
      {
        name: "back-test",
        floor: past("reading the same log", "floors/read-log"),
        keel: past("keel", "programs/backtest"),
        figures: [
          {
            key: "whole",
            name: `${bench.counts.pastCalls} calls on record decided again under other rules`,
            unit: "ms",
            goal: { kind: "value", most: 2_000 },
          },
        ],
      },
    ],
    close: async () => undefined,
  };
};

const entrant = (
  { programs }: Bench,
  { name, run, file }: { name: string; run: string; file: string },
): Entrant => ({
  name,
  run: async () => ({ ...(await programs.run<DecisionTimes>(run, { file })).result }),
});
