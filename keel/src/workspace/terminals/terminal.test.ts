import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import headless from "@xterm/headless";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { cellsOf, painted, textOf, write } from "../../../../test/support/cells.ts";
import { notRunHere } from "../../../../test/support/not-run.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { TerminalUpdate } from "../../protocol/workspace.ts";
import { openProcessGuard, type ProcessGuard } from "../processes/process-guard.ts";
import { type PtyCommand, startInPty } from "./pty-program.ts";
import { Terminal } from "./terminal.ts";

const env = { PATH: process.env["PATH"], HOME: tmpdir(), LANG: "C.UTF-8" };
const guards: ProcessGuard[] = [];
afterEach(async () => void (await Promise.all(guards.splice(0).map((guard) => guard.close()))));

async function started(file: string, ...args: string[]) {
  return startedWith({}, file, ...args);
}

async function startedWith(more: Partial<PtyCommand>, file: string, ...args: string[]) {
  const guard = openProcessGuard({ env, wish: "off" });
  guards.push(guard);
  const size = { columns: 60, rows: 15 };
  const terminal = new Terminal({ size, changed: () => undefined, drawn: () => undefined });
  const start = () =>
    terminal.start((now, heard) =>
      startInPty({ file, args, cwd: tmpdir(), env, keys: "withheld", ...more, ...now }, { guard, heard }),
    );
  await start();
  onTestFinished(async () => {
    await terminal.end();
    terminal.close();
  });
  return { terminal, restart: start };
}

/** A page: it draws what it is told on a terminal of its own, as fast as it is let. */
function page(
  terminal: Terminal,
  { pauseMs = 0, from = {} }: { pauseMs?: number; from?: { epoch?: string; after?: number } } = {},
) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const { updates, drew } = terminal.watch(from, stop.signal);
  const shown = {
    screens: 0,
    output: 0,
    said: "",
    epoch: "",
    at: 0,
    exit: undefined as TerminalUpdate | undefined,
  };
  let screen = new headless.Terminal({ cols: 60, rows: 15, scrollback: 1_000, allowProposedApi: true });
  const drawing = (async () => {
    for await (const update of updates) {
      if (pauseMs > 0) await pause(pauseMs);
      if (update.kind === "screen") {
        screen.dispose();
        screen = await painted(update);
        shown.screens += 1;
        shown.epoch = update.epoch;
        shown.at = update.at;
      } else if (update.kind === "output") {
        expect(update.at).toBe(shown.at);
        await write(screen, update.text);
        shown.output += update.text.length;
        shown.said = (shown.said + update.text).slice(-100_000);
        shown.at = update.at + Buffer.byteLength(update.text);
      } else if (update.kind === "size") screen.resize(update.columns, update.rows);
      else shown.exit = update;
      drew(shown.at);
    }
  })();
  const until = async (isSo: () => boolean, maxMs = 20_000): Promise<void> => {
    const endsAt = performance.now() + maxMs;
    while (!isSo() && performance.now() < endsAt) await pause(10);
    expect(isSo(), `not within ${maxMs} ms: ${JSON.stringify(shown).slice(-600)}`).toBe(true);
  };
  return { shown, until, cells: () => cellsOf(screen), text: () => textOf(screen), stop, drawing };
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

describe("a terminal", () => {
  test("runs a program, takes keys, answers its questions and tells how it ended", async () => {
    verifies("S3.3");
    const { terminal } = await started(
      "sh",
      "-c",
      "stty size; printf '\\033[6n'; read -r line; echo \"got: $line\"; exit 3",
    );
    const one = page(terminal);
    await one.until(() => one.shown.said.includes("15 60") || one.text().includes("15 60"));
    terminal.type("hello\r");
    await one.until(() => one.shown.exit !== undefined);
    // The answer to the question was typed before the line, by the terminal itself.
    expect(one.text()).toMatch(/got: .*hello/);
    expect(one.shown.exit).toEqual({ kind: "exit", code: 3, signal: null });
    expect(terminal.exit).toEqual({ code: 3, signal: null });
    expect(terminal.type("x")).toBe(false);
  });

  test("tells a signal by its name, and starts anew under another epoch", async () => {
    const { terminal, restart } = await started("sh", "-c", "kill -USR1 $$");
    const one = page(terminal);
    await one.until(() => one.shown.exit !== undefined);
    expect(one.shown.exit).toMatchObject({ signal: "SIGUSR1" });
    const { epoch } = one.shown;
    one.shown.exit = undefined;
    await restart();
    await one.until(() => one.shown.epoch !== epoch && one.shown.exit !== undefined);
  });

  test("changes its size for the program and for all who look on", async () => {
    const { terminal } = await started(
      "sh",
      "-c",
      "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done",
    );
    const one = page(terminal);
    await one.until(() => one.text().includes("ready"));
    terminal.resize({ columns: 100, rows: 30 });
    await one.until(() => one.text().includes("30 100"));
    expect(one.cells()).toHaveLength(31);
    const late = page(terminal);
    await late.until(() => late.shown.screens === 1);
    expect(late.cells()).toEqual(one.cells());
  });

  test("goes on after a position that is still kept, and paints the screen for any other", async () => {
    verifies("S3.3");
    const { terminal } = await started("cat");
    const one = page(terminal);
    terminal.type("one\r");
    await one.until(() => one.text().includes("one"));
    await pause(100);
    one.stop.abort();
    await one.drawing;
    terminal.type("two\r");
    await pause(100);
    const back = page(terminal, { from: { epoch: one.shown.epoch, after: one.shown.at } });
    back.shown.at = one.shown.at;
    await back.until(() => back.shown.said.includes("two"));
    expect(back.shown).toMatchObject({ screens: 0 });
    expect(back.shown.said).not.toContain("one");
    for (const from of [
      { epoch: "another", after: 0 },
      { epoch: one.shown.epoch, after: 10_000 },
    ]) {
      const other = page(terminal, { from });
      await other.until(() => other.shown.screens === 1);
      expect(other.text()).toContain("one");
    }
  });

  test("sees the person's environment without the keys of the harness, except where they are wanted", async () => {
    verifies("S3.3");
    const keys = { ...env, ANTHROPIC_API_KEY: "secret-key", MINE: "mine" };
    const command = ["-c", 'echo "[$ANTHROPIC_API_KEY|$MINE|$TERM]"'] as const;
    const shows = async (wanted: "own" | "withheld") => {
      const { terminal } = await startedWith({ env: keys, keys: wanted }, "sh", ...command);
      const one = page(terminal);
      await one.until(() => one.shown.exit !== undefined);
      return one.text();
    };
    expect(await shows("withheld")).toContain("[|mine|xterm-256color]");
    expect(await shows("own")).toContain("[secret-key|mine|xterm-256color]");
  });
});

describe("a flood", () => {
  test("is drawn by a fast page while a slow one sees screens, and ends with Ctrl-C", async () => {
    verifies("S3.3", "S3.20");
    const before = process.memoryUsage().rss;
    const { terminal } = await started("sh", "-c", "trap : INT; yes 0123456789abcdef; echo stopped");
    const fast = page(terminal);
    const slow = page(terminal, { pauseMs: 400 });
    const asleep = terminal.watch({}, new AbortController().signal).updates[Symbol.asyncIterator]();
    await asleep.next();
    await fast.until(() => fast.shown.output > 3_000_000);
    await slow.until(() => slow.shown.screens >= 2);
    terminal.type("\u0003");
    await fast.until(() => fast.text().includes("stopped"));
    // It had every byte: no screen but the first was needed.
    expect(fast.shown.screens).toBe(1);
    await slow.until(() => slow.text().includes("stopped"), 30_000);
    expect(slow.cells()).toEqual(fast.cells());
    expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(200);
  });

  test("is not sent on to a page that never says what it has drawn", async () => {
    verifies("S3.20");
    const { terminal } = await started("sh", "-c", "yes 0123456789abcdef");
    const stop = new AbortController();
    let taken = 0;
    const taking = (async () => {
      for await (const update of terminal.watch({}, stop.signal).updates)
        taken += update.kind === "output" ? update.text.length : 0;
    })();
    const drawing = page(terminal);
    await drawing.until(() => drawing.shown.output > 2_000_000);
    stop.abort();
    await taking;
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThanOrEqual(64 * 1024 + 16 * 1024);
  });

  test("goes on when the only page does not draw", async () => {
    const { terminal } = await started("sh", "-c", "yes | head -c 8000000 | tail -c 20; echo; echo done");
    const asleep = terminal.watch({}, new AbortController().signal).updates[Symbol.asyncIterator]();
    await asleep.next();
    const late = page(terminal);
    await late.until(() => late.text().includes("done"));
  });
});

describe("the end of a terminal", () => {
  test("takes along what ignores every signal that can be ignored, and what has left its session", async () => {
    verifies("S3.3");
    const folder = mkdtempSync(path.join(tmpdir(), "keel-pty-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const pids = path.join(folder, "pids");
    const stubborn = `trap '' HUP INT TERM QUIT; echo $$ >> ${pids}; while :; do sleep 0.1; done`;
    const { terminal } = await started(
      "bash",
      "-c",
      `setsid bash -c "${stubborn.replaceAll("$", "\\$")}" & ${stubborn}`,
    );
    const one = page(terminal);
    await one.until(() => existsSync(pids) && readFileSync(pids, "utf8").trim().split("\n").length === 2);
    const found = readFileSync(pids, "utf8").trim().split("\n").map(Number);
    expect(found.map(isAlive)).toEqual([true, true]);
    await terminal.end();
    expect(found.map(isAlive)).toEqual([false, false]);
    await one.until(() => one.shown.exit !== undefined);
    expect(one.shown.exit).toMatchObject({ signal: "SIGKILL" });
  });

  test("leaves nothing of what a program started in the background", async () => {
    const { terminal } = await started("sh", "-c", "sleep 300 & echo pid:$!");
    const one = page(terminal);
    await one.until(() => one.shown.exit !== undefined);
    const pid = Number(/pid:(\d+)/.exec(one.text())?.[1]);
    await one.until(() => !isAlive(pid), 3_000);
  });
});

const has = (program: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/** Programs that paint: what is typed, and what they show when they have drawn it. */
const painters: Readonly<Record<string, { command: readonly string[]; keys: readonly string[] }>> = {
  vim: {
    command: ["vim", "-u", "NONE", "-N", "-c", "set number showmode"],
    keys: ["ihello\rworld 漢字\u001b", "yyp", ":set list\r", "\u0006", "Gokk\u001bgg"],
  },
  less: { command: ["less", "/etc/services"], keys: [" ", "/tcp\r", "n", "G", "b"] },
  top: { command: ["top", "-d", "0.3"], keys: ["1", "m", "t"] },
  nano: { command: ["nano"], keys: ["some text\r", "more", "\u0007", "\u0018"] },
  bash: {
    command: ["bash", "--norc"],
    keys: [
      "for i in $(seq 40); do echo line $i; done\r",
      "printf '\\e[31mred\\e[0m %80s|\\n' x\r",
      "tput smcup; echo other\r",
    ],
  },
  tmux: {
    command: ["tmux", "-L", `keel-test-${process.pid}`, "-f", "/dev/null", "new"],
    keys: ["echo one\r", "\u0002%", "echo two\r", '\u0002"'],
  },
};

describe("a late page shows, cell for cell, what one shows that never left", () => {
  test.each(Object.entries(painters))("%s", async (name, { command: [file = "", ...args], keys }) => {
    verifies("S3.3");
    if (!has(name)) return notRunHere("terminal programs", `${name} absent`);
    const { terminal } = await started(file, ...args);
    const stayed = page(terminal);
    await stayed.until(() => stayed.shown.at > 0);
    for (const typed of keys) {
      await pause(150);
      terminal.type(typed);
      await pause(150);
      const late = page(terminal);
      // Both have drawn as far as the other: a program may go on drawing meanwhile.
      await late.until(() => late.shown.screens === 1 && late.shown.at === stayed.shown.at);
      expect(late.cells()).toEqual(stayed.cells());
      late.stop.abort();
    }
  });
});
