/**
 * What a session has used, as counters: values that only grow, each with the attributes that tell its series apart. They
 * are made from the bill, which is folded from the log: a resume counts on, and a crash loses nothing.
 */
import * as z from "zod/mini";
import { addUsage, type ItemizedBill, type Usage } from "./usage.ts";

export const counterSchema = z.object({
  name: z.string(),
  unit: z.enum(["usd", "tokens", "count", "ms", "lines"]),
  says: z.string(),
  attributes: z.record(z.string(), z.string()),
  value: z.number(),
});
export type Counter = Readonly<z.infer<typeof counterSchema>>;

/** A collector keeps every series for ever: names that come from outside are bounded. */
const maxNames = 50;
export const otherName = "other";

/** The most used by their names; what is beyond is one series, so that sums stay right. */
export function namedSeries<T>(
  rows: Readonly<Record<string, T>>,
  { weight, add }: { weight: (row: T) => number; add: (left: T, right: T) => T },
): [name: string, row: T][] {
  const sorted = Object.entries(rows).sort(
    ([left, one], [right, other]) => weight(other) - weight(one) || (left < right ? -1 : 1),
  );
  const [first, ...rest] = sorted.slice(maxNames).map(([, row]) => row);
  const named = sorted.slice(0, maxNames);
  return first === undefined ? named : [...named, [otherName, rest.reduce(add, first)]];
}

export function billCounters(
  bill: Pick<ItemizedBill, "models" | "unknownRequests" | "unpricedTokens" | "apiMs">,
): Counter[] {
  const models = namedSeries(bill.models, { weight: ({ replies }) => replies, add: addModels });
  return [
    ...models.map(
      ([model, { costUsd }]): Counter => ({
        name: "keel.cost",
        unit: "usd",
        says: "What replies cost, by the prices that are known.",
        attributes: { model },
        value: costUsd,
      }),
    ),
    ...models.flatMap(([model, { usage }]) =>
      tokenTypes.map(
        ([type, count]): Counter => ({
          name: "keel.tokens",
          unit: "tokens",
          says: "Tokens that were sent, written, and read from or kept in the provider's cache.",
          attributes: { model, type },
          value: count(usage),
        }),
      ),
    ),
    ...models.map(
      ([model, { replies }]): Counter => ({
        name: "keel.replies",
        unit: "count",
        says: "Replies of models, compactions included.",
        attributes: { model },
        value: replies,
      }),
    ),
    counted("keel.requests.unknown", "Requests whose usage nobody knows.", bill.unknownRequests),
    {
      ...counted("keel.tokens.unpriced", "Tokens without a known price.", bill.unpricedTokens),
      unit: "tokens",
    },
    { ...counted("keel.model.time", "Time that models took.", bill.apiMs), unit: "ms" },
  ];
}

export const counted = (name: string, says: string, value: number): Counter => ({
  name,
  unit: "count",
  says,
  attributes: {},
  value,
});

const tokenTypes: readonly (readonly [type: string, count: (usage: Usage) => number])[] = [
  ["input", ({ inputTokens }) => inputTokens],
  ["output", ({ outputTokens }) => outputTokens],
  ["cacheRead", ({ cacheReadTokens }) => cacheReadTokens],
  ["cacheCreation", ({ cacheWriteTokens }) => cacheWriteTokens],
];

type ModelRow = ItemizedBill["models"][string];

const addModels = (left: ModelRow, right: ModelRow): ModelRow => ({
  usage: addUsage(left.usage, right.usage),
  costUsd: left.costUsd + right.costUsd,
  unpricedTokens: left.unpricedTokens + right.unpricedTokens,
  replies: left.replies + right.replies,
});
