// Proofs that can fail: each break of the ledger is applied to a copy of the tree, and a test that cites its requirement
// must turn red. `--share I/N` takes a part of them, `-t ID` one.
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Break } from "../ledger/breaks/break.ts";
import { coreBreaks } from "../ledger/breaks/core.ts";
import { outsideBreaks } from "../ledger/breaks/outside.ts";
import { policyBreaks } from "../ledger/breaks/policy.ts";
import { shareOf } from "../support/budget.ts";

const root = path.resolve(import.meta.dirname, "../..");
const breaks = shareOf([...coreBreaks, ...policyBreaks, ...outsideBreaks]);
/** Nothing of the run that we are in. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:GIT|VITEST|KEEL)_/.test(name)),
);
/** What is broken may go on for ever. */
const longestMs = 300_000;
const run = (command: string, words: readonly string[], cwd: string) =>
  promisify(execFile)(command, words, { cwd, env, maxBuffer: 256 * 1024 * 1024, timeout: longestMs });

let copy = "";
beforeAll(async () => {
  copy = await realpath(await mkdtemp(path.join(tmpdir(), "keel-breaks-")));
  const { stdout } = await run("git", ["ls-files", "-co", "--exclude-standard", "-z"], root);
  const files = stdout.split("\0").filter(Boolean);
  for (const folder of new Set(files.map((file) => path.dirname(file))))
    await mkdir(path.join(copy, folder), { recursive: true });
  await Promise.all(files.map((file) => copyFile(path.join(root, file), path.join(copy, file))));
  await symlink(path.join(root, "node_modules"), path.join(copy, "node_modules"));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

describe("a test turns red that cites", () => {
  test.each(breaks)("$id, when $file is broken", async (change) => {
    const file = path.join(copy, change.file);
    const whole = await readFile(file, "utf8");
    expect(whole.split(change.from), "places of the break").toHaveLength(2);
    await writeFile(
      file,
      whole.replace(change.from, () => change.to),
    );
    try {
      const red = await redTests(change);
      expect(red.length, `red tests of ${change.test} that cite ${change.id}`).toBeGreaterThan(0);
    } finally {
      await writeFile(file, whole);
    }
  });
});

type Report = {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly meta?: { readonly verifies?: readonly string[] };
    }[];
  }[];
};

/** The names of tests that cite the requirement and failed. A file that cannot even be loaded proves nothing. */
async function redTests({ id, test: file }: Break): Promise<string[]> {
  const report = path.join(copy, "breaks-report.json");
  await rm(report, { force: true });
  const words = ["run", "--reporter=json", `--outputFile=${report}`, file];
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  // It ends with 1 where a test is red, which is what is wanted.
  await run(process.execPath, [vitest, ...words], copy).catch(() => undefined);
  const { testResults }: Report = JSON.parse(await readFile(report, "utf8"));
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, meta }) => status === "failed" && meta?.verifies?.includes(id))
    .map(({ fullName }) => fullName);
}
