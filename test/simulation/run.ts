/** One world from its seed to its end, and the smallest set of faults that still breaks it. */

import { noHooks } from "../../keel/src/engine/hooks/points.ts";
import { defaultLimits } from "../../keel/src/engine/limits.ts";
import { noRules } from "../../keel/src/engine/policy/decide.ts";
import { Session } from "../../keel/src/engine/session.ts";
import { fingerprint } from "../../keel/src/kernel/text.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import { memoryWorkspace } from "../../keel/src/testing/memory-workspace.ts";
import { requestLaw } from "../../keel/src/testing/request-law.ts";
import { Checks } from "./checks.ts";
import { Disk } from "./disk.ts";
import { Host } from "./host.ts";
import { simulatedModel } from "./model.ts";
import { type Effects, simulatedTools } from "./tools.ts";
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
};

const session = "00000000-0000-7000-8000-00000000005e";
/** A world that has not come to its end by then hangs. */
const mostSteps = 60_000;
const calmAfterMs = 400_000;

/** Ways in which the world itself is broken, to show that the checks see it. */
export type Mutant = "forgetful-disk" | "lying-tool";

export type Variation = { readonly suppressed?: ReadonlySet<number>; readonly mutant?: Mutant };

export async function simulate(seed: number, { suppressed, mutant }: Variation = {}): Promise<Outcome> {
  const world = new World({ seed, ...(suppressed ? { suppressed } : {}) });
  const disk = new Disk(world, { forgetful: mutant === "forgetful-disk" });
  const host = new Host(world);
  const checks = new Checks();
  const effects: Effects = { runs: new Map() };
  const law = requestLaw({ log: () => disk.boundaries(), onBreak: () => undefined });
  const model = simulatedModel(world, {
    names: ["Look", "Look", "Change", "Change", "Question", "Begin"],
    law,
  });
  let running: Session | undefined;
  let crashes = 0;
  let quiet = false;

  async function start(): Promise<void> {
    const life = world.life;
    const clock = world.clock();
    const opened = await Session.open(
      {
        log: disk.open(session),
        model,
        clock,
        ids: countingIds({ seed, prefix: life }),
        workspace: memoryWorkspace(),
        tools: simulatedTools(world, effects, { lying: mutant === "lying-tool" }),
        rules: noRules,
        hooks: {
          ...noHooks,
          afterTool: async () => (world.draw() < 0.05 ? { context: ["a note"] } : { context: [] }),
        },
        spill: async (name, content) => ({ path: name, bytes: content.length }),
        limits: defaultLimits,
        system: ["Simulated."],
        promptOnResume: "logged",
      },
      {
        start: {
          keel: "test",
          cwd: "/project",
          settings: { model: "m", permissionMode: "default", thinking: { kind: "off" } },
        },
        unfinished: world.draw() < 0.2 ? "lost" : "continue",
      },
    );
    if (life !== world.life) return;
    running = opened;
    host.attach(opened);
    void opened.run();
  }

  async function openAgain(): Promise<void> {
    try {
      await start();
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
    host.attach(undefined);
    disk.crash();
    world.crash();
    void world.pause(world.between(1, 2_000)).then(() => {
      isDown = false;
      return openAgain();
    });
  }

  void openAgain();
  void host.live();
  let steps = 0;
  for (; steps < mostSteps && checks.complaints.length === 0; steps++) {
    const something = await world.step();
    if (!something && quiet) break;
    if (!quiet && (!something || world.monotonicMs > calmAfterMs)) {
      quiet = true;
      world.becomeCalm();
      crash(); // The last one: from here on everything must come to its end.
    }
    checks.follow(disk);
    checks.always(host.promises, effects);
    if (world.goesWrong("crash")) crash();
    if (world.goesWrong("clock-jump")) world.jump(world.pick([-86_400_000, 86_400_000]));
    // A session whose disk failed waits for the next word; the host always has one.
    if (running?.fault) void running.submit({ type: "interrupt" }).catch(() => undefined);
  }
  if (steps >= mostSteps) checks.complaints.push("the world never came to its end");
  else checks.atTheEnd(host.promises);
  checks.complaints.push(...new Set(model.violations.map((violation) => `invalid request: ${violation}`)));
  const hash = fingerprint(
    JSON.stringify([disk.lines, [...effects.runs], [...host.promises.accepted], [...host.promises.denied]]),
  );
  return {
    seed,
    complaints: checks.complaints,
    faults: world.faults,
    steps,
    events: disk.lines.length,
    crashes,
    hash,
  };
}

/** Leaves out faults as long as the world still breaks: what stays is needed. */
export async function shrink(failing: Outcome, variation: Variation = {}): Promise<Outcome> {
  let best = failing;
  const suppressed = new Set<number>();
  for (const { index } of failing.faults) {
    const fewer = await simulate(failing.seed, { ...variation, suppressed: new Set([...suppressed, index]) });
    if (fewer.complaints.length === 0) continue;
    suppressed.add(index);
    best = fewer;
  }
  return best;
}
