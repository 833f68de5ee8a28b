/**
 * What the sessions of one home share: a hundred of them need no hundred namespaces, parsers, kernel locks and
 * connections. It holds nothing before it is used, and nothing of it is common to two homes.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { getHeapStatistics } from "node:v8";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { RateCounts } from "../../hooks/rate-hook.ts";
import type { LinkPool } from "../../mcp/pool.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { MemoryIndex } from "../../ports/memory-index.ts";
import type { Grammar } from "../../ports/shell.ts";
import type { Store } from "../../ports/store.ts";
import { jsonlStore, leasesOf } from "../../store/jsonl/store.ts";
import type { LogPlaces, StoreWish } from "../../store/log-kind.ts";
import { logPlaces, type RemoteOf } from "../../store/log-places.ts";
import type { GuardMode, ProcessGuard } from "../../workspace/processes/process-guard.ts";
import type { LocalSandbox } from "../../workspace/sandbox/sandbox.ts";
import type { HomeConversations } from "../conversations/home-conversations.ts";
import { nodeClock, nodeIds } from "../node-ports.ts";
import { type LateGuard, lateGrammar } from "./late-ports.ts";
import { type Heap, MemoryBudget } from "./memory-budget.ts";
import type { MemoryWishes } from "./memory-index.ts";

export type HomeResources = {
  /** Where its files stand. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: Store;
  /** Where the logs of the store stand. */
  readonly logs: LogPlaces & RemoteOf;
  readonly grammar: Grammar;
  readonly memory: MemoryBudget;
  /** Ends whatever commands started when Keel ends. Comes and starts with the first command. */
  guard(env: EnvironmentVariables, settings: KeelSettings): LateGuard;
  /** What confines programs under such a guard. Loaded when it is wanted. */
  sandbox(env: EnvironmentVariables, guard: LateGuard): Promise<LocalSandbox>;
  /** The same for programs that see the machine as their person does: without a namespace. */
  openGuard(env: EnvironmentVariables): LateGuard;
  /** Connections to MCP servers that sessions share. Loaded with the first server. */
  links(): Promise<LinkPool>;
  /** What its conversations said: one index for all its sessions, by the wishes of the first. Loaded when it is wanted. */
  memoryIndex(wishes: MemoryWishes): Promise<MemoryIndex>;
  /** What was said in the sessions, as tables that follow their logs. Loaded and opened when it is first asked for. */
  conversations(): Promise<HomeConversations>;
  /** The same, where somebody has asked for it. */
  openedConversations(): Promise<HomeConversations> | undefined;
  /** What hooks that limit a rate have let through, in all sessions. */
  readonly rates: RateCounts;
  /** Takes a session whose log is gone out of the index, where there is one. */
  dropMemory(session: string): Promise<void>;
  /** Ends every process that is still guarded. */
  close(): Promise<void>;
};

/** `wish`: how new logs are to be kept, and where; asked when the first log is looked for. */
export function homeResources(
  path: string,
  wish: () => Promise<StoreWish> = async () => ({ kind: "jsonl" }),
): HomeResources {
  const clock = nodeClock();
  const ids = nodeIds();
  const guards = new Map<GuardMode, Promise<ProcessGuard>>();
  const leases = leasesOf({ home: path, clock, ids });
  const logs = logPlaces({ home: path, now: clock.now, wish, leases });
  let pool: Promise<LinkPool> | undefined;
  const sandboxes = new Map<ProcessGuard, LocalSandbox>();
  let index: Promise<MemoryIndex> | undefined;
  let tables: Promise<HomeConversations> | undefined;
  const openTables = async (): Promise<HomeConversations> => {
    const { homeConversations } = await import("../conversations/home-conversations.ts");
    const never = new AbortController().signal;
    return homeConversations({
      home: path,
      store,
      sleep: (ms) => clock.sleep(ms, never),
      nowMs: () => clock.monotonicMs(),
    });
  };
  const guardOf =
    (wish: GuardMode, env: EnvironmentVariables): LateGuard =>
    () => {
      const guard =
        guards.get(wish) ??
        import("../../workspace/processes/process-guard.ts").then(({ openProcessGuard }) =>
          openProcessGuard({ env, wish }),
        );
      guards.set(wish, guard);
      return guard;
    };
  const store = jsonlStore({
    home: path,
    clock,
    ids,
    fs: logs.fs,
    index: logs.index,
    find: logs.find,
    leases: logs.leases,
    artifacts: logs.artifacts,
    keeping: build === undefined ? undefined : { build },
  });
  const memoryFile = join(path, "memory", "index.sqlite");
  const openIndex = async (wishes: MemoryWishes): Promise<MemoryIndex> =>
    (await import("./memory-index.ts")).homeMemoryIndex({ path, file: memoryFile, store, clock }, wishes);
  return {
    path,
    clock,
    ids,
    logs,
    store,
    grammar: lateGrammar(),
    memory: new MemoryBudget(nodeHeap()),
    guard: (env, settings) => guardOf(guardMode(env, settings), env),
    openGuard: (env) => guardOf("off", env),
    async sandbox(env, late) {
      const [{ LocalSandbox }, guard] = await Promise.all([
        import("../../workspace/sandbox/sandbox.ts"),
        late(),
      ]);
      const sandbox = sandboxes.get(guard) ?? new LocalSandbox({ env, guard });
      sandboxes.set(guard, sandbox);
      return sandbox;
    },
    links() {
      pool ??= import("../../mcp/pool.ts").then(({ LinkPool }) => new LinkPool());
      return pool;
    },
    memoryIndex(wishes) {
      index ??= openIndex(wishes);
      return index;
    },
    conversations() {
      tables ??= openTables();
      return tables;
    },
    openedConversations: () => tables,
    rates: { taken: new Map(), now: () => clock.monotonicMs() },
    async dropMemory(session) {
      const opened = await index;
      if (opened) return opened.drop(session);
      if (!existsSync(memoryFile)) return;
      const own = await openIndex({ settings: {}, env: {}, cwd: path });
      await own.drop(session).finally(() => own.close());
    },
    async close() {
      await (await tables)?.close();
      await (await index)?.close();
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close()));
      await Promise.all([...guards.values()].map(async (guard) => (await guard).close()));
      await logs.close();
    },
  };
}

/** The environment of the start is nearer to the person than a file. */
export function guardMode(env: EnvironmentVariables, { guard }: KeelSettings): GuardMode {
  const named = env["KEEL_GUARD"];
  return named === "on" || named === "off" ? named : (guard ?? "on");
}

/** Set where Keel is bundled, to a sum of all its sources; as sources it has none, since they may change at any time. */
declare const keelBuild: string | undefined;

/** Names the code that runs: what it keeps for itself is read by no other. */
const build: string | undefined = typeof keelBuild === "string" ? keelBuild : undefined;

function nodeHeap(): Heap {
  return {
    usedBytes: () => getHeapStatistics().used_heap_size,
    get maxBytes() {
      return getHeapStatistics().heap_size_limit;
    },
    async collect() {
      // Loaded late: most processes never come near their bound.
      const { Session } = await import("node:inspector");
      const session = new Session();
      session.connect();
      try {
        await new Promise((resolve) => session.post("HeapProfiler.collectGarbage", resolve));
      } finally {
        session.disconnect();
      }
    },
  };
}
