import { execFileSync } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { pathsOf } from "./paths.ts";
import { readUserSettings } from "./user-settings.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "keel-settings-"));
});

describe("where things live", () => {
  test("KEEL_HOME wins, a relative one is meant from the working folder, and otherwise it is ~/.keel", () => {
    expect(pathsOf({ env: { KEEL_HOME: "/k" }, cwd: "/w" }).home).toBe("/k");
    expect(pathsOf({ env: { KEEL_HOME: "here" }, cwd: "/w" }).home).toBe("/w/here");
    expect(pathsOf({ env: { KEEL_HOME: " ", HOME: "/home/ada" }, cwd: "/w" }).home).toBe("/home/ada/.keel");
    expect(pathsOf({ env: { KEEL_HOME: "/k" }, cwd: "/w", home: "/given" }).settings).toBe(
      "/given/settings.json",
    );
  });
});

describe("the user's settings", () => {
  test("a missing file is an empty one", async () => {
    expect(await readUserSettings(path.join(folder, "none.json"))).toEqual({ settings: {}, faults: [] });
  });

  test("a wrong value is named and left out; the others stay in force", async () => {
    const file = await written({ model: "sonnet", fallbackModels: "haiku", permissions: { deny: ["Bash"] } });
    const { settings, faults } = await readUserSettings(file);
    expect(settings).toEqual({ model: "sonnet", permissions: { deny: ["Bash"] } });
    expect(faults.map(({ code, message }) => `${code} ${message}`)).toEqual([
      expect.stringMatching(/^settings_invalid .*fallbackModels/),
    ]);
  });

  test("an unknown name is told, and names of the prototype are no settings", async () => {
    const { settings, faults } = await readUserSettings(
      await written({ modle: "x", constructor: 1, model: "opus" }),
    );
    expect(settings).toEqual({ model: "opus" });
    expect(faults[0]?.message).toContain("nothing is called modle, constructor");
  });

  test.each([["{"], ["[]"], ["null"], [""]])(
    "a file with %j is refused with a sentence, and the start goes on",
    async (text) => {
      const file = path.join(folder, "broken.json");
      await writeFile(file, text);
      const { settings, faults } = await readUserSettings(file);
      expect(settings).toEqual({});
      expect(faults).toHaveLength(1);
      expect(faults[0]?.exitCode).toBe(78);
    },
  );

  test("a pipe in its place does not hang", async () => {
    const pipe = path.join(folder, "pipe.json");
    execFileSync("mkfifo", [pipe]);
    const { faults } = await readUserSettings(pipe);
    expect(faults[0]?.message).toContain("not a plain file");
  });

  test("a file that is too long is not read", async () => {
    const { settings, faults } = await readUserSettings(
      await written({ model: "x".repeat(3 * 1024 * 1024) }),
    );
    expect(settings).toEqual({});
    expect(faults[0]?.message).toContain("longer than");
  });
});

async function written(value: unknown): Promise<string> {
  const file = path.join(folder, `settings-${Math.random()}.json`);
  await writeFile(file, JSON.stringify(value));
  return file;
}
