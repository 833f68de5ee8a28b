// Three projects: `unit` needs no build and stays quick; `e2e` runs the built command, and so does `waiting`, whose tests
// wait more than they work: for browsers, screens, deadlines and what a kill leaves behind. They have a worker of their own
// beside the others (scripts/test.mjs), and the only browser.
import { availableParallelism } from "node:os";
import path from "node:path";
import { defineConfig } from "vitest/config";

/** Modules keep no state (AGENTS.md), so that files may share them: loading them anew for each cost more than the tests. */
const isolate = false;

/** So that a plain `npm test` repeats itself. */
const resolve = {
  alias: { "fast-check": path.join(import.meta.dirname, "test/support/seeded-fast-check.ts") },
};

const waiting = [
  "test/e2e/{browser,browser-*,console-views,extensions,tutorial,acp-worker}.test.ts",
  "test/e2e/{screen,screen-*}.test.ts",
  "test/e2e/{acp-faults,diagnostics,family-orphans,kept-folder,long-run,mcp-bad-servers,orphans}.test.ts",
  "test/e2e/{server-attacks,server-life,ssh,worker-faults}.test.ts",
  "test/e2e/{groups,group-*,outside,served-print}.test.ts",
  "test/kits.test.ts",
];

export default defineConfig({
  test: {
    // All of them: by default one stays idle, which on two is half of the machine.
    maxWorkers: availableParallelism(),
    reporters: ["default", "./test/support/requirements-reporter.ts"],
    coverage: {
      provider: "v8",
      include: ["keel/src/**/*.ts"],
      exclude: ["**/*.test.ts"],
      reportsDirectory: "coverage",
    },
    projects: [
      {
        resolve,
        test: {
          name: "unit",
          isolate,
          setupFiles: ["./test/support/setup-law.ts"],
          include: [
            "keel/src/**/*.test.ts",
            "web/src/**/*.test.ts",
            "bench/*.test.ts",
            "test/*.test.ts",
            "test/corpus/*.test.ts",
            "test/sdk/{surface,guide}.test.ts",
          ],
          exclude: ["**/node_modules/**", ...waiting],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        test: {
          name: "e2e",
          isolate,
          setupFiles: ["./test/support/setup-law.ts"],
          include: ["test/e2e/**/*.test.ts", "test/sdk/*.test.ts"],
          exclude: ["test/sdk/{surface,guide}.test.ts", "**/node_modules/**", ...waiting],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        test: {
          name: "waiting",
          isolate,
          globalSetup: ["./test/support/browser-door.ts"],
          setupFiles: ["./test/support/setup-law.ts"],
          include: waiting,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        test: {
          name: "long",
          globalSetup: ["./test/support/browser-door.ts"],
          setupFiles: ["./test/support/setup-law.ts"],
          include: ["test/long/**/*.test.ts"],
          testTimeout: 3_600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
