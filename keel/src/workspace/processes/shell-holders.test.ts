import * as fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { holders, noteEnd } from "../../../../test/support/holders.ts";
import { bothGuards, needsGuard } from "../../../../test/support/real-guard.ts";
import { realShell } from "../../../../test/support/real-shell.ts";
import { verifies } from "../../../../test/support/verifies.ts";

describe.each(bothGuards())("a command %s returns although a child holds its output", (name, guard) => {
  const room = realShell(guard);
  beforeEach(() => needsGuard(name, guard));

  test("thirty shapes are tried", () => {
    expect(Object.keys(holders)).toHaveLength(30);
  });

  test.each(Object.entries(holders))("%s", { timeout: 9_000 }, async (_, text) => {
    verifies("G10");
    // As much as the tool keeps.
    const outcome = await room.run(noteEnd(text), { maxBytes: 1_000_000 });
    const delayMs = Date.now() - Number(fs.readFileSync(path.join(room.cwd, "ended"), "utf8"));
    expect(outcome).toMatchObject({ signal: null, timedOut: false });
    expect(outcome.output).toContain("said at the end\n");
    // The child holds it for half a minute. The figure of 500 ms is held by the long suite, on a quiet machine.
    expect(delayMs).toBeLessThan(4_000);
  });

  test("and the child goes on, also when it writes", async () => {
    await room.run("(while :; do echo tick; echo x >> ticks; sleep 0.05; done) & echo started");
    const first = await until(
      () => (fs.existsSync(path.join(room.cwd, "ticks")) ? size("ticks") : 0),
      (now) => now > 0,
    );
    const later = await until(
      () => size("ticks"),
      (now) => now > first + 6,
    );
    expect(later).toBeGreaterThan(first);
  });

  const size = (name: string): number => fs.statSync(path.join(room.cwd, name)).size;
});

async function until(look: () => number, isEnough: (found: number) => boolean): Promise<number> {
  const endsAt = Date.now() + 5_000;
  for (;;) {
    const found = look();
    if (isEnough(found) || Date.now() > endsAt) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
