import { describe, expect, test } from "vitest";
import { billSince, foldBill } from "./bill.ts";
import type { Durable, DurableEvent } from "./event/durable.ts";
import { type Bill, billSchema, noBill, noUsage } from "./usage.ts";

const request = (model: string, inputTokens: number, costUsd: number | null): DurableEvent => ({
  type: "model.consulted",
  requestId: "r",
  model,
  by: { kind: "hook", name: "h" },
  usage: { ...noUsage, inputTokens },
  costUsd,
  ms: 2,
});

const lost: DurableEvent = { ...request("m", 0, null), type: "model.consulted", usage: null } as DurableEvent;

const agentEnds = (bill: Bill, status: "running" | "completed" = "completed"): DurableEvent => ({
  type: "task.changed",
  taskId: "t",
  status,
  data: { kind: "agent", bill },
});

const billOf = (...events: DurableEvent[]) =>
  events
    .map((event, index): Durable => ({ seq: index + 1, at: 1, session: "s", ...event }))
    .reduce(foldBill, noBill);

describe("the bill", () => {
  test("adds up requests by model, and says apart what has no price and what nobody knows", () => {
    const bill = billOf(request("m", 10, 0.5), request("m", 5, 0.25), request("local", 7, null), lost);
    expect(bill).toMatchObject({ costUsd: 0.75, unpricedTokens: 7, unknownRequests: 1, apiMs: 8 });
    expect(bill.models).toMatchObject({
      m: { costUsd: 0.75, unpricedTokens: 0, replies: 2, usage: { inputTokens: 15 } },
      local: { costUsd: 0, unpricedTokens: 7, replies: 1 },
    });
  });

  test("names no model that was asked and used nothing", () => {
    expect(billOf(request("m", 0, 0))).toMatchObject({ models: {}, apiMs: 2 });
  });

  test("takes an agent's bill with its end, once, also under a strange name", () => {
    const agent = billOf(request("constructor", 4, 1), request("local", 6, null), lost);
    const bill = billOf(request("m", 1, 1), agentEnds(agent, "running"), agentEnds(agent));
    expect(bill).toMatchObject({ costUsd: 2, unpricedTokens: 6, unknownRequests: 1 });
    expect(Object.keys(bill.models)).toEqual(["m", "constructor", "local"]);
    expect(bill.models["constructor"]).toMatchObject({ costUsd: 1, replies: 1 });
  });

  test("of a stretch is what the log keeps of a bill, and no more", () => {
    const before = billOf(request("m", 10, 0.5));
    const since = billSince(billOf(request("m", 10, 0.5), request("m", 3, 0.25)), before);
    expect(since).toMatchObject({ costUsd: 0.25, models: { m: { usage: { inputTokens: 3 } } } });
    expect(since).toEqual(billSchema.parse(since));
  });
});
