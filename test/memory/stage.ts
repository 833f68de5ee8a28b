// A home with logs on a real disk, and the memory index over them.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { homeResources } from "../../keel/src/app/compose/home-resources.ts";
import { homeMemoryIndex } from "../../keel/src/app/compose/memory-index.ts";
import { openHome } from "../../keel/src/app/home.ts";
import { nodeClock } from "../../keel/src/app/node-ports.ts";
import type { Embedder, MemoryIndex } from "../../keel/src/ports/memory-index.ts";
import type { DurableEvent } from "../../keel/src/protocol/event/durable.ts";
import { indexFile, indexOver } from "./home-index.ts";

export type SaidLine = { readonly by: "person" | "agent" | "tool"; readonly text: string };

export type MemoryStage = AsyncDisposable & {
  readonly home: string;
  readonly file: string;
  readonly resources: ReturnType<typeof homeResources>;
  /** Writes a session of which these lines are all. */
  session(id: string, cwd: string, lines: readonly SaidLine[]): Promise<void>;
  index(): MemoryIndex;
  /** Over the same logs, with an embedder of the test's own. */
  embedded(embedder: Embedder, tell?: (words: string) => void): MemoryIndex;
  /** Every byte that the index has on disk. */
  bytes(): Promise<Buffer>;
};

export const sessionId = (number: number): string =>
  `0193e0a0-0000-7000-8000-${String(number).padStart(12, "0")}`;

export async function memoryStage(): Promise<MemoryStage> {
  const home = await mkdtemp(path.join(tmpdir(), "keel-memory-"));
  const file = indexFile(home);
  const resources = homeResources(home);
  const { store } = resources;
  const clock = nodeClock();
  const open: MemoryIndex[] = [];
  const kept = (index: MemoryIndex): MemoryIndex => {
    open.push(index);
    return index;
  };
  return {
    home,
    file,
    resources,
    async session(id, cwd, lines) {
      const log = await store.create(id, { cwd });
      const events = [openedAt(cwd), ...lines.map(eventOf)];
      await log.append(
        events.map((event, at) => ({ ...event, seq: at + 1, at: 1_760_000_000_000 + at, session: id })),
      );
      await log.close();
    },
    index: () =>
      kept(homeMemoryIndex({ path: home, file, store, clock }, { settings: {}, env: {}, cwd: home })),
    embedded: (embedder, tell) => kept(indexOver({ home, store }, { embedder, tell })),
    async bytes() {
      const files = ["", "-wal", "-shm"].map((end) => readFile(`${file}${end}`).catch(() => Buffer.alloc(0)));
      return Buffer.concat(await Promise.all(files));
    },
    async [Symbol.asyncDispose]() {
      for (const index of open) await index.close();
      await resources.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export const homeAt = (home: string) => openHome({ env: {}, cwd: home, home });

const openedAt = (cwd: string): DurableEvent => ({
  type: "session.opened",
  keel: "test",
  cwd,
  settings: { model: "test", permissionMode: "default", thinking: { kind: "off" } },
});

let calls = 0;

export function eventOf({ by, text }: SaidLine): DurableEvent {
  const content = [{ type: "text" as const, text }];
  calls++;
  if (by === "person")
    return {
      type: "input.accepted",
      input: { id: `input-${calls}`, content, from: { kind: "person" }, when: "after" },
    };
  if (by === "agent")
    return {
      type: "model.finished",
      requestId: `request-${calls}`,
      messageId: `message-${calls}`,
      model: "test",
      content,
      stop: "end",
      usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
      costUsd: 0,
      ms: 1,
    };
  return {
    type: "tool.finished",
    callId: `call-${calls}`,
    tool: "Bash",
    content,
    failed: false,
    display: { kind: "text", text },
    ms: 1,
  };
}
