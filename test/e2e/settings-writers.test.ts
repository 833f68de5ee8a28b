// G6 with real processes: eight writers of one settings file, readers beside them, and kill -9. No reader ever meets
// half a file, and no change that was reported as saved is lost.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { countsIn } from "../settings/counts.ts";
import { randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";

const folder = path.resolve(import.meta.dirname, "../settings");
const writers = ["A", "B", "C", "D", "E", "F", "G", "H"];
/** How many updates of a writer there are for each kill. */
const updatesPerKill = 5;

type Child = ChildProcessByStdio<Writable, Readable, null>;

const children: Child[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

test("eight writers, two readers and kill -9: 0 torn reads, 0 lost updates", {
  timeout: 3_000_000,
}, async () => {
  verifies("G6");
  const count = countOf("settings-writers");
  const random = randomOf(seed());
  const home = mkdtempSync(path.join(tmpdir(), "keel-writers-"));
  const file = path.join(home, "settings.json");
  mkdirSync(path.join(home, "run"));
  writeFileSync(file, '{\n  // counted by many\n  "env": {}\n}\n');
  const readers = [0, 1].map(() => start("reader-child.ts", [file]));

  const saved = new Map<string, number>();
  const killed = new Map<string, number>();
  const isDone = new Set<string>();
  const begin = (name: string) => {
    const child = start("writer-child.ts", [home, name, String(count - (saved.get(name) ?? 0))]);
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "done") isDone.add(name);
      else saved.set(name, (saved.get(name) ?? 0) + 1);
    });
    return child;
  };
  const running = new Map(writers.map((name) => [name, begin(name)]));

  let kills = Math.ceil(count / updatesPerKill);
  while (isDone.size < writers.length) {
    await sleep(20 + random.below(150));
    const victims = writers.filter((name) => !isDone.has(name));
    if (victims.length === 0) break;
    const name = random.pick(victims);
    const child = running.get(name);
    if (!child || (kills === 0 && child.exitCode === null && child.signalCode === null)) continue;
    if (kills > 0 && (saved.get(name) ?? 0) > 0) {
      kills -= 1;
      killed.set(name, (killed.get(name) ?? 0) + 1);
      await end(child);
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      expect(child.signalCode, `seed ${seed()}: ${name} failed by itself`).toBe("SIGKILL");
      if (!isDone.has(name)) running.set(name, begin(name));
    }
  }

  expect(killed.size, "writers that were killed").toBeGreaterThan(0);
  const found = await Promise.all(readers.map(finished));
  const text = readFileSync(file, "utf8");
  const { ALL, ...own } = await countsIn(text);
  expect(ALL, `seed ${seed()}`).toBe(Object.values(own).reduce((sum, one) => sum + one, 0));
  for (const name of writers) {
    // Each kill may have come between a save and its report; what was reported is there in any case.
    const most = count + (killed.get(name) ?? 0);
    expect(saved.get(name), `seed ${seed()}: ${name}`).toBe(count);
    expect(own[name], `seed ${seed()}: ${name}`).toBeGreaterThanOrEqual(count);
    expect(own[name], `seed ${seed()}: ${name}`).toBeLessThanOrEqual(most);
  }
  for (const { reads, wrong } of found) {
    expect(reads).toBeGreaterThan(count);
    expect(wrong, `seed ${seed()}`).toBe(0);
  }
  expect(text).toContain("// counted by many");
  expect(readdirSync(home).toSorted()).toEqual(["run", "settings.json"]);
  rmSync(home, { recursive: true });
});

function start(script: string, parameters: readonly string[]): Child {
  const child = spawn(process.execPath, [path.join(folder, script), ...parameters], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  return child;
}

async function end(child: Child): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

async function finished(child: Child): Promise<{ reads: number; wrong: number }> {
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const closed = once(child, "close");
  child.stdin.end();
  await closed;
  return JSON.parse(Buffer.concat(chunks).toString());
}
