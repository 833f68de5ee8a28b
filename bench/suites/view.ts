/** What screens fold: a reply that grows delta by delta in a long transcript, beside the same in an empty one. */
import type { Entrant } from "../measure.ts";
import type { Bench, Suite } from "./suite.ts";

export const viewSuite: Suite = async (bench) => {
  const { deltas, transcriptRows } = bench.counts;
  const said = (count: number): string => count.toLocaleString("en-US");
  const what = `${said(deltas)} deltas folded over ${said(transcriptRows)} rows`;
  return {
    contests: [
      {
        name: "transcript",
        floor: entrant(bench, { name: "the same deltas over no rows", over: "none" }),
        keel: entrant(bench, { name: "keel", over: "rows" }),
        figures: [
          { key: "fold", name: what, unit: "ms", goal: { kind: "ratio", most: 1.2 } },
          { key: "cpu", name: `${what}, in processor time`, unit: "ms", goal: { kind: "ratio", most: 1.2 } },
        ],
      },
    ],
    close: async () => undefined,
  };
};

const entrant = (
  { programs, counts }: Bench,
  { name, over }: { name: string; over: "rows" | "none" },
): Entrant => ({
  name,
  run: async () => {
    const { transcriptRows: rows, deltas, foldRepeats: repeats } = counts;
    type Grown = { ms: number[]; cpuMs: number[]; rows: number; isWhole: boolean };
    const { result } = await programs.run<Grown>("programs/transcript", { rows, over, deltas, repeats });
    if (!result.isWhole || result.rows < rows) throw new Error("The reply did not grow as it should.");
    return { fold: result.ms, cpu: result.cpuMs };
  },
});
