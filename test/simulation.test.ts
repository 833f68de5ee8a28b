import { describe, expect, test } from "vitest";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { type Mutant, type Outcome, shrink, simulate, type Variation } from "./simulation/run.ts";
import { faultKinds } from "./simulation/world.ts";
import { budgets, countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const seedsBetweenWords = 5_000;
/** In so many worlds everything that can happen must have happened. */
const most = 150;
const patience = { timeout: 2 * 60 * 60_000 };

/** What a person needs to look into it: the seed, what is wrong, and the fewest faults that make it go wrong. */
async function explain(failing: Outcome, variation?: Variation): Promise<string> {
  const { complaints, faults } = await shrink(failing, variation);
  return `seed ${failing.seed}: ${complaints.join("; ")} (faults needed: ${faults.map(({ kind, index }) => `${kind}#${index}`).join(", ") || "none"})`;
}

describe("the loop in a world that goes wrong", () => {
  test("keeps every law on every seed", patience, async () => {
    verifies("G2", "G3", "G16", "G17", "G18", "G47", "P28");
    const first = seed();
    const count = countOf("simulation");
    for (let offset = 0; offset < count; offset++) {
      const outcome = await simulate(first + offset);
      if (outcome.complaints.length > 0) expect.fail(await explain(outcome));
      // A long run that is cut short has still shown something.
      if ((offset + 1) % seedsBetweenWords === 0)
        process.stderr.write(`simulation: ${offset + 1} of ${count} seeds from ${first} on keep every law\n`);
    }
    expect(count).toBeGreaterThanOrEqual(budgets.simulation.sample);
  });

  test("runs the same for the same seed", patience, async () => {
    verifies("G19");
    const first = seed();
    for (let offset = 0; offset < countOf("replays"); offset++) {
      const [one, again] = [await simulate(first + offset), await simulate(first + offset)];
      expect(again.hash, `seed ${one.seed}`).toBe(one.hash);
    }
  });

  test("is wild enough: crashes, full disks and stalls do happen", async () => {
    const wild = ["context.compacted", "context.returned", "ask.closed", "files.saved", "task.changed"];
    const missing = new Set<string>([...faultKinds, ...wild, "session.closed"]);
    for (let number = 1; number <= most && missing.size > 0; number++) {
      const { faults, logs } = await simulate(number);
      for (const { kind } of faults) missing.delete(kind);
      for (const line of [...logs.values()].flat()) missing.delete(JSON.parse(line).type);
    }
    expect([...missing]).toEqual([]);
  });

  test("has agents in some worlds: at two levels, ended by each budget, lost and found again", async () => {
    const reasons = ["budget_usd", "budget_tokens", "budget_time", "lost"];
    const facts = ["waited", "asked", "moved", "depth 1", "depth 2", "completed by itself"];
    const stops = ["stopped by lost", "stopped by shutdown", "stopped by host"];
    const missing = new Set([...reasons, ...facts, ...stops]);
    for (let number = 1; number <= most && missing.size > 0; number++) {
      const { logs } = await simulate(number, { agents: "some" });
      for (const line of [...logs.values()].flat()) {
        const event: Durable = JSON.parse(line);
        if (event.type === "turn.finished") missing.delete(event.reason);
        if (event.type !== "task.changed" || event.data?.kind !== "agent") continue;
        const { origin, depth, by } = event.data;
        for (const fact of [origin, `depth ${depth}`, `${event.status} by ${by}`])
          missing.delete(String(fact));
      }
    }
    expect([...missing]).toEqual([]);
    // Not in every world, or the long run would take too long; not in too few either.
    const shares = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((number) => simulate(number)),
    );
    expect(new Set(shares.map(({ logs }) => logs.size > 1)).size).toBe(2);
  });

  test(
    "keeps every law with a team at work: mail, a shared list, an end that is agreed, prompts by the clock",
    patience,
    async () => {
      verifies("S2.34", "S2.55", "G17", "G18");
      const first = seed();
      const count = countOf("simulated-teams");
      for (let offset = 0; offset < count; offset++) {
        const outcome = await simulate(first + offset, { agents: "team" });
        if (outcome.complaints.length > 0) expect.fail(await explain(outcome, { agents: "team" }));
        if ((offset + 1) % seedsBetweenWords === 0)
          process.stderr.write(`teams: ${offset + 1} of ${count} seeds from ${first} on keep every law\n`);
      }
    },
  );

  test("has teams that do all of it: members that leave in every way, a list that changes, words that arrive", async () => {
    const missing = new Set([
      "formed",
      "listed",
      "ended",
      "left approved",
      "left at_rest",
      "left stopped",
      "told",
    ]);
    for (let number = 1; number <= most && missing.size > 0; number++) {
      const { logs } = await simulate(number, { agents: "team" });
      for (const line of [...logs.values()].flat()) {
        const event: Durable = JSON.parse(line);
        if (event.type === "team.changed")
          missing.delete(event.why === undefined ? event.change : `${event.change} ${event.why}`);
        if (event.type === "tool.finished" && event.tool === "SendMessage" && !event.failed)
          missing.delete("told");
      }
    }
    expect([...missing]).toEqual([]);
  });

  test("has schedules that do all of it: due times that are kept, skipped, tried again, taken over and ended", async () => {
    const missing = new Set([
      "done completed",
      "failed out_of_time",
      "failed replaced",
      "skipped missed",
      "skipped overlap",
      "tried again",
      "late",
      "beside mail",
    ]);
    for (let number = 1; number <= most && missing.size > 0; number++) {
      const { runs, logs } = await simulate(number, { agents: "team", schedules: "some" });
      for (const { end, inputs, due, claimedAt, startedAt } of runs) {
        missing.delete(`${end?.how} ${end?.why}`);
        if (inputs.length > 1) missing.delete("tried again");
        if (startedAt !== undefined && claimedAt > due + 20_000) missing.delete("late");
      }
      const hasMail = [...logs.values()].flat().some((line) => line.includes("<keel-message"));
      if (hasMail && runs.some(({ end }) => end?.how === "done")) missing.delete("beside mail");
    }
    expect([...missing]).toEqual([]);
  });

  test.each<Mutant>([
    "forgetful-disk",
    "lying-tool",
    "boundless-budget",
    "forgotten-agents",
    "forgotten-team",
    "forgetful-book",
    "forgotten-runs",
  ])("a broken world is noticed: %s", patience, async (mutant) => {
    const failing: Outcome[] = [];
    const isOfSchedules = mutant === "forgetful-book" || mutant === "forgotten-runs";
    const isOfAgents = mutant === "boundless-budget" || mutant === "forgotten-agents";
    const variation: Variation = {
      mutant,
      ...(isOfSchedules ? { schedules: "some" } : {}),
      ...(mutant === "forgotten-team" ? { agents: "team" } : isOfAgents ? { agents: "some" } : {}),
    };
    for (let number = 1; number <= 120 && failing.length === 0; number++) {
      const outcome = await simulate(number, variation);
      if (outcome.complaints.length > 0) failing.push(outcome);
    }
    expect(failing).toHaveLength(1);
    const [found] = failing;
    if (!found) return;
    const shrunken = await shrink(found, variation);
    expect(shrunken.complaints.length).toBeGreaterThan(0);
    expect(shrunken.faults.length).toBeLessThanOrEqual(found.faults.length);
  });
});
