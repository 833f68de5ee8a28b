/** What earlier conversations said, for clients of a server. The index is opened when somebody first asks. */
import type { FoundChunk, MemoryChunk, MemoryIndex } from "../../ports/memory-index.ts";
import type { MemoryOperation, MemoryPiece } from "../../protocol/memory-operations.ts";
import type { AnswerTo, OperationQuestion } from "../../protocol/operation.ts";
import type { Home } from "../home.ts";

export type MemoryHandlers = {
  readonly [Name in MemoryOperation]: (question: OperationQuestion<Name>) => Promise<AnswerTo<Name>>;
};

/** Nobody waits longer for what is not taken in yet: it is taken in behind the answer. */
const freshMs = 1_000;
/** A model that is loaded first has answered by then. */
const meaningMs = 2_000;
const usualLimit = 20;
const maxLimit = 50;

export function memoryHandlers({
  home,
  env,
}: {
  home: Home;
  env: Readonly<Record<string, string | undefined>>;
}): MemoryHandlers {
  const open = (): Promise<MemoryIndex> => home.memoryIndex({ env, cwd: home.path });
  return {
    async memory({ words = "", limit = usualLimit }) {
      const index = await open();
      const over = new AbortController();
      await Promise.race([index.catchUp(), home.clock.sleep(freshMs, over.signal)]);
      over.abort();
      const most = Math.max(1, Math.min(limit, maxLimit));
      if (words.trim() === "") return { found: (await index.newest(most)).map(pieceOf), meaning: false };
      const { found, by } = await index.search({ words, scope: "person", limit: most, waitMs: meaningMs });
      return { found: found.map(pieceOf), meaning: by !== "words" };
    },
    memoryStats: async () => (await open()).stats(),
    async forgetMemory({ pieces }) {
      const { chunks, sessions, busy } = await (await open()).forget({ chunks: pieces });
      return { pieces: chunks, sessions, busy };
    },
  };
}

const pieceOf = (chunk: MemoryChunk | FoundChunk): MemoryPiece => ({
  id: chunk.id,
  session: chunk.session,
  cwd: chunk.cwd,
  at: chunk.at,
  by: chunk.source.kind === "tool" ? chunk.source.tool : chunk.source.kind,
  text: "passage" in chunk ? chunk.passage : chunk.text,
});
