// What a run leaves behind: proof only from tests that passed, and the names of what could not run.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Report } from "../support/requirements-reporter.ts";

const root = path.resolve(import.meta.dirname, "../..");
let notes = "";
beforeAll(async () => {
  notes = mkdtempSync(path.join(tmpdir(), "keel-outcomes-"));
  const fixture = path.join(root, "test/fixtures/outcomes");
  const vitest = [path.join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", fixture];
  const env = { ...process.env, KEEL_TEST_NOTES: notes, KEEL_TEST_REPORT: path.join(notes, "report.json") };
  // It ends with 1: one of its tests fails on purpose.
  await new Promise((resolve) => execFile(process.execPath, vitest, { env }, resolve));
});
afterAll(() => rmSync(notes, { recursive: true, force: true }));

test("a requirement is cited by the outcome of its tests, and a skipped test proves nothing", () => {
  const report: Report = JSON.parse(readFileSync(path.join(notes, "report.json"), "utf8"));
  expect(report).toMatchObject({ passed: 1, failed: 1, skipped: 1 });
  expect(report.citations).toEqual({
    "S0.1": { passed: ["outcomes.fixture.ts: passes"], failed: [] },
    "S0.2": { passed: ["outcomes.fixture.ts: passes"], failed: ["outcomes.fixture.ts: fails"] },
  });
});

test("what cannot run here is named with its reason", () => {
  expect(readFileSync(path.join(notes, "not-run"), "utf8")).toBe("sandbox (bwrap absent)\n");
});
