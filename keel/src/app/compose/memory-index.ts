/** The memory index of a home over its logs, and the embedder that a person's settings name. Loaded with the first use. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { codeOf } from "../../kernel/fault.ts";
import { httpEmbedder, usualEmbedders } from "../../memory/http-embedder.ts";
import { openMemoryIndex } from "../../memory/memory-index.ts";
import { memoryTables, memoryVersion } from "../../memory/tables.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Embedder, MemoryIndex } from "../../ports/memory-index.ts";
import type { Store } from "../../ports/store.ts";
import { SharedDatabase } from "../../store/sqlite/database.ts";
import { knownSecrets } from "../maintenance/keys.ts";
import { appendTo } from "../sessions/append-to.ts";

export type MemoryWishes = {
  readonly settings: KeelSettings;
  readonly env: EnvironmentVariables;
  readonly cwd: string;
  readonly tell?: ((words: string) => void) | undefined;
};

type LoggedHome = {
  readonly path: string;
  /** Where the index stands. */
  readonly file: string;
  readonly store: Store;
  readonly clock: Clock;
};

export function homeMemoryIndex(
  { path: home, file, store, clock }: LoggedHome,
  wishes: MemoryWishes,
): MemoryIndex {
  const { env, cwd, tell, settings } = wishes;
  return openMemoryIndex({
    file: new SharedDatabase({
      path: file,
      tables: memoryTables,
      version: memoryVersion,
      sync: "none",
    }),
    clock,
    secrets: knownSecrets({ env, cwd, home }),
    embedder: embedderOf(settings.memory?.embedder, { env, home }),
    tell,
    logs: {
      list: () => store.list(),
      find: async (id) => (await store.list({ only: id }))[0],
      read: (id, after) => store.read(id, after),
      sayForgotten: (id, events) => sayForgotten(store, id, { events, at: clock.now() }),
    },
  });
}

async function sayForgotten(
  store: Store,
  id: string,
  { events, at }: { events: readonly number[]; at: number },
): Promise<"said" | "busy" | "gone"> {
  try {
    await appendTo(store, id, { type: "memory.forgotten", events: [...events] }, at);
    return "said";
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === "session_busy" || code === "session_moved") return "busy";
    if (code === "session_unknown") return "gone";
    throw thrown;
  }
}

type EmbedderSettings = NonNullable<KeelSettings["memory"]>["embedder"];

/** A key goes to the usual address of its kind, or where the person says which variable holds it. */
function embedderOf(
  wanted: EmbedderSettings,
  { env, home }: { env: EnvironmentVariables; home: string },
): { id: string; open(): Promise<Embedder> } | undefined {
  if (!wanted) return undefined;
  const { kind } = wanted;
  if (kind === "local")
    return {
      id: "local:minilm-l6-v2",
      open: async () => (await import("../../memory/local-embedder.ts")).localEmbedder({ folders: [home] }),
    };
  const usual = usualEmbedders[kind];
  const { model = usual.model } = wanted;
  return {
    id: `${kind}:${model}`,
    async open() {
      const variable = wanted.keyVariable ?? (wanted.baseUrl === undefined ? usual.keyVariable : undefined);
      const key = variable === undefined ? undefined : env[variable]?.trim();
      const { baseUrl = usual.baseUrl } = wanted;
      return httpEmbedder({ kind, model, baseUrl, key: key === "" ? undefined : key });
    },
  };
}
