// The scenarios that any SDK of this interface has to pass, as programs that are not ours would use it: the built package,
// each scenario in a folder and a home of its own. `test/conformance/README.md` says how to read one.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";

const kit = path.resolve(import.meta.dirname, "../conformance");
const sdk = path.resolve(import.meta.dirname, "../../keel");

type Verdict = {
  readonly family: string;
  readonly scenario: string;
  readonly status: "passed" | "failed";
  readonly differences: readonly string[];
};

const families = [
  "agents",
  "context",
  "control",
  "core",
  "details",
  "errors",
  "hooks",
  "limits",
  "lines",
  "mcp",
  "permissions",
  "reference",
  "sessions",
  "tools",
];

async function run(program: string, words: readonly string[]): Promise<string> {
  const options = { maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)(process.execPath, [path.join(kit, program), ...words], options)
    .catch((failed: { stdout: string }) => failed)
    .then(({ stdout }) => stdout);
}

// Processes that live on take them one after the other: to start one for each took ten times as long as all they do.
let verdicts: readonly Verdict[] = [];
beforeAll(async () => {
  const said = await run("run.mjs", ["--sdk", sdk, "--json", "--jobs", "4", "--reuse"]);
  verdicts = said
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Verdict => JSON.parse(line));
}, 600_000);

test.each(families)("the scenarios of %s pass in process", (family) => {
  verifies("S2.10");
  const own = verdicts.filter((verdict) => verdict.family === family);
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter(({ status }) => status !== "passed")).toEqual([]);
});

test("no family is left out", () => {
  expect([...new Set(verdicts.map(({ family }) => family))].sort()).toEqual(families);
});

test("the kit itself tells right from wrong", { timeout: 120_000 }, async () => {
  expect(await run("selftest.mjs", [])).toMatch(/^\d{3,} checks passed$/m);
});
