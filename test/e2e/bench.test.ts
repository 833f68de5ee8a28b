// The benchmark runs, and no figure of it stands without its floor. What the figures are is not asserted: a busy
// machine is not a defect.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Report } from "../../bench/report.ts";

const program = path.resolve(import.meta.dirname, "../../bench/run.ts");
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "keel-bench-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every suite runs to its end, and every figure has its floor", async () => {
  const file = path.join(folder, "report.json");
  const chart = path.join(folder, "chart.svg");
  const ended = await bench("--smoke", "--json", file, "--chart", chart);
  expect(ended).toMatchObject({ code: 0 });
  const report: Report = JSON.parse(readFileSync(file, "utf8"));
  expect(report.meaningful).toBe(false);
  expect(report.suites.map(({ suite }) => suite)).toEqual([
    "acp",
    "console",
    "desktop",
    "engine",
    "fleet",
    "long",
    "memory",
    "policy",
    "resume",
    "runner",
    "sandbox",
    "sdk",
    "server",
    "start",
    "store",
    "terminal",
    "time",
    "tools",
    "turns",
    "view",
  ]);
  const results = report.suites.flatMap((suite) => suite.results);
  expect(results.length).toBeGreaterThan(10);
  for (const { figure, keel, floor, ratio } of results) {
    expect([figure, Number.isFinite(keel.median), Number.isFinite(floor.median)]).toEqual([
      figure,
      true,
      true,
    ]);
    const expected = keel.median / floor.median;
    // Where the floor is nothing there is no ratio, which JSON writes as null.
    expect([figure, ratio]).toEqual([figure, Number.isFinite(expected) ? expected : null]);
    expect(floor.name).not.toBe("");
    expect(ended.stdout).toContain(figure);
  }
  expect(report.grounds.length).toBeGreaterThan(0);
  expect(readFileSync(chart, "utf8")).toMatch(/^<svg [\s\S]*gap per turn[\s\S]*<\/svg>\n$/);
}, 480_000);

test("a suite that does not exist is named, with the exit code for wrong use", async () => {
  const ended = await bench("nothing");
  expect(ended).toMatchObject({ code: 64, stdout: "" });
  expect(ended.stderr).toContain("there is no suite nothing");
});

function bench(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });
}
