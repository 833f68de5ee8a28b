// The memory index over the logs of a home, with an embedder that counts letters.
import path from "node:path";
import { nodeClock } from "../../keel/src/app/node-ports.ts";
import { openMemoryIndex } from "../../keel/src/memory/memory-index.ts";
import { memoryTables, memoryVersion } from "../../keel/src/memory/tables.ts";
import type { Embedder, MemoryIndex } from "../../keel/src/ports/memory-index.ts";
import type { Store } from "../../keel/src/ports/store.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { SharedDatabase } from "../../keel/src/store/sqlite/database.ts";

export const indexFile = (home: string): string => path.join(home, "memory", "index.sqlite");

/** Over these logs; nothing of them is forgotten through it. */
export function indexOver(
  { home, store }: { home: string; store: Store },
  { embedder, tell }: { embedder: Embedder; tell?: ((words: string) => void) | undefined },
): MemoryIndex {
  return openMemoryIndex({
    file: new SharedDatabase({
      path: indexFile(home),
      tables: memoryTables,
      version: memoryVersion,
      sync: "none",
    }),
    clock: nodeClock(),
    secrets: [],
    embedder: { id: embedder.id, open: async () => embedder },
    tell,
    logs: {
      list: () => store.list(),
      find: async (id) => (await store.list({ only: id }))[0],
      read: (id, after) => store.read(id, after),
      sayForgotten: async () => "gone",
    },
  });
}

export const openHomeIndex = (home: string): MemoryIndex =>
  indexOver({ home, store: jsonlStore({ home }) }, { embedder: counting });

const counting: Embedder = {
  id: "test:letters",
  embed: async (texts) =>
    texts.map((text) => {
      const vector = new Float32Array(32);
      for (const letter of text)
        vector[letter.charCodeAt(0) % 32] = 1 + (vector[letter.charCodeAt(0) % 32] ?? 0);
      return vector;
    }),
  close: async () => undefined,
};
