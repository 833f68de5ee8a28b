// Runs cases of the corpus of escapes in a sandbox of its own, as whoever starts it, and says what came of each.
import { readdirSync } from "node:fs";
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";
import { confinedGuard } from "../../keel/src/workspace/sandbox/confined-guard.ts";
import { confinementOf } from "../../keel/src/workspace/sandbox/confinement.ts";
import { LocalSandbox } from "../../keel/src/workspace/sandbox/sandbox.ts";
import { processesIn } from "../support/real-shell.ts";
import { type EscapeCase, EscapeWorld } from "./escape-world.ts";

export type EscapeOutcome = {
  readonly id: string;
  /** How it got through; empty where it did not. */
  readonly escaped: readonly string[];
  readonly violations: readonly string[];
  readonly exitCode: number | null;
  readonly output: string;
};

const maxMs = 10_000;

const { base, cases }: { base: string; cases: EscapeCase[] } = JSON.parse(process.argv[2] ?? "");
const world = new EscapeWorld(base);
await world.open();
const env = { PATH: process.env["PATH"] ?? "", HOME: world.home, TMPDIR: world.temporary };
const guard = openProcessGuard({ env });
const sandbox = new LocalSandbox({ env, guard });
const facts = await sandbox.describe();
process.stdout.write(`${JSON.stringify(facts)}\n`);
const confinement = () =>
  confinementOf({
    roots: [world.project],
    home: world.home,
    own: [world.own],
    lent: [],
    named: [],
    allowWrite: [],
    denyWrite: [],
    allowRead: [],
    denyRead: ["private"],
    denies: () => false,
    egress: undefined,
    unixSockets: [],
    nested: "refused",
  });
const inside = confinedGuard(guard, () => sandbox.open(confinement()));
const shell = nodeShell({ env, guard, inside });

if (facts.layer !== "none") {
  world.reset();
  await inside.post();
  const before = world.picture();
  for (const each of cases) {
    world.reset();
    const run = await shell.start({
      text: world.text(each),
      cwd: world.project,
      timeoutMs: maxMs,
      maxBytes: 100_000,
    });
    const outcome = await run.over;
    const said = `${outcome.output}${run.output()}`;
    const escaped = [
      ...(world.picture() === before ? [] : [`changed: ${firstDifference(before, world.picture())}`]),
      ...(said.includes(world.secret) ? ["printed a secret"] : []),
      ...(said.includes(world.canary) ? ["printed the canary"] : []),
      ...(world.calls > 0 ? ["called somebody outside"] : []),
      ...(world.isVictimAlive ? [] : ["killed a process outside"]),
    ];
    const told: EscapeOutcome = {
      id: each.id,
      escaped,
      violations: (outcome.violations ?? []).map(({ kind, target }) => `${kind} ${target}`),
      exitCode: outcome.exitCode,
      output: outcome.output.slice(0, 300),
    };
    process.stdout.write(`${JSON.stringify(told)}\n`);
    await run.left()?.stop();
  }
  // What came late.
  await new Promise((resolve) => setTimeout(resolve, 500));
  if (world.picture() !== before) tellMore("late", [firstDifference(before, world.picture())]);
}
await sandbox.close();
await guard.close();
const survivors = processesIn(world.project);
const left = [
  ...readdirSync(world.temporary),
  ...readdirSync(world.project).filter((name) => [".keel", ".claude", ".mcp.json", ".vscode"].includes(name)),
  ...(survivors.length > 0 ? [`${survivors.length} processes`] : []),
];
if (left.length > 0) tellMore("left", left);
world.close();
process.exit(0);

function tellMore(id: string, escaped: readonly string[]): void {
  const told: EscapeOutcome = { id, escaped, violations: [], exitCode: null, output: "" };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

function firstDifference(before: string, after: string): string {
  const known = new Set(before.split("\n"));
  const gone = new Set(after.split("\n"));
  return (
    [
      ...after.split("\n").filter((line) => !known.has(line)),
      ...before.split("\n").filter((line) => !gone.has(line)),
    ][0] ?? "order"
  );
}
