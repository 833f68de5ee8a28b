// Rules tried on the past: verdicts under unchanged rules are those on record, for every call of every session.
import { expect, test } from "vitest";
import { type PastSession, pastCalls } from "../keel/src/app/maintenance/past-calls.ts";
import { backtest } from "../keel/src/policy/backtest.ts";
import { noRules, type Rules } from "../keel/src/policy/decide.ts";
import { parseRule } from "../keel/src/policy/rules.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { openGrammar } from "../keel/src/workspace/processes/grammar.ts";
import { simulate } from "./simulation/run.ts";
import { forbidden } from "./simulation/tools.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 2 * 60 * 60_000 };

/** The logs of one world as sessions below each other. */
function sessionsOf(logs: ReadonlyMap<string, readonly string[]>): PastSession[] {
  const all = [...logs].map(([id, lines]) => ({
    id,
    events: lines.map((line): Durable => JSON.parse(line)),
  }));
  const below = (parent: string | undefined): PastSession[] =>
    all
      .filter(({ events: [first] }) => first?.type === "session.opened" && first.parent?.session === parent)
      .map((session) => ({ ...session, agents: below(session.id) }));
  return below(undefined);
}

test("every call of the simulation is decided as it was, under the rules of then", patience, async () => {
  verifies("P11");
  const grammar = openGrammar();
  const rules: Rules = {
    ...noRules,
    deny: [parseRule(`Change(${forbidden})`)].flatMap((rule) => rule ?? []),
  };
  const first = seed();
  const seen = { allow: 0, ask: 0, deny: 0, learnt: 0 };
  for (let offset = 0; offset < countOf("backtest"); offset++) {
    const { logs } = await simulate(first + offset);
    const past = (
      await Promise.all(sessionsOf(logs).map((session) => pastCalls(session, { rules, grammar })))
    ).flat();
    const { changed, unknown, calls, same } = backtest(past, { tried: [rules] });
    expect({ changed, unknown }, `seed ${first + offset}`).toEqual({ changed: [], unknown: [] });
    expect(same).toBe(calls);
    for (const { decision } of past) seen[decision.facts?.verdict ?? "ask"] += 1;
    seen.learnt += past.filter(({ decision }) => decision.facts?.rule?.source === "session").length;
  }
  // All of these did happen: otherwise it shows nothing.
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
});
