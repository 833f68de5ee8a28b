/** `keel desktop` as a shell starts it, beside `keel runner`, which does the same for one conversation. */
import type { Contest } from "../measure.ts";
import { lineHostRun } from "./runner.ts";
import { openStage, type StartStage } from "./start.ts";
import type { Suite } from "./suite.ts";

export const desktopSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  return { contests: [desktopContest(stage)], close: async () => undefined };
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
