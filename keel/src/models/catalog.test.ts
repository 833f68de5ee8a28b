import { describe, expect, test } from "vitest";
import { costOf } from "../protocol/bill.ts";
import { modelInfoSchema } from "../protocol/usage.ts";
import { catalog } from "./catalog.ts";
import { defaultModels, knownAliases } from "./catalog-data.ts";

describe("the catalog", () => {
  test("knows the list prices of the models that the conformance kit bills", () => {
    expect(catalog().info("claude-sonnet-4-5").prices).toMatchObject({
      input: 3,
      output: 15,
      cacheWrite: 3.75,
      cacheRead: 0.3,
      cacheWriteLong: 6,
    });
    expect(catalog().info("claude-haiku-4-5").prices).toMatchObject({
      input: 1,
      output: 5,
      cacheWrite: 1.25,
      cacheRead: 0.1,
      cacheWriteLong: 2,
    });
  });

  test("a model that costs more for long prompts is billed by the length of the whole prompt", () => {
    const { prices } = catalog().info("claude-haiku-5-5");
    const usage = {
      inputTokens: 60_000,
      outputTokens: 1_000_000,
      cacheReadTokens: 40_000,
      cacheWriteTokens: 0,
    };
    expect(costOf(usage, prices)).toBeCloseTo(0.006 + 0.5 + 0.0004, 9);
    expect(costOf({ ...usage, cacheReadTokens: 40_001 }, prices)).toBeCloseTo(0.03 + 2.5 + 0.00200005, 9);
  });

  test("every row is a whole model, with prices that have a date and rise from read to write", () => {
    const models = catalog().list();
    expect(models.length).toBeGreaterThan(10);
    for (const model of models) {
      expect(modelInfoSchema.safeParse(model).success, model.id).toBe(true);
      expect(model.prices?.asOf, model.id).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      const { cacheRead = 0, input = 0, cacheWrite = 0, cacheWriteLong = 0 } = model.prices ?? {};
      expect([cacheRead, input, cacheWrite, cacheWriteLong], model.id).toEqual(
        [cacheRead, input, cacheWrite, cacheWriteLong].sort((left, right) => left - right),
      );
      expect(model.maxOutputTokens, model.id).toBeLessThan(model.windowTokens);
    }
  });

  test("every alias and every default is a model that it knows", () => {
    const known = catalog();
    for (const model of [...Object.values(knownAliases), ...Object.values(defaultModels)]) {
      expect(known.isKnown(model), model).toBe(true);
    }
    expect(known.unalias("sonnet")).toBe("claude-sonnet-5-5");
    expect(known.unalias("claude-sonnet-4-5")).toBe("claude-sonnet-4-5");
    expect(known.unalias("constructor")).toBe("constructor");
  });

  test.each(["claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5-latest"])(
    "%s is the model without its date, under its own name",
    (dated) => {
      const known = catalog();
      expect(known.info(dated)).toEqual({ ...known.info("claude-sonnet-4-5"), id: dated });
      expect(known.isKnown(dated)).toBe(true);
    },
  );

  test("an unknown model gets careful defaults and no prices", () => {
    const unknown = catalog().info("qwen3-coder");
    expect(unknown).toMatchObject({
      id: "qwen3-coder",
      prices: null,
      windowTokens: 64_000,
      maxOutputTokens: 8_192,
    });
    expect(unknown.abilities.thinking).toBe("none");
    expect(catalog().isKnown("qwen3-coder")).toBe(false);
    expect(catalog().info("constructor").prices).toBeNull();
  });

  test("a newer Claude is taken for an able one, still without prices", () => {
    const newer = catalog().info("claude-sonnet-9");
    expect([newer.prices, newer.windowTokens, newer.abilities.thinking]).toEqual([null, 200_000, "adaptive"]);
  });

  test("settings add models and correct known ones, and leave the rest as it was", () => {
    const extended = catalog({
      extra: [
        { id: "qwen3-coder", windowTokens: 262_144, abilities: { images: true } },
        { id: "claude-sonnet-4-5", maxOutputTokens: 1_000 },
      ],
      aliases: { local: "qwen3-coder", sonnet: "claude-sonnet-4-5" },
    });
    expect(extended.info("qwen3-coder")).toMatchObject({
      windowTokens: 262_144,
      maxOutputTokens: 8_192,
      prices: null,
      abilities: { tools: true, images: true, thinking: "none" },
    });
    expect(extended.info("claude-sonnet-4-5-20250929")).toMatchObject({
      maxOutputTokens: 1_000,
      windowTokens: 200_000,
      prices: { input: 3 },
    });
    expect([extended.unalias("local"), extended.unalias("sonnet")]).toEqual([
      "qwen3-coder",
      "claude-sonnet-4-5",
    ]);
    expect(catalog().info("claude-sonnet-4-5").maxOutputTokens).toBe(64_000);
  });
});

describe("a model at a provider that is named before it", () => {
  test("is that model; served by another than its own, its sizes are known and its price is not", () => {
    const known = catalog();
    expect(known.info("openai/gpt-6-sol")).toEqual({ ...known.info("gpt-6-sol"), id: "openai/gpt-6-sol" });
    const elsewhere = known.info("openai/claude-sonnet-5-5");
    expect(elsewhere).toMatchObject({ provider: "openai", prices: null, windowTokens: 1_000_000 });
    expect(elsewhere.abilities).toMatchObject({ thinking: "none", cache: false, images: true });
  });

  test("is what settings say about it, also when they do not say whose it is", () => {
    const prices = {
      input: 1,
      output: 2,
      cacheRead: 0,
      cacheWrite: 0,
      cacheWriteLong: 0,
      asOf: "2026-01-01",
    };
    const known = catalog({ extra: [{ id: "odd-model", prices }] });
    expect(known.info("openai/odd-model")).toMatchObject({ provider: "openai", prices });
  });

  test("may be unknown: then it is a careful guess for that provider's wire", () => {
    const known = catalog();
    expect(known.info("openai/qwen3")).toMatchObject({
      provider: "openai",
      name: "qwen3",
      windowTokens: 64_000,
    });
    expect(known.info("openai/qwen3").abilities).toMatchObject({
      thinking: "none",
      cache: false,
      images: false,
    });
    expect(known.info("gpt-9-new")).toMatchObject({
      provider: "openai",
      windowTokens: 128_000,
      prices: null,
    });
    expect(known.info("openai/gpt-oss:20b")).toMatchObject({
      windowTokens: 64_000,
      abilities: { images: false },
    });
  });

  test("has a home by prefix, by what is known or by family, or none", () => {
    const known = catalog({ extra: [{ id: "house-model", provider: "openai" }, { id: "odd-model" }] });
    const names = [
      "openai/x",
      "gpt-6-sol-2026-09-22",
      "house-model",
      "o9-new",
      "claude-9",
      "odd-model",
      "qwen/x",
    ];
    expect(names.map(known.home)).toEqual([
      "openai",
      "openai",
      "openai",
      "openai",
      "anthropic",
      undefined,
      undefined,
    ]);
  });
});
