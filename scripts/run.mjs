// Starts vitest for the other scripts, and collects what its run left behind: the report and the notes.
import { spawn } from "node:child_process";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
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

/** Runs vitest. What a quiet one prints is part of the outcome. */
export async function runVitest(parameters, { env = {}, isQuiet = false } = {}) {
  const notes = await mkdtemp(path.join(tmpdir(), "keel-test-"));
  const report = path.join(notes, "report.json");
  const printed = path.join(notes, "printed");
  const out = isQuiet ? await open(printed, "w") : undefined;
  try {
    const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
    const more = {
      ...env,
      // Many tests start programs in TypeScript: the same sources need not be translated and compiled for each of them.
      NODE_COMPILE_CACHE: path.join(root, "node_modules/.cache/keel-tests"),
      KEEL_TEST_NOTES: notes,
      KEEL_TEST_REPORT: report,
    };
    const stdio = out ? ["ignore", out.fd, out.fd] : "inherit";
    const code = await run(process.execPath, [vitest, "run", ...parameters], more, stdio);
    return {
      code,
      output: await readIfThere(printed, ""),
      report: JSON.parse(await readIfThere(report, "null")),
      notRun: unique((await readIfThere(path.join(notes, "not-run"), "")).split("\n")),
      counts: unique((await readIfThere(path.join(notes, "counts"), "")).split("\n")),
      law: lawIn(await readIfThere(path.join(notes, "requests"), "")),
    };
  } finally {
    await out?.close();
    await rm(notes, { recursive: true, force: true });
  }
}

/** What two runs say together. Of one that left no report nobody knows what it has proven. */
export function join(one, other) {
  return {
    code: one.code || other.code,
    report: one.report && other.report && joinReports(one.report, other.report),
    notRun: unique([...one.notRun, ...other.notRun]),
    counts: unique([...one.counts, ...other.counts]),
    law: {
      requests: one.law.requests + other.law.requests,
      breaks: one.law.breaks + other.law.breaks,
    },
  };
}

function joinReports(one, other) {
  const ids = new Set([...Object.keys(one.citations), ...Object.keys(other.citations)]);
  const cited = (id, state) => [one, other].flatMap(({ citations }) => citations[id]?.[state] ?? []);
  const sum = (count) => one[count] + other[count];
  return {
    at: one.at,
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    citations: Object.fromEntries(
      [...ids].map((id) => [id, { passed: cited(id, "passed"), failed: cited(id, "failed") }]),
    ),
  };
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
