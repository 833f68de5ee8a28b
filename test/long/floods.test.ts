// Floods: output without end, processes without end, children that hold on. The figures are those of G10, G11, G12, G20.
import { readFileSync } from "node:fs";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { floodAndStop } from "../support/flood.ts";
import { holders, noteEnd } from "../support/holders.ts";
import { bothGuards, needsGuard } from "../support/real-guard.ts";
import { killAllIn, plainEnvironment, realShell } from "../support/real-shell.ts";
import { verifies } from "../support/verifies.ts";

const megabyte = 1_000_000;

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
    const ended = await floodAndStop(text, { maxProcesses: 900, growMs: 2_000 });
    if (ended) expect(ended.stoppedMs).toBeLessThan(5_000);
  });
});
