/** What may be asked of a server about what earlier conversations said: rows of the table of operations. */
import * as z from "zod/mini";

const text = z.string();
const opt = z.optional;

export const memoryPieceSchema = z.object({
  id: z.number(),
  session: text,
  /** The folder that it was said in. */
  cwd: text,
  at: z.number(),
  /** Who said it: `person`, `agent`, or the name of a tool. */
  by: text,
  /** What was said, with what stands right before and after it where it was looked for. */
  text,
});
export type MemoryPiece = z.infer<typeof memoryPieceSchema>;

export const memoryOperations = {
  memory: {
    says: "What earlier conversations said: the best for the words, or the newest where there are none. `meaning`: not only by words",
    method: "GET",
    path: "/api/memory",
    access: "watch",
    question: z.object({ words: opt(text), limit: opt(z.number()) }),
    answer: z.object({ found: z.readonly(z.array(memoryPieceSchema)), meaning: z.boolean() }),
  },
  memoryStats: {
    says: "How much the memory index holds, and what is being done with it",
    method: "GET",
    path: "/api/memory/stats",
    access: "watch",
    question: z.object({}),
    answer: z.object({
      chunks: z.number(),
      sessions: z.number(),
      bytes: z.number(),
      embedded: z.number(),
      embedder: opt(text),
      work: z.enum(["idle", "indexing", "rebuilding"]),
    }),
  },
  forgetMemory: {
    says: "Takes the messages of these pieces out of memory, whole and for good; `busy` are sessions that are open and keep theirs",
    method: "POST",
    path: "/api/memory/forget",
    access: "work",
    question: z.object({ pieces: z.readonly(z.array(z.number())) }),
    answer: z.object({
      pieces: z.number(),
      sessions: z.readonly(z.array(text)),
      busy: z.readonly(z.array(text)),
    }),
  },
} as const;

export type MemoryOperation = keyof typeof memoryOperations;
