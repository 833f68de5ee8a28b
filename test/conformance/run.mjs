#!/usr/bin/env node
import { fork } from "node:child_process";
/**
 * Runs the scenarios against an SDK:
 *   node run.mjs --sdk <module or package directory> [options]
 * See README.md, or run with --help.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compareExpected } from "./lib/compare.mjs";
import { loadScenarios, resolveSdk, resolveZod } from "./lib/load.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const DRIVER = path.join(HERE, "lib", "drive.mjs");
const DEFAULT_TIME_LIMIT_S = 30;

const USAGE = `usage: node run.mjs --sdk <module or package directory>
  --executable <path>   passed to the SDK as pathToClaudeCodeExecutable
  --only <regex>        only scenarios whose family/name matches
  --scenarios <dir>     a directory with scenarios/ and expected/ (default: this kit)
  --jobs <n>            scenarios at a time (default: 3)
  --reuse               a process takes one scenario after the other, instead of one for each
  --zod <path>          zod, if the SDK does not bring it
  --json                one JSON object per scenario
  --show                print the observed projection of each scenario
  --verbose             also list messages of unknown kinds
  --raw <dir>           keep everything observed, one file per scenario
  --list                list the scenarios and stop`;

const { values: options } = parseArgs({
  options: {
    sdk: { type: "string" },
    executable: { type: "string" },
    only: { type: "string" },
    scenarios: { type: "string", default: HERE },
    jobs: { type: "string", default: "3" },
    reuse: { type: "boolean" },
    zod: { type: "string" },
    json: { type: "boolean" },
    show: { type: "boolean" },
    verbose: { type: "boolean" },
    raw: { type: "string" },
    list: { type: "boolean" },
    help: { type: "boolean" },
  },
});

if (options.help || (!options.sdk && !options.list)) {
  console.log(USAGE);
  process.exit(options.help ? 0 : 2);
}

const filter = new RegExp(options.only ?? "");
const all = await loadScenarios(path.resolve(options.scenarios));
const chosen = all.filter(({ family, name }) => filter.test(`${family}/${name}`));

if (options.list) {
  for (const { family, name, scenario } of chosen) console.log(`${family}/${name}  ${scenario.about}`);
  process.exit(0);
}

const { sdkUrl, from } = resolveSdk(options.sdk);
const zodUrl = resolveZod(options.zod, from);
if (options.raw) fs.mkdirSync(options.raw, { recursive: true });

const counts = { passed: 0, failed: 0, skipped: 0 };
// Slow scenarios first, so that the last ones to run are short.
const queue = [...chosen].sort((a, b) => (b.scenario.seconds ?? 1) - (a.scenario.seconds ?? 1));
await Promise.all(Array.from({ length: Number(options.jobs) }, work));

const summary = `${counts.passed} passed, ${counts.failed} failed`;
console.log(counts.skipped > 0 ? `${summary}, ${counts.skipped} skipped` : summary);
process.exit(counts.failed > 0 ? 1 : 0);

async function work() {
  let driver;
  for (let item = queue.shift(); item; item = queue.shift()) {
    const started = Date.now();
    if (!driver?.usable) driver = startDriver();
    const verdict = item.scenario.skip
      ? { status: "skipped", differences: [item.scenario.skip] }
      : await judge(item, driver);
    counts[verdict.status] += 1;
    print(item, verdict, Date.now() - started);
  }
  driver?.end();
}

async function judge(item, driver) {
  const outcome = await observe(item, driver);
  if (outcome.failure) return { status: "failed", differences: [outcome.failure] };
  const { projection } = outcome;
  if (!fs.existsSync(item.expectedFile))
    return { status: "failed", differences: ["there is no expected file"], projection };
  const expected = JSON.parse(fs.readFileSync(item.expectedFile, "utf8"));
  const { matched, variant, differences } = compareExpected(expected, projection);
  return {
    status: differences.length === 0 ? "passed" : "failed",
    variant: matched ?? variant,
    differences,
    projection,
  };
}

/** A child process that runs scenarios; one that let a scenario down is not asked again. */
function startDriver() {
  const child = fork(DRIVER, { detached: true, stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let stderr = "";
  child.stderr.on("data", (data) => {
    stderr = (stderr + data).slice(-2000);
  });
  const driver = {
    usable: true,
    end() {
      driver.usable = false;
      endGroup(child.pid);
    },
    /** Resolves to what the child tells of the job, or to why it does not. */
    async run(job, limit) {
      const told = Promise.withResolvers();
      const late = () => told.resolve({ failure: `no end within ${limit} s` });
      const exited = (code) => told.resolve({ failure: `the driver exited with code ${code}\n${stderr}` });
      const timer = setTimeout(late, limit * 1000);
      child.once("message", told.resolve);
      child.once("exit", exited);
      child.send(
        job,
        (error) => error && told.resolve({ failure: `the driver is gone: ${error.message}\n${stderr}` }),
      );
      const outcome = await told.promise;
      clearTimeout(timer);
      child.off("message", told.resolve);
      child.off("exit", exited);
      if (outcome.failure) driver.end();
      return outcome;
    },
  };
  return driver;
}

/** Runs one scenario with directories and a time limit of its own. */
async function observe({ name, scenario, scenarioFile }, driver) {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "conformance-")));
  const rawFile = options.raw ? path.resolve(options.raw, `${name}.json`) : undefined;
  const executable = options.executable && path.resolve(options.executable);
  const job = { name, scenarioFile, directory, rawFile, sdkUrl, zodUrl, executable };
  try {
    return await driver.run(job, scenario.timeLimit ?? DEFAULT_TIME_LIMIT_S);
  } finally {
    if (!options.reuse) driver.end();
    fs.rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** The child leads a process group of its own; nothing it started shall outlive it. */
function endGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // already gone
  }
}

function print({ family, name, scenario }, verdict, ms) {
  const { status, variant, differences, projection } = verdict;
  if (options.json) {
    const shown = options.show ? { projection } : {};
    console.log(
      JSON.stringify({
        scenario: name,
        family,
        status,
        variant,
        quirk: Boolean(scenario.quirk),
        ms,
        differences,
        ...shown,
      }),
    );
    return;
  }
  const label = { passed: "ok  ", failed: "FAIL", skipped: "skip" }[status];
  const note = variant && variant !== "expected" ? ` (${variant})` : "";
  console.log(`${label} ${family}/${name}${note} ${ms} ms`);
  if (status !== "passed") {
    for (const difference of differences.slice(0, 8)) console.log(`       ${difference}`);
    if (differences.length > 8) console.log(`       … ${differences.length - 8} more`);
  }
  if (options.verbose && projection?.unknownKinds.length > 0)
    console.log(`       unknown kinds: ${projection.unknownKinds.join(", ")}`);
  if (options.show) console.log(JSON.stringify(projection, null, 2));
}
