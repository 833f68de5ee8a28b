// Starts vitest for the other scripts, and collects what its run left behind: the report and the notes.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** Runs a program in the repository with our streams; resolves to its exit code, 1 when a signal ended it. */
export function run(command, parameters, env = {}, stdio = "inherit") {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, {
      cwd: root,
      stdio,
      env: { ...process.env, ...env },
    });
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/**
 * Runs vitest. `reportTo`, a path inside the repository, is where the reporter writes which requirements
 * a passing test has proven; without it the report is read and thrown away.
 */
export async function runVitest(parameters, { env = {}, reportTo } = {}) {
  const notes = await mkdtemp(path.join(tmpdir(), "keel-test-"));
  const report = reportTo ? path.join(root, reportTo) : path.join(notes, "report.json");
  await mkdir(path.dirname(report), { recursive: true });
  await rm(report, { force: true });
  try {
    const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
    const code = await run(process.execPath, [vitest, "run", ...parameters], {
      ...env,
      // Many tests start programs in TypeScript: the same sources need not be translated and compiled for each of them.
      NODE_COMPILE_CACHE: path.join(root, "node_modules/.cache/keel-tests"),
      KEEL_TEST_NOTES: notes,
      KEEL_TEST_REPORT: report,
    });
    return {
      code,
      report: JSON.parse(await readIfThere(report, "null")),
      notRun: unique((await readIfThere(path.join(notes, "not-run"), "")).split("\n")),
      counts: unique((await readIfThere(path.join(notes, "counts"), "")).split("\n")),
      law: lawIn(await readIfThere(path.join(notes, "requests"), "")),
    };
  } finally {
    await rm(notes, { recursive: true, force: true });
  }
}

/** The closing lines of a run: first the counts, alone on their line, last what could not run on this machine. */
export function printClosing({ report, notRun, law }) {
  if (report) console.log(`${report.passed} passed, ${report.failed} failed`);
  if (law.requests > 0)
    console.log(`request law: ${law.requests} requests checked, ${law.breaks} undeclared breaks`);
  console.log(`not run here: ${notRun.length > 0 ? notRun.join(", ") : "nothing"}`);
}

async function readIfThere(file, otherwise) {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return otherwise;
    throw error;
  }
}

/** Each file of tests leaves a line: how many requests the request law has seen, and how many broke it. */
function lawIn(text) {
  const rows = text.split("\n").map((line) => line.split(" ").map(Number));
  const sum = (column) => rows.reduce((total, row) => total + (row[column] ?? 0), 0);
  return { requests: sum(0), breaks: sum(1) };
}

function unique(lines) {
  return [...new Set(lines.filter((line) => line !== ""))].sort();
}
