/**
 * `npm run bench -- [SUITE …] [--rounds N] [--json FILE] [--chart FILE] [--only CONTEST …] [--smoke] [--large]
 * [--profile FOLDER]`:
 * measures Keel beside the least code that could do the same work, in one run, and prints medians, p90 and ratios.
 * `--large`: also what takes too long for each time, such as a search in a gigabyte of logs. `--only` names the contests of a suite that are meant, and may be said several times. With `--from FILE`
 * nothing is measured: what an earlier run wrote as JSON is printed, and drawn where a chart is asked for. With
 * `--against FOLDER`, another built tree, the two are measured in turn and set beside each other.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { measureAgainst, sayAgainst } from "./against.ts";
import { chartOf } from "./chart.ts";
import { type Counts, fullCounts, largeCounts, smokeCounts } from "./counts.ts";
import { bareStarts, machineGrounds } from "./grounds.ts";
import { describeMachine, loadNow } from "./machine.ts";
import { measure, median } from "./measure.ts";
import { bundlePrograms } from "./processes.ts";
import { printReport, type Report } from "./report.ts";
import { acpSuite } from "./suites/acp.ts";
import { consoleSuite } from "./suites/console.ts";
import { desktopSuite } from "./suites/desktop.ts";
import { engineSuite } from "./suites/engine.ts";
import { fleetSuite } from "./suites/fleet.ts";
import { longSuite } from "./suites/long.ts";
import { memorySuite } from "./suites/memory.ts";
import { policySuite } from "./suites/policy.ts";
import { runnerSuite } from "./suites/runner.ts";
import { sandboxSuite } from "./suites/sandbox.ts";
import { sdkSuite } from "./suites/sdk.ts";
import { serverSuite } from "./suites/server.ts";
import { resumeSuite, startSuite } from "./suites/start.ts";
import { storeSuite } from "./suites/store.ts";
import type { Bench, Suite } from "./suites/suite.ts";
import { terminalSuite } from "./suites/terminal.ts";
import { timeSuite } from "./suites/time.ts";
import { toolsSuite } from "./suites/tools.ts";
import { turnsSuite } from "./suites/turns.ts";
import { viewSuite } from "./suites/view.ts";

const suites: Readonly<Record<string, Suite>> = {
  acp: acpSuite,
  console: consoleSuite,
  desktop: desktopSuite,
  engine: engineSuite,
  fleet: fleetSuite,
  long: longSuite,
  memory: memorySuite,
  policy: policySuite,
  resume: resumeSuite,
  runner: runnerSuite,
  sandbox: sandboxSuite,
  sdk: sdkSuite,
  server: serverSuite,
  start: startSuite,
  store: storeSuite,
  terminal: terminalSuite,
  time: timeSuite,
  tools: toolsSuite,
  turns: turnsSuite,
  view: viewSuite,
};
const usage = `usage: npm run bench -- [${Object.keys(suites).join("|")} …] [--rounds N] [--json FILE] [--chart FILE] [--from FILE] [--against FOLDER] [--only CONTEST …] [--smoke] [--large] [--profile FOLDER]`;
const usageCode = 64;

type Wish = {
  readonly names: readonly string[];
  readonly counts: Counts;
  readonly smoke: boolean;
  readonly json: string | undefined;
  readonly chart: string | undefined;
  readonly from: string | undefined;
  readonly against: string | undefined;
  readonly profileTo: string | undefined;
  readonly only: readonly string[] | undefined;
};

const wish = readWish(process.argv.slice(2));
if (typeof wish === "string") {
  process.stderr.write(`bench: ${wish}\n${usage}\n`);
  process.exitCode = usageCode;
} else if (wish.against !== undefined) {
  const tell = (what: string): void => void process.stderr.write(`${what}\n`);
  const pairs = await measureAgainst(wish.against, { names: wish.names, rounds: wish.counts.rounds, tell });
  process.stdout.write(sayAgainst(pairs));
} else {
  const report: Report = wish.from ? JSON.parse(await readFile(wish.from, "utf8")) : await run(wish);
  printReport(report, (text) => process.stdout.write(text));
  if (wish.json !== undefined) await writeFile(wish.json, `${JSON.stringify(report, null, 2)}\n`);
  if (wish.chart !== undefined) await writeFile(wish.chart, chartOf(report));
}

async function run({ names, counts, smoke, profileTo, only }: Wish): Promise<Report> {
  const place = await mkdtemp(path.join(tmpdir(), "keel-bench-"));
  const load = loadNow();
  try {
    const bench = await openBench(place, { counts, profileTo });
    const machine = await describeMachine(place);
    const outcomes: (Measured | undefined)[] = [];
    const left = [...names.entries()];
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) {
        const [at, name] = next;
        outcomes[at] = await measureSuite(name, { bench, only });
      }
    };
    const ends = await Promise.allSettled(
      Array.from({ length: counts.suitesAtOnce }, () => work().finally(() => left.splice(0))),
    );
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    const measured = outcomes.filter((outcome) => outcome !== undefined);
    return {
      date: new Date().toISOString().slice(0, 10),
      machine,
      load: { before: load, after: loadNow() },
      rounds: counts.rounds,
      meaningful: !smoke,
      grounds: measured.at(-1)?.grounds ?? [],
      suites: measured.map(({ suite, results }) => ({ suite, results })),
    };
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

type Measured = Report["suites"][number] & Pick<Report, "grounds">;

async function measureSuite(
  name: string,
  { bench, only }: { bench: Bench; only: readonly string[] | undefined },
): Promise<Measured | undefined> {
  const suite = await suites[name]?.(bench);
  if (!suite) return undefined;
  try {
    const contests = suite.contests.filter((contest) => only?.includes(contest.name) ?? true);
    if (contests.length === 0)
      throw new Error(`${name} has ${suite.contests.map((contest) => contest.name).join(", ")}.`);
    const outcome = await measure(
      { contests, grounds: machineGrounds(bench) },
      { rounds: bench.counts.rounds, tell: (what) => process.stderr.write(`${name}: ${what}\n`) },
    );
    return { suite: name, ...outcome };
  } finally {
    await suite.close();
  }
}

async function openBench(
  place: string,
  { counts, profileTo }: { counts: Counts; profileTo: string | undefined },
): Promise<Bench> {
  if (profileTo !== undefined) await mkdir(profileTo, { recursive: true });
  const programs = await bundlePrograms(path.join(place, "programs"), { profileTo });
  const { memory } = await bareStarts(programs, 3);
  return {
    counts,
    programs,
    folder: () => mkdtemp(path.join(place, "run-")),
    bareStartBytes: median(memory) * 2 ** 20,
  };
}

/** What was asked for, or what is wrong with it. */
function readWish(words: readonly string[]): Wish | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        rounds: { type: "string" },
        json: { type: "string" },
        chart: { type: "string" },
        from: { type: "string" },
        against: { type: "string" },
        profile: { type: "string" },
        only: { type: "string", multiple: true },
        smoke: { type: "boolean", default: false },
        large: { type: "boolean", default: false },
      },
    });
    const unknown = positionals.find((name) => !Object.hasOwn(suites, name));
    if (unknown !== undefined) return `there is no suite ${unknown}`;
    const counts = values.smoke ? smokeCounts : values.large ? largeCounts : fullCounts;
    const rounds = values.rounds === undefined ? counts.rounds : Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1) return `${values.rounds} is not a number of rounds`;
    return {
      names: positionals.length > 0 ? positionals : Object.keys(suites),
      counts: { ...counts, rounds },
      smoke: values.smoke,
      json: values.json,
      chart: values.chart,
      from: values.from,
      against: values.against,
      profileTo: values.profile,
      only: values.only,
    };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
