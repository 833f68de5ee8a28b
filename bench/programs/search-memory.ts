/** Looks for words and meaning in a memory index. The vector of the question is there at once: what it costs is another figure. */
import { nodeClock } from "../../keel/src/app/node-ports.ts";
import { openMemoryIndex } from "../../keel/src/memory/memory-index.ts";
import { memoryTables, memoryVersion } from "../../keel/src/memory/tables.ts";
import { SharedDatabase } from "../../keel/src/store/sqlite/database.ts";
import { runProgram } from "../program.ts";
import { proseOf, timesOf } from "../workloads/prose.ts";
import { randomVector } from "../workloads/vectors.ts";

await runProgram(async ({ file, repeats }: { file: string; repeats: number }) => {
  const prose = proseOf(2);
  const index = openMemoryIndex({
    file: new SharedDatabase({ path: file, tables: memoryTables, version: memoryVersion, sync: "none" }),
    clock: nodeClock(),
    secrets: [],
    embedder: {
      id: "bench",
      open: async () => ({
        id: "bench",
        embed: async () => [randomVector(prose)],
        close: async () => undefined,
      }),
    },
    logs: {
      list: async () => [],
      find: async () => undefined,
      read: async function* () {
        // There are no logs.
      },
      sayForgotten: async () => "gone",
    },
  });
  const ms = await timesOf(repeats, async (words) => {
    const { found, by } = await index.search({ words, scope: "person" });
    if (found.length === 0 || by === "words") throw new Error(`${found.length} were found by ${by}.`);
  });
  await index.close();
  return ms;
});
