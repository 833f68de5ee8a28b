// Whatever ends Keel, nothing that it started is left two seconds later: sessions of their own, double forks, those who
// ignore signals, the guard itself.
import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { ProcessEntry } from "../../keel/src/workspace/processes/process-table.ts";
import { atOnce } from "../support/at-once.ts";
import { countOf } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { readProcesses } from "../support/read-processes.ts";
import { verifies } from "../support/verifies.ts";
import { end, familyOf, isEnding, type Kind, kinds, nameOf, start } from "./kinds-of-end.ts";
import { openStage } from "./stage.ts";

const children = [
  "setsid sleep 600 &",
  `(setsid -f bash -c 'trap "" TERM HUP INT; sleep 600; sleep 600')`,
  "nohup sleep 600 > /dev/null 2>&1 &",
  "( (sleep 600 &) & )",
  "(trap '' TERM; sleep 600) &",
];
const waiting = [...children, "trap '' TERM INT", "touch began", "sleep 600; sleep 600"].join("\n");
const returning = [...children, "touch began"].join("\n");

/** For a Keel to start its command on a machine that does much else. */
const patienceMs = 120_000;
/** At once: more would only wait for each other. */
const together = 3;

/** Who started the processes: the session's own command, or that of an agent, with another one in the background. */
type Starter = "session" | "agent";
const ways: readonly { guard: "on" | "off"; starter: Starter }[] = [
  { guard: "on", starter: "session" },
  { guard: "off", starter: "session" },
  { guard: "on", starter: "agent" },
];

describe.each(ways)("with the guard $guard, started by the $starter", ({ guard, starter }) => {
  test("nothing is left after any kind of end", { timeout: 7_200_000 }, async () => {
    verifies("G9");
    if (!existsSync("/proc/self/environ")) return notRunHere("orphans", "no /proc");
    // Off is the way for a few; it is tried once for each kind.
    const count = guard === "on" && starter === "session" ? countOf("kinds-of-end") : 1;
    const wanted = Array.from({ length: count }, () => kinds).flat();
    const families: { kind: Kind; family: ProcessEntry[] }[] = [];
    // One that goes wrong is told at the end; it must not hide what becomes of the others.
    const problems: string[] = [];
    await atOnce(together, wanted, async (kind) => {
      try {
        families.push({ kind, family: await runAndEnd(kind, { guard, starter }) });
      } catch (error) {
        problems.push(String(error));
      }
    });
    await pause(2_000);
    const alive = new Map(
      readProcesses()
        .filter(({ pid }) => !isEnding(pid))
        .map((one) => [one.pid, one.born]),
    );
    const left = families.flatMap(({ kind, family }) =>
      family.filter(({ pid, born }) => alive.get(pid) === born).map(({ pid }) => `${kind}: ${nameOf(pid)}`),
    );
    expect(problems).toEqual([]);
    expect(left).toEqual([]);
    expect(families.every(({ family }) => family.length > children.length)).toBe(true);
  });
});

/** Runs one Keel until its command has started all its children, ends it, and returns who was there. */
async function runAndEnd(
  kind: Kind,
  { guard, starter }: { guard: "on" | "off"; starter: Starter },
): Promise<ProcessEntry[]> {
  const bash = (text: string) => reply(toolUse("Bash", { command: text }));
  const work =
    kind === "normal end"
      ? [bash(returning), bash("until [ -e go ]; do sleep 0.05; done"), reply("Done.")]
      : [bash(waiting)];
  const give = toolUse("Agent", { description: "work", prompt: "Do it.", run_in_background: false });
  // At a normal end Keel waits for what was asked for in the background.
  const beside = toolUse("Bash", { command: "setsid sleep 600", run_in_background: true });
  const first = reply(...(kind === "normal end" ? [give] : [beside, give]));
  const stage = await openStage({
    replies: starter === "session" ? work : [first, ...work, reply("Done above.")],
  });
  const mark = randomUUID();
  const { child, keelPid, err } = start(kind, stage, {
    parameters: ["-p", "go", "--allowed-tools", "Bash", "--output-format", "stream-json"],
    env: { ORPHAN_OF: mark, KEEL_GUARD: guard },
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const began = path.join(stage.project, "began");
  for (let waited = 0; !existsSync(began) && child.exitCode === null && waited < patienceMs; waited += 20)
    await pause(20);
  // Then nothing was tried, and nothing would be proven.
  if (!existsSync(began)) throw new Error(`${kind}: the command did not start: ${err()}`);
  const family = familyOf(await keelPid, mark);
  if (kind === "normal end") writeFileSync(path.join(stage.project, "go"), "");
  end(kind, child, await keelPid);
  await Promise.race([ended, pause(20_000)]);
  return family;
}
