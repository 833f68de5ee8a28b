// The harness says what a request will cost before it sends it. Here a whole day is predicted and then billed by a
// provider whose cache is simulated: the two must agree, request by request and in the sum.
import { beforeAll, describe, expect, test } from "vitest";
import { costOf } from "../keel/src/protocol/bill.ts";
import type { Prediction, Usage } from "../keel/src/protocol/usage.ts";
import { leastCacheTokens } from "../keel/src/testing/prompt-cache.ts";
import { type Day, known, liveADay, models } from "./cache/scenario.ts";

const inputUsd = (model: string, usage: Usage): number =>
  costOf({ ...usage, outputTokens: 0 }, known.info(model).prices) ?? 0;

describe("a day of requests", () => {
  let day: Day;
  let answered: { readonly model: string; readonly purpose: string; readonly predicted: Prediction }[];

  beforeAll(async () => {
    day = await liveADay();
    const refused = new Set(
      day.events.flatMap((event) =>
        event.type === "model.failed" && event.usage !== null ? [event.requestId] : [],
      ),
    );
    answered = day.events.flatMap((event) =>
      event.type === "model.started" && event.predicted && !refused.has(event.requestId)
        ? [{ model: event.model, purpose: event.purpose, predicted: event.predicted }]
        : [],
    );
  });

  test("has what makes predicting hard: tools, compactions, pauses, two models, failures, a restart", () => {
    const types = day.events.map(({ type }) => type);
    expect(day.counted.length).toBeGreaterThanOrEqual(30);
    expect(types.filter((type) => type === "tool.finished").length).toBeGreaterThan(20);
    expect(
      day.events.flatMap((event) => (event.type === "context.compacted" ? [event.trigger] : [])),
    ).toEqual(["manual", "full"]);
    expect(types.filter((type) => type === "model.failed").length).toBeGreaterThanOrEqual(2);
    expect(types.filter((type) => type === "session.closed")).toHaveLength(2);
    expect(new Set(day.counted.map(({ model }) => model))).toEqual(new Set(Object.values(models)));
    expect(day.counted.filter(({ usage }) => usage.cacheReadTokens === 0)).toHaveLength(3);
    const reasons = day.events.flatMap((event) => (event.type === "turn.finished" ? [event.reason] : []));
    expect(new Set(reasons)).toEqual(new Set(["completed"]));
  });

  test("is predicted within 1 % of its bill, input and output", () => {
    const output = sum(
      day.counted,
      ({ model, usage }) => (known.info(model).prices?.output ?? 0) * usage.outputTokens * 1e-6,
    );
    const predicted = sum(answered, (request) => request.predicted.costUsd ?? 0);
    const billed = sum(day.counted, ({ model, usage }) => inputUsd(model, usage));
    expect(answered.map(({ model }) => model)).toEqual(day.counted.map(({ model }) => model));
    expect(Math.abs(predicted / billed - 1)).toBeLessThan(0.01);
    expect(Math.abs((predicted + output) / (billed + output) - 1)).toBeLessThan(0.01);
  });

  test("is not right by luck: what single requests are off by is little too", () => {
    const offUsd = sum(answered, ({ predicted }, index) => {
      const request = day.counted[index];
      return request ? Math.abs((predicted.costUsd ?? 0) - inputUsd(request.model, request.usage)) : 1;
    });
    const billed = sum(day.counted, ({ model, usage }) => inputUsd(model, usage));
    expect(offUsd / billed).toBeLessThan(0.03);
    for (const [index, { predicted }] of answered.entries()) {
      const read = day.counted[index]?.usage.cacheReadTokens ?? -1;
      expect(Math.abs(predicted.cacheReadTokens - read), `request ${index + 1}`).toBeLessThan(50);
    }
  });
});

test("the simulated provider and our catalog know the same shortest start of each model", () => {
  const usual = leastCacheTokens("a model that nobody knows");
  const claudes = known.list().filter(({ provider }) => provider === "anthropic");
  expect(claudes.length).toBeGreaterThan(10);
  for (const { id, leastCacheTokens: least } of claudes)
    expect(least ?? usual, id).toBe(leastCacheTokens(id));
});

function sum<T>(items: readonly T[], of: (item: T, index: number) => number): number {
  return items.reduce((total, item, index) => total + of(item, index), 0);
}
