import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../ports/model.ts";
import type { ThinkingWish } from "../../protocol/settings.ts";
import { catalog } from "../catalog.ts";
import { thinkingFields } from "./thinking.ts";

function fields(model: string, thinking: ThinkingWish, rest: Partial<ModelRequest> = {}) {
  const request = {
    model,
    system: [],
    tools: [],
    messages: [],
    maxOutputTokens: 32_000,
    thinking,
    session: "s",
    ...rest,
  };
  return thinkingFields(request, catalog().info(model));
}

const off: ThinkingWish = { kind: "off" };
const adaptive: ThinkingWish = { kind: "adaptive" };
const budget = (tokens: number): ThinkingWish => ({ kind: "budget", tokens });

describe("thinking", () => {
  test.each<[string, ThinkingWish, object]>([
    ["claude-sonnet-4-5", off, {}],
    ["claude-sonnet-4-5", budget(4_000), { thinking: { type: "enabled", budget_tokens: 4_000 } }],
    ["claude-sonnet-4-5-20250929", adaptive, { thinking: { type: "enabled", budget_tokens: 16_000 } }],
    ["claude-opus-4-8", off, {}],
    ["claude-opus-4-8", budget(4_000), { thinking: { type: "adaptive", display: "summarized" } }],
    ["claude-sonnet-5", off, { thinking: { type: "disabled" } }],
    ["claude-sonnet-5-5", off, { thinking: { type: "between_tools" } }],
    ["claude-opus-5-5", off, {}],
    ["claude-opus-5-5", adaptive, { thinking: { type: "adaptive", display: "summarized" } }],
    ["claude-sonnet-9", adaptive, { thinking: { type: "adaptive", display: "summarized" } }],
    ["local-model", adaptive, {}],
  ])("%s with %o is told %o", (model, mode, wire) => {
    expect(fields(model, mode)).toEqual(wire);
  });

  test("a budget leaves room for the reply, and one that is too small is none", () => {
    const told = (tokens: number, maxOutputTokens: number) =>
      fields("claude-haiku-4-5", budget(tokens), { maxOutputTokens }).thinking;
    expect(told(50_000, 8_000)).toEqual({ type: "enabled", budget_tokens: 8_000 - 1_024 });
    expect(told(1_000, 8_000)).toBeUndefined();
    expect(told(4_000, 1_500)).toBeUndefined();
    expect(told(0, 8_000)).toBeUndefined();
  });
});

describe("effort", () => {
  test.each<[string, string, string | undefined]>([
    ["claude-opus-5-5", "xhigh", "xhigh"],
    ["claude-opus-4-6", "xhigh", "high"],
    ["claude-opus-4-6", "max", "max"],
    ["claude-opus-4-5", "max", "high"],
    ["claude-sonnet-4-5", "high", undefined],
    ["claude-sonnet-9", "low", "low"],
    ["local-model", "high", undefined],
    ["claude-opus-5-5", "nonsense", undefined],
  ])("%s asked for %s is told %s", (model, effort, told) => {
    expect(fields(model, adaptive, { effort }).output_config?.effort).toBe(told);
  });

  test("without thinking is never above high, which the provider would refuse", () => {
    expect(fields("claude-opus-5", off, { effort: "max" })).toEqual({
      thinking: { type: "disabled" },
      output_config: { effort: "high" },
    });
  });
});
