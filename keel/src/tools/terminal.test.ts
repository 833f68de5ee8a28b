// Real programs on real terminals: an editor, a REPL, a pager, a password prompt; and nothing of them is left.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { notRunHere } from "../../../test/support/not-run.ts";
import { realTools } from "../../../test/support/real-tools.ts";
import { realClock } from "../../../test/support/real-workspace.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { LiveTerminals } from "../ports/live-terminals.ts";
import { openProcessGuard } from "../workspace/processes/process-guard.ts";
import { nodeLiveTerminals } from "../workspace/terminals/live-terminals.ts";
import { terminalTool } from "./terminal.ts";

const tools = realTools({ clock: realClock });
const guard = openProcessGuard({ env: process.env, wish: "off" });
let terminals: LiveTerminals;
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-live-")));
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    LANG: "C.UTF-8",
    PROBE_FOLDER: folder,
    EDITOR: "none",
  };
  terminals = nodeLiveTerminals({ env, guard: async () => guard });
});
afterEach(async () => {
  await terminals.close();
  rmSync(folder, { recursive: true, force: true });
});

const act = (given: object) => tools.call(terminalTool(terminals), given);
const start = async (command: string) => (await act({ action: "start", command })).said;
const send = (text: string, ...keys: string[]) => act({ action: "send", terminal: "terminal-1", text, keys });
const wait = (text: string) => act({ action: "wait", terminal: "terminal-1", text, timeout: 40_000 });
const ended = () => act({ action: "wait", terminal: "terminal-1", timeout: 40_000 });
const patience = { timeout: 120_000 };
const has = (program: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    notRunHere(`a terminal with ${program}`, `${program} is not installed`);
    return false;
  }
};
/** Processes of this test that are still there, by a variable that they all have. */
const left = (): string[] =>
  execFileSync("sh", ["-c", `grep -lz "PROBE_FOLDER=${folder}" /proc/[0-9]*/environ 2>/dev/null || true`])
    .toString()
    .split("\n")
    .filter(Boolean);

describe("real programs", () => {
  test.runIf(has("vi"))("vi: a file is written by keys alone", patience, async () => {
    verifies("P49");
    const file = path.join(folder, "note.txt");
    await start(`vi -u NONE ${file}`);
    await wait("note.txt");
    await send("ihello from the keys");
    expect((await wait("hello from the keys")).said).toContain("whole screen");
    await send("", "Escape");
    await send(":wq", "Enter");
    expect((await ended()).said).toMatch(/has ended \(code 0\)/);
    expect(readFileSync(file, "utf8")).toBe("hello from the keys\n");
  });

  test("a REPL answers, keeps what it knows, and ends when it is told to", patience, async () => {
    await start(`${process.execPath} -i`);
    await wait(">");
    await send("const answer = 6 * 7", "Enter");
    await send("answer + 1", "Enter");
    expect((await wait("43")).said).toMatch(/^It is there/);
    await send(".exit", "Enter");
    expect((await ended()).said).toMatch(/has ended \(code 0\)/);
  });

  test.runIf(has("less"))("a pager is turned page by page, and searched", patience, async () => {
    writeFileSync(
      path.join(folder, "long.txt"),
      Array.from({ length: 500 }, (_, at) => `line ${at}`).join("\n"),
    );
    await start(`less ${path.join(folder, "long.txt")}`);
    const first = (await wait("line 3")).said;
    expect(first).not.toContain("line 40");
    await send(" ");
    expect((await wait("line 40")).said).toMatch(/It is there/);
    await send("/line 444", "Enter");
    expect((await wait("line 444")).said).toMatch(/It is there/);
    await send("q");
    expect((await ended()).said).toMatch(/has ended \(code 0\)/);
  });

  test("a prompt for a password takes what is typed and does not show it", patience, async () => {
    await start(`printf 'Password: '; stty -echo; read -r secret; stty echo; echo; echo "got $\{#secret}"`);
    await wait("Password:");
    await send("correct horse", "Enter");
    expect((await wait("got 13")).said).not.toContain("correct horse");
  });
});

describe("ends", () => {
  test("a terminal that is stopped takes all with it that it started", patience, async () => {
    await start("sh -c 'sleep 300 & sleep 300 & nohup setsid sleep 300 & echo up; wait'");
    await wait("up");
    expect(left().length).toBeGreaterThan(2);
    const stopped = await act({ action: "stop", terminal: "terminal-1" });
    expect(stopped.said).toMatch(/has ended/);
    expect(left()).toEqual([]);
  });

  test(
    "all terminals end with the session, and a wait ends with its time and with the program",
    patience,
    async () => {
      await start("cat");
      expect(
        (await act({ action: "wait", terminal: "terminal-1", text: "never", timeout: 200 })).said,
      ).toMatch(/did not come within 0.2/);
      const waiting = wait("never");
      await terminals.close();
      expect((await waiting).said).toMatch(/It ended, and the text did not come/);
      expect(left()).toEqual([]);
    },
  );

  test("a flood does not fill the memory, and is stopped", patience, async () => {
    await start("yes keel");
    expect((await act({ action: "read", terminal: "terminal-1" })).said.length).toBeLessThan(3_000);
    await send("", "Ctrl-C");
    expect((await ended()).said).toMatch(/has ended \(SIGINT\)/);
  });
});

describe("what it claims and refuses", () => {
  test(
    "a start claims its command; what is typed claims the line as it stands, and that it is typed",
    patience,
    async () => {
      expect((await act({ action: "start", command: "cat" })).claims).toEqual([
        { action: "execute", target: "cat" },
      ]);
      await send("rm -rf ");
      const { claims } = await send("build", "Enter");
      expect(claims.map(({ target }) => target)).toEqual([
        "rm -rf build",
        'type-into terminal-1 "build Enter"',
      ]);
      expect((await act({ action: "read", terminal: "terminal-1" })).claims).toEqual([]);
    },
  );

  test.each([
    [{ action: "start" }, /needs a command/],
    [{ action: "send", terminal: "terminal-9", text: "x" }, /no terminal terminal-9.*There are none/],
    [{ action: "read" }, /no terminal without an id/],
  ])("%j is refused in words", async (given, why) => {
    const { refused, said } = await act(given);
    expect([refused, said]).toEqual([true, expect.stringMatching(why)]);
  });

  test("keys that there are not, and keys of Keel, stay out", patience, async () => {
    await start("cat");
    expect((await send("", "Hyper")).said).toMatch(/no key Hyper/);
    expect(existsSync(folder)).toBe(true);
  });
});
