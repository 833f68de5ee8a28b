import * as fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { globTool } from "./glob.ts";

const room = realTools();
const glob = (pattern: string, more: { path?: string } = {}) => room.call(globTool, { pattern, ...more });
const age = (name: string, seconds: number): void => {
  const time = Date.now() / 1_000 - seconds;
  fs.utimesSync(path.join(room.cwd, name), time, time);
};

describe("Glob finds", () => {
  test("files by their pattern, the newest first, and says so as words, as a list and as data", async () => {
    verifies("S4.9", "S4.83");
    room.put("src/a.ts", "");
    room.put("src/deep/b.ts", "");
    room.put("c.md", "");
    age("src/deep/b.ts", 100);
    const call = await glob("src/**/*.ts");
    expect(call.said).toBe("src/a.ts\nsrc/deep/b.ts");
    expect(call.claims).toEqual([{ action: "read", target: path.join(room.cwd, "src") }]);
    expect(call.display).toEqual({ kind: "files", paths: ["src/a.ts", "src/deep/b.ts"], truncated: false });
    expect(call.data).toEqual({
      durationMs: 0,
      numFiles: 2,
      filenames: ["src/a.ts", "src/deep/b.ts"],
      truncated: false,
      totalMatches: 2,
      countIsComplete: true,
    });
  });

  test("in another directory, and shows paths from the working directory on", async () => {
    room.put("src/deep/b.ts", "");
    expect((await glob("*.ts", { path: "src/deep" })).said).toBe("src/deep/b.ts");
    expect((await glob("deep/*.ts", { path: path.join(room.cwd, "src") })).said).toBe("src/deep/b.ts");
    expect((await glob(`${room.cwd}/src/**`)).said).toBe("src/deep/b.ts");
  });

  test("at most a hundred, and says how many there are", async () => {
    verifies("S4.83");
    for (let index = 0; index < 120; index++) room.put(`f${index}.txt`, "");
    const call = await glob("*.txt");
    expect(call.data).toMatchObject({ numFiles: 100, truncated: true, totalMatches: 120 });
    expect(call.said).toMatch(/\n\n\(The newest 100 of 120 files\. Narrow the pattern/);
  });

  test("nothing, and says what it did not look at", async () => {
    expect((await glob("*.nothing")).said).toContain("No files found. (Links and files that ignore files");
  });

  test("odd names, which cannot pass for others", async () => {
    room.put("a\nb.txt", "");
    room.put("\u202etxt.exe", "");
    expect((await glob("*")).data).toMatchObject({
      filenames: expect.arrayContaining(['"a\\nb.txt"', '"\\u202etxt.exe"']),
    });
  });
});

describe("Glob says what is wrong, before anyone is asked,", () => {
  test.each([
    ["", {}, "The pattern is empty."],
    ["a/*/../b", {}, '".." may only stand at the start'],
    ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", {}, "more than 1000 alternatives"],
    ["*", { path: "nowhere" }, "No such directory: nowhere."],
    ["nowhere/*.ts", {}, "No such directory: nowhere."],
    ["*", { path: "file.txt" }, "file.txt is not a directory. To see a file use Read."],
    ["*", { path: "a\0b" }, "The path holds a NUL byte."],
    ["~/x/*", {}, '"~" is not expanded'],
  ])("with %j in %j", async (pattern, more, why) => {
    verifies("S4.83");
    room.put("file.txt", "");
    expect(await glob(pattern, more)).toMatchObject({ refused: true, said: expect.stringContaining(why) });
  });
});

test("Glob claims the directory outside that it would list, and tells nothing of it before", async () => {
  verifies("G32");
  expect((await glob("../**")).claims).toEqual([{ action: "read", target: path.dirname(room.cwd) }]);
  const missing = await glob("/no/such/place/*");
  expect(missing).toMatchObject({ refused: false, failed: true });
  expect(missing.claims).toEqual([{ action: "read", target: "/no/such/place" }]);
});

test("Glob keeps to the directory that was allowed", async () => {
  verifies("G32");
  room.put("src/a.ts", "");
  room.put("other/secret.ts", "");
  const call = await room.call(
    globTool,
    { pattern: "src/*" },
    {
      between: () => {
        fs.rmSync(path.join(room.cwd, "src"), { recursive: true });
        fs.symlinkSync("other", path.join(room.cwd, "src"));
      },
    },
  );
  expect(call).toMatchObject({ failed: true, said: expect.stringContaining("leads somewhere else") });
});

describe("Glob refuses what cannot be meant", () => {
  test.each([
    ["[", "a [ that is not closed"],
    ["src/[a-z/b].ts", "a [ that is not closed"],
    ["*.{ts,js", "a { that is not closed"],
    ["a\0b", "a NUL"],
    ["*\0", "a NUL"],
  ])("%j, with a sentence", async (pattern, why) => {
    room.put("src/a.ts", "");
    const call = await glob(pattern);
    expect(call.failed).toBe(true);
    expect(call.said).toContain(why);
  });

  test("a folder with a NUL in its name too", async () => {
    const call = await glob("*", { path: "a\0b" });
    expect(call.failed).toBe(true);
  });

  test("and takes a bracket that is closed, or escaped, as it is", async () => {
    room.put("pages/[id].tsx", "");
    expect((await glob("pages/\\[id\\].tsx")).said).toBe("pages/[id].tsx");
    expect((await glob("pages/[[]*")).said).toBe("pages/[id].tsx");
  });
});
