import { describe, expect, test } from "vitest";
import type { DurableEvent } from "./event/durable.ts";
import { outcomeOf } from "./outcome.ts";

type Finished = Extract<DurableEvent, { type: "tool.finished" }>;

const finished = (more: Partial<Finished>): Finished => ({
  type: "tool.finished",
  callId: "c",
  tool: "T",
  content: [],
  failed: false,
  display: { kind: "text", text: "" },
  ms: 1,
  ...more,
});

describe("what came of a call", () => {
  const denied = { by: "rule", reason: "no" } as const;

  test.each<[string, Partial<Finished>]>([
    ["done", {}],
    ["answered", { answer: { sum: 3 } }],
    ["failed", { failed: true }],
    ["invalid", { failed: true, invalid: true }],
    ["interrupted", { failed: true, interrupted: true }],
    ["denied", { failed: true, denied }],
    ["deferred", { failed: true, deferred: true }],
  ])("is %s by its own flag", (kind, flags) => {
    expect(outcomeOf(finished(flags)).kind).toBe(kind);
  });

  test("is the first that counts where several flags are set: handed on, denied, interrupted, wrong, failed", () => {
    const every = { failed: true, invalid: true, interrupted: true, denied, deferred: true, answer: 1 };
    const kinds = [every];
    const { deferred: _, ...notDeferred } = every;
    const { denied: __, ...notDenied } = notDeferred;
    const { interrupted: ___, ...notInterrupted } = notDenied;
    const { invalid: ____, ...notInvalid } = notInterrupted;
    const order = [...kinds, notDeferred, notDenied, notInterrupted, notInvalid].map(
      (flags) => outcomeOf(finished(flags)).kind,
    );
    expect(order).toEqual(["deferred", "denied", "interrupted", "invalid", "failed"]);
  });

  test("brings what belongs to it, and an interrupt that followed a denial", () => {
    expect(outcomeOf(finished({ data: { lines: 2 } }))).toEqual({ kind: "done", data: { lines: 2 } });
    expect(outcomeOf(finished({ answer: null }))).toEqual({ kind: "answered", answer: null });
    expect(outcomeOf(finished({ failed: true, denied, interrupted: true }))).toEqual({
      kind: "denied",
      denial: denied,
      interrupted: true,
    });
  });
});
