// Words alone, meaning alone and both together, over the same three projects: both are at least as good as each.
import { expect, test } from "vitest";
import { localEmbedder } from "../keel/src/memory/local-embedder.ts";
import type { Embedder, MemoryIndex } from "../keel/src/ports/memory-index.ts";
import { heldOutSets, type MemorySets, memorySets, type SetQuestion } from "./corpora/memory-sets.ts";
import { memoryStage, sessionId } from "./memory/stage.ts";
import { notRunHere } from "./support/not-run.ts";
import { note } from "./support/notes.ts";

const both = [
  ["tuned by", memorySets],
  ["held out", heldOutSets],
] as const;

async function stageOfSets({ projects }: MemorySets) {
  const stage = await memoryStage();
  for (const [at, { cwd, lines }] of projects.entries())
    await stage.session(
      sessionId(at + 1),
      cwd,
      lines.map((text, line) => ({ by: line % 2 === 0 ? "person" : "agent", text })),
    );
  return stage;
}

/** How many are answered at the first place; the first event of a log is its opening. */
async function right(index: MemoryIndex, questions: readonly SetQuestion[]): Promise<number> {
  let count = 0;
  for (const { asked, project, line } of questions) {
    const [first] = (await index.search({ words: asked, scope: "person" })).found;
    if (first?.session === sessionId(project + 1) && first.seq === line + 2) count++;
  }
  return count;
}

test.each(both)("questions that use its words find what was said at the first place: %s", async (_, sets) => {
  const { keywords, paraphrases } = sets;
  await using stage = await stageOfSets(sets);
  const index = stage.index();
  await index.catchUp();
  expect([keywords.length, paraphrases.length]).toEqual([150, 24]);
  expect(await right(index, keywords)).toBeGreaterThanOrEqual(147);
});

test.each(both)(
  "words and meaning together are at least as good as each alone, on both sets: %s",
  async (name, sets) => {
    const { projects, keywords, paraphrases } = sets;
    const folder = process.env["KEEL_EMBED_FOLDER"];
    if (folder === undefined)
      return notRunHere("memory sets", "no local embedder: KEEL_EMBED_FOLDER names none");
    await using stage = await stageOfSets(sets);
    const real = await localEmbedder({ folders: [folder] });
    const texts = [
      ...projects.flatMap(({ lines }) => lines),
      ...[...keywords, ...paraphrases].map(({ asked }) => asked),
    ];
    const known = new Map<string, Float32Array>();
    for (let at = 0; at < texts.length; at += 16) {
      const some = texts.slice(at, at + 16);
      for (const [index, vector] of (await real.embed(some, "text")).entries())
        known.set(some[index] ?? "", vector);
    }
    await real.close();
    const kept: Embedder = {
      id: real.id,
      embed: async (asked) => asked.map((text) => known.get(text) ?? new Float32Array(384)),
      close: async () => undefined,
    };
    const dot = (left: Float32Array, right: Float32Array): number =>
      left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
    const byMeaning = (questions: readonly SetQuestion[]): number =>
      questions.filter(({ asked, project, line }) => {
        const question = known.get(asked) ?? new Float32Array(384);
        const all = projects.flatMap(({ lines }, at) =>
          lines.map((text, number) => ({ at, number, near: dot(known.get(text) ?? question, question) })),
        );
        const best = all.reduce((one, other) => (other.near > one.near ? other : one));
        return best.at === project && best.number === line;
      }).length;
    const words = stage.index();
    await words.catchUp();
    const alone = [await right(words, keywords), await right(words, paraphrases)];
    await words.close();
    const both = stage.embedded(kept);
    await both.catchUp();
    const fused = [await right(both, keywords), await right(both, paraphrases)];
    const meant = [byMeaning(keywords), byMeaning(paraphrases)];
    note(
      "counts",
      `memory sets (${name}), of 150 and 24 at rank 1: words ${alone}, meaning ${meant}, both ${fused}`,
    );
    for (const at of [0, 1])
      expect(fused[at]).toBeGreaterThanOrEqual(Math.max(alone[at] ?? 0, meant[at] ?? 0));
    expect(fused[1]).toBeGreaterThanOrEqual(22);
  },
  900_000,
);
