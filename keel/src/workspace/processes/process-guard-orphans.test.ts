import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { notRunHere } from "../../../../test/support/not-run.ts";
import { killAllIn, plainEnvironment, processesIn } from "../../../../test/support/real-shell.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { GuardFacts, GuardMode } from "./process-guard.ts";

const child = path.resolve(import.meta.dirname, "../../../../test/support/guard-child.ts");
const stubborn = [
  "sleep 600",
  "trap '' TERM HUP INT; sleep 600 & setsid sleep 600 & wait",
  "(setsid -f bash -c 'trap \"\" HUP TERM; sleep 600; sleep 600'); nohup sleep 600 >/dev/null 2>&1 & echo left",
];
const nobody = 65534;
const me = process.getuid?.() ?? nobody;

test("whatever a killed process started is gone within two seconds, also without its environment", async () => {
  verifies("G9");
  const { facts, cwd } = await killOne({ wish: "on", commands: [...stubborn, "env -i setsid -f sleep 600"] });
  if (facts.kind !== "namespace") return notRunHere("the namespace guard", facts.why ?? "");
  expect(await survivors(cwd)).toEqual([]);
});

test("a command that has stopped itself leaves nobody who waits for it", async () => {
  verifies("G9");
  if (me !== 0) return notRunHere("a doorkeeper bound to Keel's life", "not root");
  const { facts, cwd } = await killOne({
    wish: "on",
    commands: ["kill -STOP $$", "kill -STOP $$", "sleep 600"],
  });
  if (facts.kind !== "namespace") return notRunHere("the namespace guard", facts.why ?? "");
  expect(await survivors(cwd)).toEqual([]);
});

test("the same is true for an ordinary user", async () => {
  verifies("G9");
  if (me !== 0) return notRunHere("an ordinary user beside this one", "not root");
  const { facts, cwd } = await killOne({ wish: "on", commands: stubborn, uid: nobody });
  if (facts.kind !== "namespace") return notRunHere("the namespace guard of a user", facts.why ?? "");
  expect(await survivors(cwd)).toEqual([]);
});

test("without a namespace a sweep finds what carries the mark", async () => {
  verifies("G9");
  const { facts, cwd } = await killOne({ wish: "off", commands: stubborn });
  expect(facts.kind).toBe("sweep");
  expect(await survivors(cwd)).toEqual([]);
});

async function killOne(start: {
  wish: GuardMode;
  commands: readonly string[];
  uid?: number;
}): Promise<{ facts: GuardFacts; cwd: string }> {
  const { wish, commands, uid = me } = start;
  const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-orphans-")));
  chmodSync(cwd, 0o777);
  const running = spawn(process.execPath, [child, wish, cwd, ...commands], {
    cwd,
    uid,
    env: plainEnvironment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    killAllIn(cwd);
    rmSync(cwd, { recursive: true, force: true });
  });
  const line = await new Promise<string>((resolve) =>
    running.stdout.once("data", (bytes: Buffer) => resolve(bytes.toString())),
  );
  await untilCount(cwd, (count) => count >= commands.length + 4);
  running.kill("SIGKILL");
  return { facts: JSON.parse(line), cwd };
}

async function survivors(cwd: string): Promise<number[]> {
  await untilCount(cwd, (count) => count === 0, 2_000);
  return processesIn(cwd);
}

async function untilCount(cwd: string, isIt: (count: number) => boolean, ms = 5_000): Promise<void> {
  const endsAt = performance.now() + ms;
  while (!isIt(processesIn(cwd).length) && performance.now() < endsAt) await pause(20);
}
