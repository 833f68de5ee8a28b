import { expect, test } from "vitest";
import { catalog } from "./catalog.ts";
import { readCatalog } from "./published-catalog.ts";

const about = { today: "2026-11-18", ids: ["anthropic", "openai", "groq"] };

test("what `keel models --json` prints is read again, row by row", () => {
  const rows = catalog().list();
  const read = readCatalog(JSON.parse(JSON.stringify(rows)), about);
  expect(read).toEqual({ models: rows, passedOver: 0 });
  expect(readCatalog({ asOf: "x", models: rows }, about)?.models).toHaveLength(rows.length);
});

test("models under their providers are read with prices, windows and what they take, for providers that can be asked", () => {
  const model = {
    name: "Llama 9",
    limit: { context: 131_072, output: 8_192 },
    cost: { input: 0.5, output: 0.8 },
    modalities: { input: ["text", "image"] },
    tool_call: true,
  };
  const free = { limit: { context: 8_000, output: 1_000 } };
  const read = readCatalog(
    {
      groq: { models: { "llama-9": model } },
      openai: { models: { "gpt-9": free } },
      elsewhere: { models: { x: model } },
    },
    about,
  );
  expect(read?.models).toEqual([
    {
      id: "groq/llama-9",
      name: "Llama 9",
      provider: "groq",
      windowTokens: 131_072,
      maxOutputTokens: 8_192,
      prices: {
        input: 0.5,
        output: 0.8,
        cacheRead: 0.5,
        cacheWrite: 0.5,
        cacheWriteLong: 0.5,
        asOf: "2026-11-18",
      },
      abilities: { tools: true, images: true, thinking: "none", cache: false },
    },
    expect.objectContaining({ id: "gpt-9", provider: "openai", prices: null }),
  ]);
});

test("what is no model is passed over and counted; what is no catalog is told", () => {
  const [row] = catalog().list();
  const odd = [{ ...row, windowTokens: -1 }, { ...row, id: "a\u001bb" }, { id: "x" }, 7];
  expect(readCatalog([row, ...odd], about)).toMatchObject({ models: [row], passedOver: 4 });
  expect(readCatalog({ hello: 1 }, about)).toBeUndefined();
  expect(readCatalog("text", about)).toBeUndefined();
  expect(readCatalog(undefined, about)).toBeUndefined();
});
