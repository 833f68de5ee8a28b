/**
 * What every embedder must do, as cases for any test runner:
 *
 *     for (const { name, run } of embedderSuite({ open })) test(name, run);
 */
import assert from "node:assert/strict";
import type { Embedder } from "../ports/memory-index.ts";
import { casesOf, type KitCase, soon } from "./kit-case.ts";

export const embedderSuite = ({ open }: { open(): Promise<Embedder> }): KitCase[] =>
  casesOf(cases, open, (embedder) => embedder.close());

const texts = [
  "The ferry leaves at nine.",
  "Der Zug fährt um zehn. 🚆",
  "x",
  "function add(a, b) {\n  return a + b;\n}",
  `A long one: ${"many words ".repeat(200)}`,
];

const cases: Readonly<Record<string, (embedder: Embedder) => Promise<void>>> = {
  "says which model it is": async ({ id }) => {
    assert.match(id, /\S/);
  },

  "gives a vector for each text, all of one length, and each with a direction": async (embedder) => {
    const vectors = await embed(embedder, texts);
    assert.equal(vectors.length, texts.length);
    for (const vector of vectors) {
      assert.ok(vector instanceof Float32Array, "it is no Float32Array");
      assert.equal(vector.length, vectors[0]?.length);
      assert.ok(vector.every(Number.isFinite), "one of its numbers is none");
      assert.ok(sizeOf(vector) > 0, "it points nowhere");
    }
  },

  "gives them in the order of the texts, alone or together": async (embedder) => {
    const together = await embed(embedder, texts);
    for (const [at, text] of texts.entries()) {
      const [alone] = await embed(embedder, [text]);
      assert.ok(nearness(alone, together[at]) > 0.999, `text ${at} is another one alone`);
    }
  },

  "gives the same text the same direction, and another text another": async (embedder) => {
    const [one, other] = await embed(embedder, [texts[0] ?? "", texts[3] ?? ""]);
    const [again] = await embed(embedder, [texts[0] ?? ""]);
    assert.ok(nearness(one, again) > 0.999, "the same text is another one");
    assert.ok(nearness(one, other) < 0.999, "two texts are the same");
  },

  "takes a question, whose vector is as long as those of texts": async (embedder) => {
    const [text] = await embed(embedder, [texts[0] ?? ""]);
    const [question] = await soon("a vector", embedder.embed(["When does the ferry leave?"], "question"));
    assert.equal(question?.length, text?.length);
  },

  "gives nothing for nothing": async (embedder) => {
    assert.deepEqual(await embed(embedder, []), []);
  },

  "ends when it is stopped": async (embedder) => {
    await assert.rejects(soon("an end", embedder.embed(texts, "text", AbortSignal.abort())));
  },

  "is closed twice without harm": async (embedder) => {
    await embedder.close();
  },
};

const embed = (embedder: Embedder, wanted: readonly string[]) =>
  soon("vectors", embedder.embed(wanted, "text"));

const sizeOf = (vector: Float32Array): number => Math.hypot(...vector);

/** The cosine of what is between them. */
function nearness(one: Float32Array | undefined, other: Float32Array | undefined): number {
  assert.ok(one && other, "a vector is missing");
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0) / (sizeOf(one) * sizeOf(other));
}
