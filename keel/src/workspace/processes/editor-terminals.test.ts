// Commands in the terminals of an editor, which is a stand-in here: its terminals are real processes of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ShellOutcome, ShellRun } from "../../ports/shell.ts";
import type { EditorTerminals, TerminalExit } from "./editor-terminals.ts";
import { withTerminals } from "./editor-terminals.ts";
import { nodeShell } from "./shell.ts";

type Made = { readonly child: ChildProcess; readonly args: readonly string[]; isReleased: boolean };

function editor(settle: { ending?: "told" | "never"; makes?: "terminals" | "none" } = {}) {
  const { ending = "told", makes = "terminals" } = settle;
  const made: Made[] = [];
  const terminals: EditorTerminals = {
    create: async ({ command, args, cwd, env }) => {
      if (makes === "none") return undefined;
      const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, detached: true });
      const one: Made = { child, args, isReleased: false };
      made.push(one);
      let text = "";
      const hear = (chunk: Buffer): void => {
        text += chunk.toString("utf8");
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      const exited = new Promise<TerminalExit>((resolve) => {
        child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
      });
      onTestFinished(() => void kill(child));
      return {
        id: `terminal-${made.length}`,
        output: async () => ({ text, truncated: false }),
        ended: ending === "told" ? exited : new Promise(() => undefined),
        kill: async () => kill(child),
        release: () => {
          one.isReleased = true;
        },
      };
    },
  };
  return { made, terminals };
}

function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

function place() {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-terminals-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function start(
  given: { text: string; cwd: string; timeoutMs?: number; terminal?: "welcome" },
  { terminals }: { terminals: EditorTerminals },
  host: Record<string, string> = {},
): Promise<ShellRun> {
  const env = { PATH: process.env["PATH"], HOME: given.cwd, ...host };
  const shell = withTerminals(nodeShell({ env }), { terminals, env, hostEnv: { ...process.env, ...host } });
  return shell.start({
    timeoutMs: 20_000,
    maxBytes: 100_000,
    endFolder: "asked",
    terminal: "welcome",
    ...given,
  });
}

async function outcomeOf(run: ShellRun): Promise<ShellOutcome> {
  return await run.over;
}

test("a command that is welcome there runs in the editor's terminal: its words, its end and its folder come back", async () => {
  const { made, ...at } = editor();
  const cwd = place();
  const run = await start(
    { text: "mkdir below && cd below && printf 'a\\033[31mb\\033[0m\\r\\nc\\n'; exit 3", cwd },
    at,
  );
  expect(run.terminal).toBe("terminal-1");
  expect(await outcomeOf(run)).toEqual({
    exitCode: 3,
    signal: null,
    timedOut: false,
    interrupted: false,
    output: "ab\nc\n",
    omittedBytes: 0,
    endFolder: path.join(cwd, "below"),
  });
  expect(made).toHaveLength(1);
  expect(made[0]?.isReleased).toBe(true);
});

test("what the editor's own environment has and no command may see is empty there", async () => {
  const at = editor();
  const run = await start({ text: 'printf "[%s][%s]" "$ANTHROPIC_API_KEY" "$CDPATH"', cwd: place() }, at, {
    ANTHROPIC_API_KEY: "sk-secret",
    CDPATH: "/somewhere",
  });
  expect((await outcomeOf(run)).output).toBe("[][]");
});

test("where the environment has what can only be taken away, and where no terminal is made, our own shell runs it", async () => {
  const cwd = place();
  const unhelped = editor();
  const first = await start({ text: "echo own", cwd }, unhelped, { POSIXLY_CORRECT: "1" });
  expect([(await outcomeOf(first)).output, first.terminal, unhelped.made.length]).toEqual([
    "own\n",
    undefined,
    0,
  ]);
  const second = await start({ text: "echo own", cwd }, editor({ makes: "none" }));
  expect([(await outcomeOf(second)).output, second.terminal]).toEqual(["own\n", undefined]);
});

test("what is not welcome there stays with us", async () => {
  const { made, terminals } = editor();
  const env = { PATH: process.env["PATH"] };
  const shell = withTerminals(nodeShell({ env }), { terminals, env, hostEnv: env });
  const run = await shell.start({ text: "echo own", cwd: place(), timeoutMs: 20_000, maxBytes: 1_000 });
  expect((await outcomeOf(run)).output).toBe("own\n");
  expect(made).toEqual([]);
});

test("a command that is stopped is killed by the editor, and one that takes too long too", async () => {
  const cwd = place();
  const { made, ...at } = editor();
  const stopped = await start({ text: "echo begun; sleep 60", cwd }, at);
  for await (const chunk of stopped.follow()) if (chunk.text.includes("begun")) break;
  await stopped.stop();
  expect(await outcomeOf(stopped)).toMatchObject({ interrupted: true, signal: "SIGKILL", output: "begun\n" });
  const late = await start({ text: "sleep 60", cwd, timeoutMs: 50 }, at);
  expect(await outcomeOf(late)).toMatchObject({ timedOut: true, interrupted: false });
  expect(made.every(({ isReleased }) => isReleased)).toBe(true);
});

test("an editor that never says how a command ended is not waited for once it is stopped", async () => {
  const run = await start({ text: "sleep 60", cwd: place() }, editor({ ending: "never" }));
  await run.stop();
  expect(await outcomeOf(run)).toMatchObject({ interrupted: true, exitCode: null });
});
