import { expect, test } from "vitest";
import { billCounters } from "../protocol/counters.ts";
import { noBill, noUsage } from "../protocol/usage.ts";
import { countersOf, sayCounters } from "./counters.ts";
import { noTotals } from "./totals.ts";

const model = (costUsd: number, replies: number) => ({
  usage: { ...noUsage, inputTokens: 10, outputTokens: 2, cacheReadTokens: 5, cacheWriteTokens: 1 },
  costUsd,
  unpricedTokens: 0,
  replies,
});
const sum = (counters: readonly { name: string; value: number }[], name: string): number =>
  counters.filter((counter) => counter.name === name).reduce((total, { value }) => total + value, 0);

test("counters tell cost, tokens by kind, replies, calls and lines apart", () => {
  const totals = {
    ...noTotals,
    models: { "m-1": model(0.5, 2) },
    tools: { Bash: { calls: 5, failed: 1, denied: 1, ms: 40 } },
    linesAdded: 7,
    turns: 2,
  };
  const counters = countersOf(totals, 1);
  expect(counters).toContainEqual(
    expect.objectContaining({
      name: "keel.tokens",
      attributes: { model: "m-1", type: "cacheRead" },
      value: 5,
    }),
  );
  expect(sayCounters(counters).split("\n")).toEqual(
    expect.arrayContaining([
      "# TYPE keel_cost_usd counter",
      'keel_cost_usd_total{model="m-1"} 0.5',
      'keel_tokens_tokens_total{model="m-1",type="input"} 10',
      'keel_replies_count_total{model="m-1"} 2',
      'keel_calls_count_total{tool="Bash",outcome="done"} 3',
      'keel_calls_count_total{tool="Bash",outcome="denied"} 1',
      'keel_lines_lines_total{type="added"} 7',
      "keel_turns_count_total 2",
    ]),
  );
  expect(sayCounters(counters).endsWith("\n# EOF")).toBe(true);
});

test("names from outside are bounded, and nothing is lost from the sums", () => {
  const models = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`m-${index}`, model(0.25, index)]),
  );
  const counters = billCounters({ ...noBill, models });
  expect(new Set(counters.map(({ attributes }) => attributes["model"])).size).toBeLessThanOrEqual(52);
  expect(sum(counters, "keel.cost")).toBe(125);
  expect(sum(counters, "keel.tokens")).toBe(500 * 18);
  // Those that are used most keep their names.
  expect(counters.map(({ attributes }) => attributes["model"])).toContain("m-499");
});

test("a name cannot make a line of its own", () => {
  const models = { 'a"} 1\nkeel_cost_usd_total{model="b': model(1, 1) };
  const text = sayCounters(billCounters({ ...noBill, models }));
  expect(text.split("\n").filter((line) => line.startsWith("keel_cost_usd_total"))).toHaveLength(1);
});
