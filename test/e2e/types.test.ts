// The types that were built: programs of users compile against them, strictly and without the source.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const root = path.join(import.meta.dirname, "../..");

describe("the built types", () => {
  test("fit a program that uses every public name", async () => {
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const project = path.join(root, "test/types/tsconfig.json");
    const run = promisify(execFile)(process.execPath, [tsc, "--noEmit", "-p", project], { cwd: root });
    const { stdout } = await run.catch((failed: { stdout: string }) => failed);
    expect(stdout).toBe("");
  });
});
