import { expect, test } from "vitest";
import { scriptedModel } from "../testing/scripted-model.ts";
import { defaultLimits, limitsFor } from "./limits.ts";

test("a conversation is shortened before the model's window is full, or at nine tenths of the one that a person names", () => {
  const info = { ...scriptedModel({ replies: [] }).info("any"), windowTokens: 200_000 };
  const at = (windowTokens: number): number =>
    limitsFor({ ...defaultLimits, windowTokens }, info).compactAtTokens;
  expect(at(Number.POSITIVE_INFINITY)).toBe(180_000);
  expect(at(100_000)).toBe(90_000);
  expect(at(1_000_000)).toBe(180_000);
  const small = { ...info, windowTokens: 30_000 };
  expect(limitsFor(defaultLimits, small).compactAtTokens).toBe(15_000);
  expect(limitsFor({ ...defaultLimits, compact: "asked" }, info).compactAtTokens).toBe(
    Number.POSITIVE_INFINITY,
  );
});
