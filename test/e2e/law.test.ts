import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");

test("a test that breaks the request law and does not notice fails all the same, with the block", () => {
  // Its break is meant: it must not be counted among those of this run.
  const { KEEL_TEST_NOTES: _, ...env } = process.env;
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const run = spawnSync(
    process.execPath,
    [vitest, "run", "--config", "test/fixtures/law/vitest.config.ts", "--no-color"],
    { cwd: root, encoding: "utf8", timeout: 60_000, env },
  );
  expect(run.status, run.stderr).toBe(1);
  expect(run.stdout + run.stderr).toMatch(
    /breaks the prefix at block 0 \(system 1\): .*10:01.* became .*10:02.*, and no boundary was declared/,
  );
});
