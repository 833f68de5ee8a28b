import * as fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { bothGuards, needsGuard } from "../../../test/real-guard.ts";
import { realShell } from "../../../test/real-shell.ts";
import { verifies } from "../../../test/verifies.ts";

describe.each(bothGuards())("a command %s returns although a child holds its output", (name, guard) => {
  const room = realShell(guard);
  beforeEach(() => needsGuard(name, guard));

  const holders: Record<string, string> = {
    "a background child": "sleep 30 &",
    "a background child with nohup": "nohup sleep 30 &",
    "a disowned child": "sleep 30 & disown",
    "a child of a subshell": "(sleep 30 &)",
    "a grandchild of subshells": "( (sleep 30 &) & )",
    "a child with its own session": "setsid sleep 30 &",
    "a forked session": "setsid -f sleep 30",
    "a forked session with nohup": "setsid nohup sleep 30 &",
    "a double fork": "bash -c 'bash -c \"sleep 30 &\" &'",
    "a holder of standard output only": "sleep 30 2>/dev/null &",
    "a holder of standard error only": "sleep 30 >/dev/null &",
    "a holder of a copied descriptor": "sleep 30 5>&1 >/dev/null 2>&1 &",
    "a silent loop": "while :; do sleep 1; done &",
    "a talking loop": "while :; do echo tick; sleep 0.05; done &",
    "a talking loop on standard error": "while :; do echo tick >&2; sleep 0.05; done &",
    "an endless writer": "yes &",
    "a pipeline": "sleep 30 | cat &",
    "the end of a pipeline": "(sleep 30; echo late) | cat &",
    "a process substitution": "sleep 30 > >(cat) &",
    "a coprocess": "coproc sleep 30",
    "a child that ignores SIGTERM": "(trap '' TERM; sleep 30) &",
    "a child that ignores SIGHUP": "(trap '' HUP; sleep 30) &",
    "a stopped child": "sleep 30 & kill -STOP $!",
    "five children": "for i in 1 2 3 4 5; do sleep 30 & done",
    "a reader of the input": "(cat; sleep 30) <&0 &",
    "a server":
      "perl -MIO::Socket -e '$s=IO::Socket::INET->new(Listen=>1,LocalAddr=>\"127.0.0.1\");sleep 30' &",
    "a child in a group of its own": "set -m; sleep 30 &",
    "a child that exec left": "sleep 30 & exec true",
    "a child of a function": "f() { sleep 30 & }; f",
    "a child of a trap": "trap 'sleep 30 &' EXIT; true",
  };

  test("thirty shapes are tried", () => {
    expect(Object.keys(holders)).toHaveLength(30);
  });

  test.each(Object.entries(holders))("%s", { timeout: 6_000 }, async (_, text) => {
    verifies("G10");
    const { command, endedAt } = timed(text);
    const outcome = await room.run(command);
    const delayMs = Date.now() - endedAt();
    expect(outcome).toMatchObject({ signal: null, timedOut: false });
    expect(outcome.output).toContain("said at the end\n");
    expect(delayMs).toBeLessThan(500);
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

  /** The command notes when its main process is about to end, so that only the time after that is measured. */
  function timed(text: string): { command: string; endedAt: () => number } {
    const note = "echo said at the end; date +%s%3N > ended";
    const end = text.includes("exec true") ? text.replace("exec", `${note}; exec`) : `${text}\n${note}`;
    return { command: end, endedAt: () => Number(fs.readFileSync(path.join(room.cwd, "ended"), "utf8")) };
  }
});

async function until(look: () => number, isEnough: (found: number) => boolean): Promise<number> {
  const endsAt = Date.now() + 5_000;
  for (;;) {
    const found = look();
    if (isEnough(found) || Date.now() > endsAt) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
