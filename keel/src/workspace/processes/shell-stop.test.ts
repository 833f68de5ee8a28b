import { beforeEach, describe, expect, test } from "vitest";
import { bothGuards, needsGuard } from "../../../../test/support/real-guard.ts";
import { plainEnvironment, realShell } from "../../../../test/support/real-shell.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ShellOutcome } from "../../ports/shell.ts";
import { nodeShell } from "./shell.ts";

describe.each(bothGuards())("a command %s that has to be stopped", (name, guard) => {
  const room = realShell(guard);
  beforeEach(() => needsGuard(name, guard));

  test("is ended at its deadline, told as such, with what it wrote until then", async () => {
    const outcome = await room.run("echo before; sleep 30; echo after", { timeoutMs: 150 });
    expect(outcome).toMatchObject({
      timedOut: true,
      interrupted: false,
      signal: "SIGTERM",
      output: "before\n",
    });
    expect(room.processes()).toEqual([]);
  });

  test("may tidy up after the deadline, and then its own exit code counts", async () => {
    const outcome = await room.run("trap 'sleep 0.3; echo tidy; exit 3' TERM; sleep 30 & wait", {
      timeoutMs: 150,
    });
    expect(outcome).toMatchObject({ timedOut: true, exitCode: 3, output: "tidy\n" });
  });

  test.each([
    ["an obedient command", "sleep 30"],
    ["one that ignores SIGTERM", "trap '' TERM INT HUP; sleep 30; sleep 30"],
    ["one whose children ignore SIGTERM", "(trap '' TERM; sleep 30; sleep 30) & wait"],
    ["one with children in other sessions", "setsid sleep 30 & (setsid -f sleep 31); sleep 30"],
    ["one whose children cleared their environment", "env -i setsid sleep 30 & sleep 30"],
    [
      "one with a double fork that ignores SIGTERM",
      "(trap '' TERM; setsid -f bash -c 'sleep 30; sleep 30'); sleep 30",
    ],
    ["an endless writer", "yes"],
    ["a stopped one", "kill -STOP $$; sleep 30"],
  ])("%s is gone soon after an interrupt", { timeout: 6_000 }, async (_, text) => {
    verifies("G13");
    const controller = new AbortController();
    let interruptedAt = 0;
    setTimeout(() => {
      interruptedAt = performance.now();
      controller.abort();
    }, 100);
    const outcome = await room.run(text, { signal: controller.signal });
    expect(outcome.interrupted).toBe(true);
    expect(performance.now() - interruptedAt).toBeLessThan(1_500);
    expect(room.processes()).toEqual([]);
  });

  test("is ended when nobody reads its output any more", async () => {
    const shell = nodeShell({ env: plainEnvironment, guard });
    const running = shell.run(
      { text: "echo hello; sleep 30", cwd: room.cwd, timeoutMs: 9_000, maxBytes: 1_000 },
      new AbortController().signal,
    );
    await running.next();
    await running.return({} as ShellOutcome);
    expect(room.processes()).toEqual([]);
  });

  test("takes only its own family with it", async () => {
    await room.run("sleep 30 & echo left behind");
    const before = room.processes();
    await room.run("sleep 31", { timeoutMs: 100 });
    expect(room.processes()).toEqual(before);
    expect(before).toHaveLength(1);
  });
});
