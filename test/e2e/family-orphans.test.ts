// Whatever ends Keel, nothing of a whole family is left two seconds later: a command of an agent that is waited for, an
// agent in the background with a shell of its own, a shell of the session itself, and an MCP server that will not end.
import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { atOnce } from "../support/at-once.ts";
import { countOf } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { readProcesses } from "../support/read-processes.ts";
import { verifies } from "../support/verifies.ts";
import { end, environmentOf, familyOf, isEnding, type Kind, kinds, nameOf, start } from "./kinds-of-end.ts";
import { openStage } from "./stage.ts";

const fixture = path.resolve(import.meta.dirname, "../fixtures/stubborn-server.mjs");
/** For a Keel to start all of them, and to end in good order, on a machine that does much else. */
const patienceMs = 120_000;
/** At once: while one waits its two seconds, others work. */
const together = 3;

/** Each touches its file once its processes are there. */
const members = ["front", "back", "back-shell", "shell", "server"] as const;
type Member = (typeof members)[number];
const beganFile = (member: Member): string => `began-${member}`;

/** Sessions of their own, double forks, and those who ignore signals. */
const children = [
  "setsid sleep 600 &",
  `(setsid -f bash -c 'trap "" TERM HUP INT; sleep 600; sleep 600')`,
  "( (sleep 600 &) & )",
];

/** At a normal end everybody has done its work and leaves its children behind; otherwise nobody ever has. */
const commandOf = (member: Member, kind: Kind): string =>
  [
    ...children,
    "trap '' TERM INT",
    `touch ${beganFile(member)}`,
    kind === "normal end" ? "until [ -e go ]; do sleep 0.05; done" : "sleep 600; sleep 600",
  ].join("\n");

/** Keel, the guard, the server with its children, and four commands with theirs. */
const fewestProcesses = 2 + 3 + 4 * (children.length + 1);

const prompts = { front: "PART-IN-FRONT", back: "PART-BEHIND" };

/** The session gives the work away, each agent does its part: told apart by what they were asked first. */
function answer(kind: Kind, { messages }: { messages?: unknown }): Reply {
  const all = Array.isArray(messages) ? messages : [];
  const asked = JSON.stringify(all[0]);
  const turns = Math.floor(all.length / 2);
  const bash = (member: Member, more: Record<string, boolean> = {}) =>
    toolUse("Bash", { command: commandOf(member, kind), ...more });
  const agent = (prompt: string, isBehind: boolean) =>
    toolUse("Agent", { description: "a part", prompt, run_in_background: isBehind });
  const behind = { run_in_background: true };
  if (asked.includes(prompts.front)) return reply(turns === 0 ? bash("front") : "Done in front.");
  if (!asked.includes(prompts.back)) {
    const parts = [bash("shell", behind), agent(prompts.back, true), agent(prompts.front, false)];
    return turns === 0 ? reply(...parts) : reply("Done.");
  }
  const steps = [toolUse("mcp__stubborn__go"), bash("back-shell", behind), bash("back")];
  return reply(steps[turns] ?? "Done behind.");
}

test("nothing of a whole family is left after any kind of end", { timeout: 7_200_000 }, async () => {
  verifies("G9", "S4.55");
  if (!existsSync("/proc/self/environ")) return notRunHere("orphans", "no /proc");
  const wanted = Array.from({ length: countOf("kinds-of-end-of-families") }, () => kinds).flat();
  // One that goes wrong is told at the end; it must not hide what becomes of the others.
  const problems: string[] = [];
  const slowestMs = new Map<Kind, number>();
  await atOnce(together, wanted, async (kind) => {
    try {
      const { left, ms } = await runAndEnd(kind);
      problems.push(...left);
      slowestMs.set(kind, Math.max(ms, slowestMs.get(kind) ?? 0));
    } catch (error) {
      problems.push(`${kind}: ${String(error)}`);
    }
  });
  const slowest = [...slowestMs].map(([kind, ms]) => `${kind} ${Math.round(ms)} ms`);
  process.stderr.write(`families: the slowest end of each kind: ${slowest.join(", ")}\n`);
  expect(problems).toEqual([]);
});

/** Runs one Keel until everybody is there, ends it, and says who is left two seconds after its end. */
async function runAndEnd(kind: Kind): Promise<{ left: string[]; ms: number }> {
  const stage = await openStage((body) => answer(kind, body));
  const inProject = (name: string): string => path.join(stage.project, name);
  const servers = {
    mcpServers: {
      stubborn: { command: process.execPath, args: [fixture, inProject(beganFile("server"))] },
    },
  };
  const tools = ["--allowed-tools", "Bash,mcp__stubborn__go", "--mcp-config", JSON.stringify(servers)];
  const mark = `ORPHAN_OF=${randomUUID()}`;
  const { child, keelPid, err } = start(kind, stage, {
    parameters: ["-p", "go", ...tools, "--output-format", "stream-json"],
    env: { ORPHAN_OF: mark.slice("ORPHAN_OF=".length) },
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const missing = (): Member[] => members.filter((member) => !existsSync(inProject(beganFile(member))));
  for (let waited = 0; missing().length > 0 && child.exitCode === null && waited < patienceMs; waited += 20)
    await pause(20);
  // Then nothing was tried, and nothing would be proven.
  if (missing().length > 0) throw new Error(`${missing().join()} did not start: ${err()}`);
  const family = familyOf(await keelPid, mark.slice("ORPHAN_OF=".length));
  if (family.length < fewestProcesses)
    throw new Error(`only ${family.length} processes: ${family.map(({ pid }) => nameOf(pid)).join("; ")}`);
  const endedAt = performance.now();
  if (kind === "normal end") writeFileSync(inProject("go"), "");
  end(kind, child, await keelPid);
  // A Keel that has not ended by then is one of those who are left.
  await Promise.race([ended, pause(patienceMs)]);
  const ms = performance.now() - endedAt;
  await pause(2_000);
  const born = new Map(family.map((one) => [one.pid, one.born]));
  const isOfFamily = ({ pid, born: at }: { pid: number; born: unknown }): boolean =>
    born.get(pid) === at || environmentOf(pid).includes(mark);
  const left = readProcesses().filter((one) => isOfFamily(one) && !isEnding(one.pid));
  return { left: left.map(({ pid }) => `${kind}: ${nameOf(pid)}`), ms };
}
