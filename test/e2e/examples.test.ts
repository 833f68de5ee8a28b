// Every example is a whole program that checks itself: it runs against the built package and ends well.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const folder = path.join(import.meta.dirname, "../../examples");
const programs = readdirSync(folder).filter((name) => name.endsWith(".ts") && name !== "scripted.ts");

describe("the example", () => {
  test("programs are those that the guide promises", () => {
    expect(programs).toEqual([
      "chat.ts",
      "custom-tools.ts",
      "hooks.ts",
      "hundred-sessions.ts",
      "permissions.ts",
      "resume-and-fork.ts",
      "structured-output.ts",
      "watch-sessions.ts",
    ]);
  });

  test.each(programs)("%s runs and holds what it says", async (name) => {
    const env = { PATH: process.env["PATH"], HOME: "/nonexistent" };
    const run = promisify(execFile)(process.execPath, [path.join(folder, name)], { env, timeout: 50_000 });
    await expect(run).resolves.toBeDefined();
  });
});
