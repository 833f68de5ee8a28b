/** A memory index over chunks that a test names: it looks for words, and embeds nothing. */
import type { FoundChunk, MemoryChunk, MemoryIndex } from "../ports/memory-index.ts";

export type ChunksInMemory = MemoryIndex & {
  /** The sessions that were to be indexed, in their order. */
  readonly indexed: readonly string[];
};

export function chunksInMemory(chunks: readonly MemoryChunk[] = []): ChunksInMemory {
  let kept = [...chunks];
  const indexed: string[] = [];
  const stats = async () => ({
    chunks: kept.length,
    sessions: new Set(kept.map(({ session }) => session)).size,
    bytes: kept.reduce((sum, { text }) => sum + text.length, 0),
    embedded: 0,
    work: "idle" as const,
  });
  return {
    indexed,
    async index(session) {
      indexed.push(session);
    },
    async search({ words, scope, session, cwd, limit = 5, except = [] }) {
      const wanted = wordsOf(words);
      const found = kept
        .filter((one) => !except.includes(one.session))
        .filter((one) => scope !== "session" || one.session === session)
        .filter((one) => scope !== "project" || one.cwd === cwd)
        .map(
          (one): FoundChunk => ({
            ...one,
            by: "words",
            score: scoreOf(one.text, wanted),
            passage: one.text,
            joined: [one.id],
          }),
        )
        .filter(({ score }) => score > 0)
        .sort((left, right) => right.score - left.score || left.id - right.id)
        .slice(0, limit);
      return { found, by: "words" };
    },
    newest: async (limit) => kept.toReversed().slice(0, limit),
    async forget(what) {
      const goes = ({ id, session, text }: MemoryChunk): boolean =>
        "chunks" in what
          ? what.chunks.includes(id)
          : "session" in what
            ? session === what.session
            : text.toLowerCase().includes(what.words.toLowerCase());
      const gone = kept.filter(goes);
      kept = kept.filter((one) => !goes(one));
      return {
        chunks: gone.length,
        sessions: [...new Set(gone.map(({ session }) => session))],
        busy: [],
      };
    },
    catchUp: async () => undefined,
    async drop(session) {
      kept = kept.filter((one) => one.session !== session);
    },
    stats,
    rebuild: stats,
    close: async () => undefined,
  };
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const scoreOf = (text: string, wanted: readonly string[]): number => {
  const has = new Set(wordsOf(text));
  return wanted.filter((word) => has.has(word)).length;
};
