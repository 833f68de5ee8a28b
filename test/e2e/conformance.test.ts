// The scenarios that any SDK of this interface has to pass, as a program that is not ours would use it: the built
// package, each scenario in a process, a folder and a home of its own. `test/conformance/README.md` says how to read one.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
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

test.each(families)("the scenarios of %s pass in process", { timeout: 300_000 }, async (family) => {
  verifies("S2.10");
  const said = await run("run.mjs", ["--sdk", sdk, "--only", `^${family}/`, "--json", "--jobs", "2"]);
  const verdicts = said
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Verdict => JSON.parse(line));
  expect(verdicts.length).toBeGreaterThan(0);
  expect(verdicts.filter(({ status }) => status !== "passed")).toEqual([]);
});

test("the kit itself tells right from wrong", { timeout: 120_000 }, async () => {
  expect(await run("selftest.mjs", [])).toMatch(/^\d{3,} checks passed$/m);
});
