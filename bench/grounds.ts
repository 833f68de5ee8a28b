/** What the machine itself costs, measured in the same rounds: a start of Node, a process, a line on disk. */
import path from "node:path";
import type { Ground } from "./measure.ts";
import { type Bench, megabytes } from "./suites/suite.ts";

export function machineGrounds({ programs, counts, folder }: Bench): Ground[] {
  const times = counts.groundRepeats;
  return [
    {
      name: "bare start",
      figures: [
        { key: "ms", name: "start and end of Node, nothing loaded", unit: "ms" },
        { key: "memory", name: "peak memory of that", unit: "MB" },
      ],
      floor: { name: "bare start", run: () => bareStarts(programs, times) },
    },
    {
      name: "bare spawn",
      figures: [{ key: "ms", name: "spawn and end of `true`", unit: "ms" }],
      floor: {
        name: "bare spawn",
        run: async () => ({
          ms: (await programs.run<{ ms: number[] }>("floors/spawn", { times })).result.ms,
        }),
      },
    },
    {
      name: "synced append",
      figures: [{ key: "ms", name: "write and fdatasync of one line", unit: "ms" }],
      floor: {
        name: "synced append",
        run: async () => {
          const options = {
            file: path.join(await folder(), "lines"),
            appends: times * 20,
            eventsPerAppend: 1,
          };
          return { ms: (await programs.run<{ ms: number[] }>("floors/append", options)).result.ms };
        },
      },
    },
  ];
}

/** Time and memory of Node when it has nothing to do. */
export async function bareStarts(
  programs: Bench["programs"],
  times: number,
): Promise<{ ms: number[]; memory: number[] }> {
  const ms: number[] = [];
  const memory: number[] = [];
  for (let done = 0; done < times; done++) {
    const startedAt = performance.now();
    const { peakBytes } = await programs.run("floors/start", {});
    ms.push(performance.now() - startedAt);
    memory.push(megabytes(peakBytes));
  }
  return { ms, memory };
}
