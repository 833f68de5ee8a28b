// What an embedder adds to words: it fills what they leave empty, never holds anybody up, and is replaced in the background.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { httpEmbedder } from "../keel/src/memory/http-embedder.ts";
import type { Embedder } from "../keel/src/ports/memory-index.ts";
import { memoryStage, sessionId } from "./memory/stage.ts";
import { loopback } from "./support/loopback.ts";
import { verifies } from "./support/verifies.ts";

/** Knows three subjects, by whichever words they are told. */
const subjects = [/boat|ferry|vessel/i, /money|invoice|payment/i, /disk|storage|space/i];

const knowing = (id: string, embed?: Embedder["embed"]): Embedder => ({
  id,
  embed:
    embed ??
    (async (texts) =>
      texts.map((text) => Float32Array.from(subjects, (subject) => (subject.test(text) ? 1 : -0.01)))),
  close: async () => undefined,
});

async function three() {
  const stage = await memoryStage();
  await stage.session(sessionId(1), "/work/a", [
    { by: "person", text: "The ferry leaves at nine." },
    { by: "agent", text: "x".repeat(2_400) },
    { by: "person", text: "Each invoice is sent on Monday." },
    { by: "agent", text: "y".repeat(2_400) },
    { by: "person", text: "There is no storage left on host berlin." },
  ]);
  return stage;
}

test("meaning adds what no word finds, and leaves the first place to words that fit", async () => {
  verifies("S1.28");
  await using stage = await three();
  const index = stage.embedded(knowing("one:a"));
  await index.catchUp();
  expect(await index.stats()).toMatchObject({ embedder: "one:a", embedded: 7, chunks: 7 });
  const found = async (words: string) => {
    const { found, by } = await index.search({ words, scope: "person", limit: 2 });
    return { first: found[0]?.text, how: found[0]?.by, by };
  };
  expect(await found("When can a vessel go?")).toEqual({
    first: "The ferry leaves at nine.",
    how: "meaning",
    by: "words and meaning",
  });
  // It speaks of a boat, but its words are those of another message.
  expect(await found("boat: storage left on berlin")).toMatchObject({
    first: "There is no storage left on host berlin.",
  });
});

test("an embedder that is late or fails leaves the words alone", async () => {
  await using stage = await three();
  const told: string[] = [];
  let mode: "good" | "late" | "bad" = "good";
  const good = knowing("one:a");
  const index = stage.embedded(
    knowing("one:a", async (texts, as, signal) => {
      if (mode === "late") return new Promise(() => undefined);
      if (mode === "bad") return Promise.reject(new Error("it broke"));
      return good.embed(texts, as, signal);
    }),
    (words) => told.push(words),
  );
  await index.catchUp();
  for (mode of ["late", "bad"] as const) {
    const answer = await index.search({ words: "invoice Monday", scope: "person" });
    expect(answer.by).toBe("words");
    expect(answer.found[0]?.text).toContain("invoice");
  }
  await stage.session(sessionId(2), "/work/a", [{ by: "person", text: "One more." }]);
  await index.index(sessionId(2));
  expect(told).toEqual([expect.stringContaining("Memory is found by words only: one:a")]);
});

test("whoever looks by hand may wait for a model that is loaded first", async () => {
  await using stage = await three();
  const good = knowing("one:a");
  const index = stage.embedded(
    knowing("one:a", async (texts, as, signal) => {
      if (as === "question") await sleep(300);
      return good.embed(texts, as, signal);
    }),
  );
  await index.catchUp();
  const wanted = { words: "When can a vessel go?", scope: "person" } as const;
  expect((await index.search(wanted)).by).toBe("words");
  expect(await index.search({ ...wanted, waitMs: 30_000 })).toMatchObject({
    by: "words and meaning",
    found: [{ text: "The ferry leaves at nine.", by: "meaning" }],
  });
});

test("another embedder replaces the vectors in the background, and says so once", async () => {
  await using stage = await three();
  const first = stage.embedded(knowing("one:a"));
  await first.catchUp();
  await first.close();
  const told: string[] = [];
  const second = stage.embedded(knowing("two:b"), (words) => told.push(words));
  await second.catchUp();
  await second.catchUp();
  expect(told).toEqual([expect.stringContaining("by two:b in place of one:a")]);
  expect(await second.stats()).toMatchObject({ embedder: "two:b", embedded: 7 });
  const { found } = await second.search({ words: "vessel", scope: "person" });
  expect(found[0]?.text).toContain("ferry");
});

test("embedders over HTTP speak as each server does, and a key never goes over plain HTTP to elsewhere", async () => {
  verifies("S1.29");
  const server = await loopback((response, { path }) => {
    const swapped = {
      data: [
        { index: 1, embedding: [0, 1] },
        { index: 0, embedding: [1, 0] },
      ],
    };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(path === "/api/embed" ? { embeddings: [[1, 0]] } : swapped));
  });
  const baseUrl = server.url;
  const ollama = httpEmbedder({ kind: "ollama", model: "m", baseUrl });
  expect(await ollama.embed(["a"], "text")).toEqual([Float32Array.from([1, 0])]);
  const voyage = httpEmbedder({ kind: "voyage", model: "m", baseUrl: `${baseUrl}/v1/`, key: "k-123456" });
  expect(await voyage.embed(["a", "b"], "question")).toEqual([
    Float32Array.from([1, 0]),
    Float32Array.from([0, 1]),
  ]);
  await expect(ollama.embed(["a", "b"], "text")).rejects.toMatchObject({ code: "embedder_failed" });
  const told = server.seen.map(({ path, headers, body }) => [path, headers.authorization, JSON.parse(body)]);
  await server.close();
  expect(told.slice(0, 2)).toEqual([
    ["/api/embed", undefined, { model: "m", input: ["a"] }],
    ["/v1/embeddings", "Bearer k-123456", { model: "m", input: ["a", "b"], input_type: "query" }],
  ]);
  expect(() =>
    httpEmbedder({ kind: "openai", model: "m", baseUrl: "http://far.example/v1", key: "k-123456" }),
  ).toThrow("a key goes over https only");
});
