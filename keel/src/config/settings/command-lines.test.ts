import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandWords, filesNamed, waysTo } from "./command-lines.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-lines-")));
  mkdirSync(path.join(root, "tools/my dir"), { recursive: true });
  mkdirSync(path.join(root, "server"));
  for (const file of ["check.sh", "tools/h.py", "tools/my dir/x.sh", "README.md"])
    writeFileSync(path.join(root, file), "");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function named(command: string, args?: readonly string[]): string[] {
  const value = args ? { command, args } : { hooks: [{ type: "command", command }] };
  const words = commandWords({ path: args ? ["mcpServers", "x"] : ["hooks", "Stop"], value });
  return filesNamed(words, { bases: [root], home: "/nowhere", project: root }).map((file) =>
    path.relative(root, file),
  );
}

describe("the files that a command line names", () => {
  test.each([
    ["./check.sh", ["check.sh"]],
    ["sh check.sh --fast", ["check.sh"]],
    ["python tools/h.py && exit 2", ["tools/h.py"]],
    ['"$CLAUDE_PROJECT_DIR"/tools/h.py', ["tools/h.py"]],
    ["bash ${KEEL_PROJECT_DIR}/check.sh", ["check.sh"]],
    ["sh 'tools/my dir/x.sh'", ["tools/my dir/x.sh"]],
    ["bash -c './check.sh | cat'", ["check.sh"]],
    ["x --config=./check.sh", ["check.sh"]],
    ["./tools/not-there-yet.sh", ["tools/not-there-yet.sh"]],
    ["node server", ["server"]],
    ["ls server", []],
    ["git status", []],
    ["curl https://x.org/check.sh", []],
  ])("%s", (command, files) => {
    // What a quoted text could name beside it does no harm.
    expect(named(command)).toEqual(files.length === 0 ? [] : expect.arrayContaining(files));
  });

  test("are those of a server's arguments too", () => {
    expect(named("python3", ["-u", "tools/h.py"])).toEqual(["tools/h.py"]);
  });

  test("are known by every link on the way", () => {
    symlinkSync("tools", path.join(root, "link"));
    expect(waysTo(path.join(root, "link/h.py")).map((way) => path.relative(root, way))).toEqual([
      "link/h.py",
      "tools/h.py",
      "link",
    ]);
  });
});
