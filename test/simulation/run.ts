/** One world from its seed to its end, and the smallest set of faults that still breaks it. */

// Loaded here, since the engine loads them when they are first needed: on a busy machine that takes longer than a world
// waits in which nothing else is left to happen.
import "../../keel/src/agents/launcher.ts";
import "../../keel/src/agents/plan.ts";
import "../../keel/src/agents/recover.ts";
import "../../keel/src/agents/run.ts";
import "../../keel/src/agents/team.ts";
import "../../keel/src/engine/calls/early.ts";
import "../../keel/src/engine/calls/permit-command.ts";
import "../../keel/src/engine/steps/compact.ts";
import "../../keel/src/engine/steps/run-tools.ts";
import "../../keel/src/policy/excluded-command.ts";
import "../../keel/src/policy/look-at-command.ts";
import "../../keel/src/engine/return.ts";
import { defaultLimits } from "../../keel/src/core/limits.ts";
import type { Session } from "../../keel/src/engine/session.ts";
import type { SessionPorts } from "../../keel/src/engine/step-context.ts";
import { fingerprint } from "../../keel/src/kernel/text.ts";
import { noRules } from "../../keel/src/policy/decide.ts";
import { parseRule } from "../../keel/src/policy/rules.ts";
import { noHooks } from "../../keel/src/ports/hooks.ts";
import type { ScheduledRun } from "../../keel/src/protocol/schedule.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import { memoryWorkspace } from "../../keel/src/testing/memory-workspace.ts";
import { requestLaw } from "../../keel/src/testing/request-law.ts";
import { BudgetChecks } from "./budget-checks.ts";
import { simulatedCheckpoints } from "./checkpoints.ts";
import { Disks } from "./disk.ts";
import { budgetFor, openAlone, openFamily } from "./family.ts";
import { type HookWords, simulatedHooks } from "./hooks.ts";
import { Host } from "./host.ts";
import { simulatedModel } from "./model.ts";
import { scheduleComplaints } from "./schedule-checks.ts";
import { Schedules } from "./schedules.ts";
import { simulatedSums } from "./sums.ts";
import { teamComplaints } from "./team-checks.ts";
import { Told } from "./told.ts";
import { type Effects, forbidden, simulatedTools } from "./tools.ts";
import { TreeChecks } from "./tree-checks.ts";
import { World } from "./world.ts";

export type Outcome = {
  readonly seed: number;
  readonly complaints: readonly string[];
  readonly faults: World["faults"];
  readonly steps: number;
  readonly events: number;
  readonly crashes: number;
  /** The same for the same seed: every event, every effect, every promise. */
  readonly hash: string;
  /** The logs as they stood at the end, for whoever looks into a failing seed; that of the host's session first. */
  readonly logs: ReadonlyMap<string, readonly string[]>;
  /** What became of due times. */
  readonly runs: readonly ScheduledRun[];
};

const denied = [parseRule(`Change(${forbidden})`)].flatMap((rule) => rule ?? []);
const session = "00000000-0000-7000-8000-00000000005e";
const start = {
  keel: "test",
  cwd: "/project",
  settings: { model: "m", permissionMode: "default" as const, thinking: { kind: "off" as const } },
};
/** A world that has not come to its end by then hangs. */
const maxSteps = 60_000;
const calmAfterMs = 400_000;
/** With agents a world costs several times as much. */
const shareWithAgents = 0.2;
/** Of those. */
const shareWithTeam = 0.4;
/** Of those. */
const shareWithSchedules = 0.5;

const ofTeams = [
  "TeamCreate",
  "TeamCreate",
  "SendMessage",
  "ShutdownReply",
  "TeamShutdown",
  "TeamDelete",
  "TaskCreate",
  "TaskUpdate",
  "TaskUpdate",
];

/** Ways in which the world itself is broken, to show that the checks see it. */
export type Mutant =
  | "forgetful-disk"
  | "lying-tool"
  | "boundless-budget"
  | "forgotten-agents"
  | "forgotten-team"
  | "forgetful-book"
  | "forgotten-runs";

export type Variation = {
  readonly suppressed?: ReadonlySet<number>;
  readonly mutant?: Mutant;
  /** `some`: this world has agents, `team`: and they are a team; otherwise the seed decides. */
  readonly agents?: "some" | "team";
  /** This world has schedules; otherwise the seed decides, where there is a team. */
  readonly schedules?: "some";
  /** `kept`: every request has its sums on record, as those of a provider's wire have. */
  readonly sums?: "kept";
};

export async function simulate(
  seed: number,
  { suppressed, mutant, agents, schedules: wanted, sums }: Variation = {},
): Promise<Outcome> {
  const world = new World({ seed, ...(suppressed ? { suppressed } : {}) });
  const disks = new Disks(world, { forgetful: mutant === "forgetful-disk" });
  const disk = disks.create(session);
  const told = new Told(disks);
  const host = new Host(world, told);
  const checks = new TreeChecks(world, disks, session);
  const said: HookWords = new Map();
  const effects: Effects = {
    runs: new Map(),
    onEffect: (callId, at) => checks.atEffect(callId, at, said),
  };
  // With hooks that watch tools nothing starts while a reply streams: both ways are lived.
  const isHooked = world.draw() < 0.5;
  const note = async () => (world.draw() < 0.05 ? { context: ["a note"] } : { context: [] });
  const isKept = world.draw() < 0.5;
  const limits = agents || world.draw() < shareWithAgents ? budgetFor(world) : undefined;
  const hasTeam = limits !== undefined && (agents === "team" || (!agents && world.draw() < shareWithTeam));
  const hasSchedules = wanted === "some" || (hasTeam && world.draw() < shareWithSchedules);
  const isForgetful = mutant === "forgetful-book";
  const schedules = hasSchedules ? new Schedules({ world, disk, seed, isForgetful }, session) : undefined;
  const law = requestLaw({
    log: (id) => disks.get(id)?.boundaries() ?? [],
    onBreak: () => undefined,
  });
  const alone = ["Look", "Look", "Change", "Change", "Question", "Begin"];
  const model = simulatedModel(world, {
    names: limits ? [...alone, "Agent", "Agent", "SendMessage", ...(hasTeam ? ofTeams : [])] : alone,
    hasTeam,
    law,
    ...(sums === "kept" ? { prepare: simulatedSums } : {}),
    onRequest: (request) => checks.atRequest(request, model.info(request.model)),
  });
  const budgetChecks =
    limits &&
    new BudgetChecks(limits, {
      info: model.info("m"),
      complain: (words) => checks.complaints.push(words),
    });
  let running: Session | undefined;
  let leave = (): void => undefined;
  let crashes = 0;
  let quiet = false;

  async function begin(): Promise<void> {
    const life = world.life;
    const clock = world.clock();
    const parts: SessionPorts = {
      log: disk.open(session),
      model,
      clock,
      ids: countingIds({ seed, prefix: life }),
      workspace: memoryWorkspace(),
      tools: simulatedTools(world, effects, { lying: mutant === "lying-tool" }),
      rules: { ...noRules, deny: denied },
      hooks: isHooked
        ? simulatedHooks(world, said)
        : {
            ...noHooks,
            afterTool: note,
            toolFailed: note,
          },
      ...(isKept ? { checkpoints: simulatedCheckpoints(world) } : {}),
      spill: async (name, content) => ({ path: name, bytes: content.length }),
      limits: { ...defaultLimits, maxObjections: 3 },
      system: ["Simulated."],
      promptOnResume: "logged",
    };
    const unfinished: "lost" | "continue" = world.draw() < 0.2 ? "lost" : "continue";
    const opening = { start, unfinished };
    const opened =
      limits && budgetChecks
        ? await openFamily(parts, opening, { world, disks, limits, checks: budgetChecks, mutant, hasTeam })
        : await openAlone(parts, opening);
    if (life !== world.life) return;
    running = opened.session;
    leave = opened.close;
    host.attach(opened.session, opened.tree);
    void opened.session.run();
    if (mutant !== "forgotten-runs" || !quiet) schedules?.begin(opened.session, { isCalm: quiet });
  }

  async function openAgain(): Promise<void> {
    try {
      await begin();
    } catch {
      // The disk was full while it opened: try again a little later.
      await world.sleep(1_000);
      await openAgain();
    }
  }

  /** A machine that is down cannot crash again before it starts. */
  let isDown = false;
  function crash(): void {
    if (isDown) return;
    isDown = true;
    crashes += 1;
    running = undefined;
    host.detach();
    disks.crash();
    world.crash();
    checks.excuse();
    comeBack();
  }

  function comeBack(): void {
    void world.pause(world.between(1, 2_000)).then(() => {
      isDown = false;
      return openAgain();
    });
  }

  /** A graceful end, and a start some time later. */
  async function close(ending: Session): Promise<void> {
    const life = world.life;
    running = undefined;
    host.detach();
    checks.stopping("a session that was closed");
    // A disk that fails at the end is a fault of its own; the next start finds what there is.
    leave();
    await schedules?.stop();
    await ending.close("stopped").catch(() => checks.excuse());
    if (life !== world.life || isDown) return;
    checks.follow();
    checks.excuse();
    isDown = true;
    world.crash(); // What still waits now was left behind: the process is gone.
    comeBack();
  }

  void openAgain();
  void host.live();
  let steps = 0;
  for (; steps < maxSteps && checks.complaints.length === 0; steps++) {
    const something = await world.step();
    if (!something && quiet) break;
    if (!quiet && (!something || world.monotonicMs > calmAfterMs)) {
      quiet = true;
      world.becomeCalm();
      crash(); // The last one: from here on everything must come to its end.
    }
    checks.follow();
    checks.always(host.promises, effects);
    // Only where everybody waits: whoever was set going in this step would outlive the crash.
    if (world.goesWrong("crash")) crash();
    if (running && world.goesWrong("interrupt-anywhere")) host.interrupt();
    if (running && world.goesWrong("close")) void close(running);
    if (world.goesWrong("clock-jump")) world.jump(world.pick([-86_400_000, 86_400_000]));
    // A session whose disk failed waits for the next word; the host always has one.
    if (running?.fault) {
      checks.excuse();
      void running.submit({ type: "interrupt" }).catch(() => undefined);
    }
  }
  if (steps >= maxSteps) checks.complaints.push("the world never came to its end");
  else if (checks.complaints.length === 0) {
    checks.atTheEnd(host.promises);
    if (hasTeam) checks.complaints.push(...teamComplaints(disks, session));
    if (schedules) checks.complaints.push(...scheduleComplaints(schedules, disk.eventsAfter(0)));
  }
  checks.complaints.push(...told.complaints.slice(0, 5));
  checks.complaints.push(...new Set(model.violations.map((violation) => `invalid request: ${violation}`)));
  const logs = [...disks.all].map(([id, { lines }]) => [id, lines] as const);
  const hash = fingerprint(
    JSON.stringify([
      logs,
      [...effects.runs],
      [...host.promises.accepted],
      [...host.promises.denied],
      schedules?.history,
    ]),
  );
  return {
    seed,
    complaints: checks.complaints,
    faults: world.faults,
    steps,
    events: logs.reduce((sum, [, lines]) => sum + lines.length, 0),
    crashes,
    hash,
    logs: new Map(logs),
    runs: [...(schedules?.runs.values() ?? [])],
  };
}

/** Leaves out faults as long as the world still breaks: what stays is needed. */
export async function shrink(failing: Outcome, variation: Variation = {}): Promise<Outcome> {
  let best = failing;
  const suppressed = new Set<number>();
  for (const { index } of failing.faults) {
    const fewer = await simulate(failing.seed, { ...variation, suppressed: new Set([...suppressed, index]) });
    // Without one fault others may come in its place: a run with more of them is no help.
    if (fewer.complaints.length === 0 || fewer.faults.length > best.faults.length) continue;
    suppressed.add(index);
    best = fewer;
  }
  return best;
}
