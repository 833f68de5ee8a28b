/** `keel desktop` as a shell starts it, with very many conversations, and beside another runtime. */
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { startDesktopHost } from "../desktop-host.ts";
import type { Contest, Samples } from "../measure.ts";
import { lineHostRun } from "./runner.ts";
import { keelEnv, openStage, type StartStage } from "./start.ts";
import { type Bench, prepared, type Suite } from "./suite.ts";

export const desktopSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  return {
    contests: [desktopContest(stage), manyContest(bench), changeContest(bench)],
    close: async () => undefined,
  };
};

const desktopContest = (stage: StartStage): Contest => ({
  name: "desktop",
  floor: {
    name: "keel runner",
    run: () =>
      lineHostRun(stage, {
        word: "runner",
        message: { type: "message", content: "Hello." },
        last: "turn_complete",
      }),
  },
  keel: {
    name: "keel desktop",
    run: () =>
      lineHostRun(stage, {
        word: "desktop",
        message: { id: "1", kind: "user_message", message: "Hello." },
        last: "done",
      }),
  },
  peers: [],
  figures: [
    { key: "ready", name: "spawn to ready", unit: "ms", goal: { kind: "ratio", most: 1.2 } },
    { key: "first", name: "spawn to first model request", unit: "ms" },
    { key: "memory", name: "memory at the first request", unit: "MB" },
  ],
});

const msOf = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** One folder with so many: all of them listed, the newest, one opened; and their words looked for. */
function manyContest({ counts, programs, folder }: Bench): Contest {
  const { listedSessions: sessions, searches: repeats } = counts;
  const place = prepared(async () => {
    const user = await folder();
    const home = path.join(user, ".keel");
    await programs.run("programs/fill-logs", { home, cwd: user, sessions });
    const host = await startDesktopHost({ cwd: user, env: keelEnv(user) });
    // The tables are filled once, from the logs.
    const { conversations } = await host.ask("list_conversations", { timeout_ms: 600_000 });
    await host.close();
    const found = conversations as { id: string }[];
    if (found.length !== sessions) throw new Error(`${found.length} conversations are listed.`);
    // Spread over all of them.
    const opened = Array.from(
      { length: repeats },
      (_, time) => found[Math.floor(((time + 0.5) * sessions) / repeats)],
    );
    return { user, home, ids: opened.map((one) => one?.id ?? "") };
  });
  const what = `${sessions.toLocaleString("en")} conversations`;
  return {
    name: "many conversations",
    floor: {
      name: "the same rows by nothing but SQLite, as JSON",
      run: async () => {
        const { home, user, ids } = await place();
        return (await programs.run<Samples>("floors/list-conversations", { home, cwd: user, ids, repeats }))
          .result;
      },
    },
    keel: {
      name: "keel",
      async run() {
        const { user, home, ids } = await place();
        const host = await startDesktopHost({ cwd: user, env: keelEnv(user) });
        await host.ask("list_conversations", { limit: 1 });
        const samples: Record<string, number[]> = { newest: [], all: [], open: [] };
        for (let time = 0; time < repeats; time++) {
          samples["newest"]?.push(await msOf(() => host.ask("list_conversations", { limit: 100 })));
          samples["all"]?.push(await msOf(() => host.ask("list_conversations")));
          samples["open"]?.push(
            await msOf(() => host.ask("load_conversation", { conversation_id: ids[time] })),
          );
        }
        await host.close();
        const looked = await programs.run<Samples>("programs/search-conversations", { home, repeats });
        return { ...samples, search: Object.values(looked.result).flat() };
      },
    },
    figures: [
      { key: "newest", name: `${what}: the newest 100`, unit: "ms", goal: { kind: "value", most: 50 } },
      { key: "all", name: `${what}: all of them`, unit: "ms" },
      { key: "open", name: `${what}: one is opened`, unit: "ms", goal: { kind: "value", most: 100 } },
      { key: "search", name: `${what}: search`, unit: "ms", goal: { kind: "value", most: 50 } },
    ],
  };
}

/** What one runtime did, seen by another on the same home. */
function changeContest({ folder }: Bench): Contest {
  const run = async (others: number): Promise<Samples> => {
    const user = await folder();
    const model = await startModelServer({ script: { replies: [], otherwise: reply("Heard.") } });
    const env = { ...keelEnv(user), ANTHROPIC_BASE_URL: model.url };
    const doing = await startDesktopHost({ cwd: user, env });
    const seeing = others > 0 ? await startDesktopHost({ cwd: user, env }) : doing;
    const seen: number[] = [];
    for (let message = 1; message <= 5; message++) {
      await doing.ask("user_message", { message: `Word ${message}.` });
      seen.push(
        await msOf(async () => {
          for (;;) {
            const { conversations } = await seeing.ask("list_conversations");
            const [first] = conversations as { message_count: number }[];
            if (first?.message_count === message * 2) return;
            await pause(5);
          }
        }),
      );
    }
    for (const host of new Set([doing, seeing])) await host.close();
    await model.close();
    return { seen };
  };
  return {
    name: "two runtimes",
    floor: { name: "the runtime that did it", run: () => run(0) },
    keel: { name: "another one on the same home", run: () => run(1) },
    figures: [
      {
        key: "seen",
        name: "a message is done until a list has it",
        unit: "ms",
        goal: { kind: "value", most: 1_000 },
      },
    ],
  };
}
