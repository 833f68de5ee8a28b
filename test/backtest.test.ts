// Rules tried on the past: verdicts under unchanged rules are those on record, for every call of every session.
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { type PastSession, pastCalls } from "../keel/src/app/maintenance/past-calls.ts";
import { schemaOf } from "../keel/src/kernel/schema.ts";
import { backtest } from "../keel/src/policy/backtest.ts";
import { noRules, type Rules } from "../keel/src/policy/decide.ts";
import type { CallOnRecord, PastCall } from "../keel/src/policy/decide-again.ts";
import { parseRule } from "../keel/src/policy/rules.ts";
import { defineTool } from "../keel/src/ports/define-tool.ts";
import type { CommandJudging, Grammar } from "../keel/src/ports/shell.ts";
import type { Tool } from "../keel/src/ports/tool.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { isDurable } from "../keel/src/protocol/event/envelope.ts";
import { text } from "../keel/src/protocol/message.ts";
import { memoryWorkspace } from "../keel/src/testing/memory-workspace.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { openGrammar } from "../keel/src/workspace/processes/grammar.ts";
import { chanceOf } from "./differential/generate.ts";
import { simulate } from "./simulation/run.ts";
import { forbidden } from "./simulation/tools.ts";
import { countOf, seed } from "./support/budget.ts";
import { openTestSession } from "./support/test-session.ts";
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

/** A shell that runs nothing. */
const still: Tool = defineTool({
  name: "Bash",
  description: "Runs nothing.",
  input: schemaOf(z.object({ command: z.string() })),
  claims: async ({ command }) => [{ action: "execute", target: command }],
  async *run() {
    return { content: [text("done")], display: { kind: "text", text: "done" } };
  },
}) as Tool;

const commandsOf = (grammar: Grammar): CommandJudging => ({
  grammar,
  home: "/home/nobody",
  isTrusted: true,
  place: {
    find: async () => undefined,
    repository: async () => ({ kind: "own" }),
    search: async () => ({ folders: ["/usr/bin"], variables: {} }),
  },
});

type Known = {
  readonly command: string;
  readonly then: "allow" | "ask" | "deny";
  readonly now: "allow" | "ask" | "deny";
  /** The new rule that decides. */
  readonly rule?: string;
};

/** What was said under the old rules and what is said under the new ones, written down by hand. */
const known: readonly Known[] = [
  { command: "make build", then: "ask", now: "allow", rule: "Bash(make:*)" },
  { command: "make test", then: "ask", now: "allow", rule: "Bash(make:*)" },
  { command: "git push origin main", then: "ask", now: "deny", rule: "Bash(git push:*)" },
  { command: "cargo add serde", then: "allow", now: "ask" },
  { command: "npm publish", then: "deny", now: "ask", rule: "Bash(npm publish:*)" },
  { command: "touch a", then: "ask", now: "ask" },
  { command: "ls -l", then: "allow", now: "allow" },
  { command: "make x && git push", then: "ask", now: "deny", rule: "Bash(git push:*)" },
  { command: "npm publish; ls", then: "deny", now: "ask", rule: "Bash(npm publish:*)" },
];
const rulesOf = (lists: Partial<Record<"allow" | "ask" | "deny", string[]>>): Rules => {
  const read = (texts: string[] = []) => texts.map((one) => parseRule(one, "user") ?? expect.fail(one));
  return { ...noRules, allow: read(lists.allow), ask: read(lists.ask), deny: read(lists.deny) };
};
const oldRules = rulesOf({ allow: ["Bash(cargo:*)"], deny: ["Bash(npm publish:*)"] });
const newRules = rulesOf({
  allow: ["Bash(make:*)", "Bash(never:*)"],
  ask: ["Bash(npm publish:*)"],
  deny: ["Bash(git push:*)"],
});

test(
  "of sessions with known answers every count is exact: by rule, by verdict, and what is not known",
  patience,
  async () => {
    verifies("P11");
    const grammar = openGrammar();
    const first = seed();
    const past: PastCall[] = [];
    const unchanged: PastCall[] = [];
    const counts = new Map<Known, number>();
    const looked = new Map<string, CallOnRecord>();
    let untold = 0;
    const sessions = countOf("backtest-known");
    for (let number = 0; number < sessions; number++) {
      const random = chanceOf(first + number);
      const calls = Array.from({ length: 1 + random.below(12) }, () => random.pick(known));
      const { events, say } = await openTestSession({
        tools: [still],
        rules: oldRules,
        workspace: { ...memoryWorkspace(), commands: commandsOf(grammar) },
        script: {
          replies: [
            ...calls.map(({ command }, at) => reply(toolUse("Bash", { command }, `c${at}`))),
            reply("Done."),
          ],
        },
      });
      await say("go");
      // Now and then a log was written before decisions left their facts.
      const isOld = number % 10 === 9;
      if (isOld) untold += calls.length;
      else for (const one of calls) counts.set(one, (counts.get(one) ?? 0) + 1);
      const durable = events.filter(isDurable).map((event) => (isOld ? withoutFacts(event) : event));
      const session = { id: `s${number}`, events: durable, agents: [] };
      past.push(...(await pastCalls(session, { rules: newRules, grammar, known: looked })));
      unchanged.push(...(await pastCalls(session, { rules: oldRules, grammar })));
    }
    const sum = (fits: (one: Known) => boolean): number =>
      [...counts].reduce((total, [one, count]) => total + (fits(one) ? count : 0), 0);
    const all = sum(() => true);
    const { changed, unknown, calls, same, questions, rules } = backtest(past, { tried: [newRules] });
    expect({ calls, unknown: unknown.length, same }).toEqual({
      calls: all + untold,
      unknown: untold,
      same: sum(({ then, now }) => then === now),
    });
    for (const then of ["allow", "ask", "deny"] as const)
      for (const now of ["allow", "ask", "deny"] as const)
        if (then !== now)
          expect(
            changed.filter(({ recorded, replayed }) => recorded === then && replayed === now).length,
            `${then} then, ${now} now`,
          ).toBe(sum((one) => one.then === then && one.now === now));
    expect(questions).toEqual({
      recorded: sum(({ then }) => then === "ask"),
      replayed: sum(({ now }) => now === "ask"),
    });
    expect(rules.map(({ rule, calls: used, saves }) => [rule, used, saves])).toEqual(
      ["Bash(git push:*)", "Bash(npm publish:*)", "Bash(make:*)", "Bash(never:*)"].map((rule) => [
        rule,
        sum((one) => one.rule === rule),
        sum((one) => one.rule === rule && one.then === "ask" && one.now === "allow"),
      ]),
    );
    // The rules of then give the verdicts of then.
    expect(backtest(unchanged, { tried: [oldRules] })).toMatchObject({ changed: [], same: all });
  },
);

/** As a log of before says it: every other field stays. */
function withoutFacts(event: Durable): Durable {
  if (event.type === "ask.opened") {
    const { facts: _, ...ask } = event.ask;
    return { ...event, ask };
  }
  if (event.type !== "tool.started" && event.type !== "tool.finished") return event;
  const { facts: _, ...rest } = event;
  return rest;
}
