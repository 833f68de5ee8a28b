/** Takes a long log into a memory index, while it is watched how long the loop is held up. */
import { nodeClock } from "../../keel/src/app/node-ports.ts";
import { openMemoryIndex } from "../../keel/src/memory/memory-index.ts";
import { memoryTables, memoryVersion } from "../../keel/src/memory/tables.ts";
import { SharedDatabase } from "../../keel/src/store/sqlite/database.ts";
import { runProgram, watchedLoop } from "../program.ts";
import { benchSession, typicalEvents } from "../workloads/events.ts";

await runProgram(
  async ({ file, events, resultBytes }: { file: string; events: number; resultBytes: number }) => {
    const log = typicalEvents({ count: events, resultBytes });
    const info = { id: benchSession, cwd: "/project", changedAt: 1 };
    const index = openMemoryIndex({
      file: new SharedDatabase({ path: file, tables: memoryTables, version: memoryVersion, sync: "none" }),
      clock: nodeClock(),
      secrets: [],
      logs: {
        list: async () => [info],
        find: async () => info,
        read: async function* () {
          yield* log;
        },
        sayForgotten: async () => "gone",
      },
    });
    const delay = await watchedLoop(() => index.catchUp());
    await index.close();
    return { delay };
  },
);
