// Words alone, meaning alone and both together, over the same three projects: both are at least as good as each.
import { expect, test } from "vitest";
import { localEmbedder } from "../keel/src/memory/local-embedder.ts";
import type { Embedder, MemoryIndex } from "../keel/src/ports/memory-index.ts";
import { heldOutSets, type MemorySets, memorySets, type SetQuestion } from "./corpora/memory-sets.ts";
import { laterSets } from "./corpora/memory-sets-later.ts";
import { memoryStage, sessionId } from "./memory/stage.ts";
import { countOf } from "./support/budget.ts";
import { notRunHere } from "./support/not-run.ts";
import { note } from "./support/notes.ts";
import { verifies } from "./support/verifies.ts";

const allSets = [
  ["tuned by", memorySets],
  ["held out", heldOutSets],
  ["in free sentences", laterSets],
] as const;
/** Of the questions that use its words. */
const leastShare = 0.98;

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

test.each(allSets)(
  "questions that use its words find what was said at the first place: %s",
  async (_, sets) => {
    const { keywords, paraphrases } = sets;
    await using stage = await stageOfSets(sets);
    const index = stage.index();
    await index.catchUp();
    expect([keywords.length, paraphrases.length]).toEqual([sets === laterSets ? 50 : 150, 24]);
    expect(await right(index, keywords)).toBeGreaterThanOrEqual(keywords.length * leastShare);
  },
);

/** One project of it, without what stands between: a model needs a moment for each text. */
function partOf({ projects, keywords, paraphrases }: MemorySets): MemorySets {
  const [first = { cwd: "", lines: [] }] = projects;
  const lines = first.lines.flatMap((text, line) => (line % 4 === 0 ? [{ text, line }] : []));
  const moved = (questions: readonly SetQuestion[]): SetQuestion[] =>
    questions
      .filter(({ project }) => project === 0)
      .map(({ asked, line }) => ({ asked, project: 0, line: lines.findIndex((one) => one.line === line) }));
  return {
    projects: [{ cwd: first.cwd, lines: lines.map(({ text }) => text) }],
    keywords: moved(keywords),
    paraphrases: moved(paraphrases),
  };
}

test("words and meaning together are at least as good as each alone, on both sets", {
  timeout: 3_600_000,
}, async () => {
  verifies("S1.28", "S1.29");
  const chosen =
    countOf("memory-sets") < allSets.length
      ? [["a part of those in free sentences", partOf(laterSets)] as const]
      : allSets;
  const folder = process.env["KEEL_EMBED_FOLDER"];
  const real = await localEmbedder({ folders: folder === undefined ? [] : [folder] }).catch(() => undefined);
  if (!real) return notRunHere("memory sets", "no local embedder is installed");
  try {
    for (const [name, sets] of chosen) await compare(name, sets, real);
  } finally {
    await real.close();
  }
});

async function compare(name: string, sets: MemorySets, real: Embedder): Promise<void> {
  const { projects, keywords, paraphrases } = sets;
  await using stage = await stageOfSets(sets);
  const known = await vectorsOf(real, [
    ...projects.flatMap(({ lines }) => lines),
    ...[...keywords, ...paraphrases].map(({ asked }) => asked),
  ]);
  const vectorOf = (text: string): Float32Array => known.get(text) ?? new Float32Array(384);
  const kept: Embedder = {
    id: real.id,
    embed: async (asked) => asked.map(vectorOf),
    close: async () => undefined,
  };
  const byMeaning = (questions: readonly SetQuestion[]): number =>
    questions.filter(({ asked, project, line }) => {
      const all = projects.flatMap(({ lines }, at) =>
        lines.map((text, number) => ({ at, number, near: dot(vectorOf(text), vectorOf(asked)) })),
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
    `memory sets (${name}), of ${keywords.length} and ${paraphrases.length} at rank 1: words ${alone}, meaning ${meant}, both ${fused}`,
  );
  for (const at of [0, 1])
    expect(fused[at], name).toBeGreaterThanOrEqual(Math.max(alone[at] ?? 0, meant[at] ?? 0));
  expect(fused[1], name).toBeGreaterThanOrEqual(Math.floor((paraphrases.length * 22) / 24));
}

async function vectorsOf(real: Embedder, texts: readonly string[]): Promise<Map<string, Float32Array>> {
  const known = new Map<string, Float32Array>();
  for (let at = 0; at < texts.length; at += 16) {
    const some = texts.slice(at, at + 16);
    for (const [index, vector] of (await real.embed(some, "text")).entries())
      known.set(some[index] ?? "", vector);
  }
  return known;
}

const dot = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
