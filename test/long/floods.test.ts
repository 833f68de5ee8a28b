// Floods: output without end, processes without end, children that hold on. The figures are those of G10, G11, G12, G20.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { holders, noteEnd } from "../support/holders.ts";
import { notRunHere } from "../support/not-run.ts";
import { bothGuards, needsGuard } from "../support/real-guard.ts";
import { killAllIn, plainEnvironment, processesIn, realShell } from "../support/real-shell.ts";
import { verifies } from "../support/verifies.ts";

const megabyte = 1_000_000;
const nobody = 65534;

describe("output without end", () => {
  const room = realShell(openProcessGuard({ env: plainEnvironment }));

  test.each([
    ["yes for thirty seconds", "echo head; timeout 30 yes; echo tail", 50_000_000],
    ["ten gigabytes through a pipe", "echo head; head -c 10G /dev/zero | cat; echo tail", 9_900_000_000],
    ["binary noise", "echo head; head -c 2G /dev/urandom; echo tail", 1_900_000_000],
  ])("%s: bounded memory, and the loop stays responsive", async (_, text, minOmitted) => {
    verifies("G11", "G20");
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 100);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const outcome = await room.run(text, { timeoutMs: 600_000, maxBytes: megabyte, chunks: "dropped" });
    delay.disable();
    clearInterval(watch);
    expect(outcome).toMatchObject({ exitCode: 0, timedOut: false });
    expect(outcome.output.startsWith("head\n")).toBe(true);
    expect(outcome.output.endsWith("tail\n")).toBe(true);
    expect(outcome.omittedBytes).toBeGreaterThan(minOmitted);
    expect((most - before) / megabyte).toBeLessThan(64);
    expect(delay.percentile(99) / 1e6).toBeLessThan(50);
  });
});

describe.each(bothGuards())("a child that holds the output, %s", (name, guard) => {
  const room = realShell(guard);

  test("keeps no command longer than half a second, in any of thirty shapes", async () => {
    verifies("G10");
    await needsGuard(name, guard);
    for (const [shape, text] of Object.entries(holders)) {
      await room.run(noteEnd(text));
      const endedAt = Number(readFileSync(path.join(room.cwd, "ended"), "utf8"));
      expect(Date.now() - endedAt, shape).toBeLessThan(500);
      // What one shape leaves behind must not slow the next.
      killAllIn(room.cwd);
    }
  });
});

describe("processes without end", () => {
  test.each([
    ["five hundred sleeping children", "for i in $(seq 500); do sleep 600 & done; wait"],
    ["children who ignore SIGTERM", "trap '' TERM; for i in $(seq 300); do sleep 600 & done; wait"],
    ["children in sessions of their own", "for i in $(seq 200); do setsid sleep 600 & done; wait"],
    ["a loop of forks, capped", "bomb() { bomb | bomb & }; bomb; sleep 600"],
    [
      "a chain of forks, capped",
      "next() { sleep 0.01; (next) & }; for i in $(seq 50); do next & done; sleep 600",
    ],
  ])("%s are ended within five seconds, and the next command works", async (_, text) => {
    verifies("G12");
    if (process.getuid?.() !== 0)
      return notRunHere("process floods", "only root may run them as another user");
    const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-flood-")));
    chmodSync(cwd, 0o777);
    onTestFinished(() => {
      killAllIn(cwd);
      rmSync(cwd, { recursive: true, force: true });
    });
    // An ordinary user, since no limit of processes holds for root; and a namespace, so that all of it can be ended.
    const child = path.resolve(import.meta.dirname, "../support/flood-child.ts");
    const limited = `ulimit -u 900; ${text}`;
    const { stdout } = await promisify(execFile)(process.execPath, [child, cwd, limited], {
      cwd,
      uid: nobody,
      gid: nobody,
      env: { ...plainEnvironment },
      timeout: 60_000,
    });
    const told = JSON.parse(stdout);
    if (told.kind !== "namespace") return notRunHere("process floods", "no namespace for an ordinary user");
    expect(told).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^fine\n/) });
    expect(told.stoppedMs).toBeLessThan(5_000);
    // The guard itself dies with the process that it guards, a moment later.
    await expect.poll(() => processesIn(cwd), { timeout: 2_000 }).toEqual([]);
  });
});
