// `keel rehearse`: a whole session for somebody without a key, on any machine.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { notRunHere } from "../support/not-run.ts";
import { keel } from "./command.ts";
import { openStage, until } from "./stage.ts";
import { hasTerminal, startOnTerminal } from "./terminal.ts";

test("without a terminal it answers its one question itself and says so", async () => {
  const stage = await openStage({ replies: [] });
  const env = { HOME: stage.project, ANTHROPIC_API_KEY: "sk-canary-77aa", HTTP_PROXY: "http://127.0.0.1:9" };
  const ended = await keel(["rehearse", "--keep"], { env, cwd: stage.project });
  const folder = tidyUp(ended.stdout);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  for (const part of [
    "rehearsal",
    '-  return "Helo, "',
    '+  return "Hello, "',
    '"Yes, once" itself',
    "node check.js",
    "The greeting is right.",
    "Cost: ",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
  ]) {
    expect(ended.stdout).toContain(part);
  }
  expect(readFileSync(path.join(folder, "project/greeting.js"), "utf8")).toContain("Hello, ");
  const log = /^Log: (.*)$/m.exec(ended.stdout)?.[1] ?? "";
  expect(readFileSync(log, "utf8")).toContain('"session.closed"');
  // Nothing of the user's was touched, and the user's key went nowhere.
  expect(readdirSync(stage.project)).toEqual([]);
  expect(ended.stdout + readFileSync(log, "utf8")).not.toContain("canary");
});

test("it leaves no folder behind, and shows its log instead", async () => {
  const stage = await openStage({ replies: [] });
  const temporary = path.join(stage.home, "temporary");
  mkdirSync(temporary, { recursive: true });
  const env = { HOME: stage.project, TMPDIR: temporary };
  const ended = await keel(["rehearse"], { env, cwd: stage.project });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(temporary)).toEqual([]);
  expect(ended.stdout).toMatch(/^ {2}session\.opened, .*tool\.finished, .*session\.closed$/m);
  expect(ended.stdout).not.toContain("KEEL_HOME=");
});

test("the way that it names to read the log again works", async () => {
  const stage = await openStage({ replies: [] });
  const ended = await keel(["rehearse", "--keep"], { env: { HOME: stage.project }, cwd: stage.project });
  tidyUp(ended.stdout);
  const [, home = "", own = "", id = ""] =
    /KEEL_HOME=(\S+) (\S*keel) sessions show (\S+)/.exec(ended.stdout) ?? [];
  // The command by its name only where that is on the path.
  expect(own === "keel" || existsSync(own)).toBe(true);
  const shown = await keel(["sessions", "show", id], { env: { HOME: stage.project, KEEL_HOME: home } });
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain("Please mend the greeting");
});

test("on a terminal it is played on the screen, and the person answers", async () => {
  if (!hasTerminal()) return notRunHere("the rehearsal on a terminal", "script of util-linux absent");
  const stage = await openStage({ replies: [] });
  const temporary = path.join(stage.home, "temporary");
  mkdirSync(temporary, { recursive: true });
  const env = { HOME: stage.project, TMPDIR: temporary };
  const running = startOnTerminal(["rehearse"], { project: stage.project, env });
  await until("the tour", () => running.out().includes("This is a rehearsal"));
  await until("the input", () => running.out().includes("The check fails"));
  running.child.stdin?.write("\r");
  await until("the question", () => running.out().includes("Run a command?"));
  // What is pressed before a question could be read is no answer to it.
  await pause(1_200);
  running.child.stdin?.write("n");
  await until("the words", () => running.out().includes("What should it do instead"));
  running.child.stdin?.write("\r");
  await until("the end of the script", () => running.out().includes("My script ends here."));
  running.child.stdin?.write("\u0004");
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
  expect(ended.stdout).toContain("node check.js");
  expect(ended.stdout).not.toContain("The greeting is right.");
  expect(ended.stdout).not.toContain("itself.");
});

test("--model rehearsal answers a prompt in a temporary folder and leaves nothing there", async () => {
  const stage = await openStage({ replies: [] });
  const ended = await stage.run(["-p", "anything", "--model", "rehearsal", "--output-format", "json"], {
    env: { TMPDIR: stage.project },
  });
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({ subtype: "success" });
  expect(readdirSync(stage.project)).toEqual([]);
  expect(existsSync(stage.home)).toBe(false);
  expect((await stage.run(["-p", "x", "--continue", "--model", "rehearsal"])).code).toBe(64);
});

/** The folder stays for the person; a test takes it away. */
function tidyUp(output: string): string {
  const folder = path.dirname(/^Folder: (.*?)\r?$/m.exec(output)?.[1] ?? "/nowhere/x");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
