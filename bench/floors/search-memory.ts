/**
 * The same file, the same words and the same vectors by nothing but SQLite's own search, and one loop over all vectors as
 * they are kept, which stand in memory.
 */
import { DatabaseSync } from "node:sqlite";
import { runProgram } from "../program.ts";
import { proseOf, timesOf } from "../workloads/prose.ts";
import { dimensions, randomVector } from "../workloads/vectors.ts";

const most = 40;

await runProgram(async ({ file, repeats }: { file: string; repeats: number }) => {
  const database = new DatabaseSync(file);
  const prose = proseOf(2);
  const rows = database.prepare("SELECT vector FROM vectors ORDER BY chunk").all();
  const vectors = new Int8Array(rows.length * dimensions);
  for (const [at, { vector }] of rows.entries())
    if (vector instanceof Uint8Array) vectors.set(new Int8Array(vector), at * dimensions);
  const scan = (question: Float32Array): { at: number; likeness: number }[] => {
    const likeness = new Float32Array(rows.length);
    for (let at = 0, from = 0; at < rows.length; at++, from += dimensions) {
      let sum = 0;
      for (let place = 0; place < dimensions; place++)
        sum += (vectors[from + place] ?? 0) * (question[place] ?? 0);
      likeness[at] = sum;
    }
    const bound = likeness.toSorted().at(-most) ?? 0;
    const near: { at: number; likeness: number }[] = [];
    for (const [at, value] of likeness.entries()) if (value >= bound) near.push({ at, likeness: value });
    return near;
  };
  const found = database.prepare(
    "SELECT chunks.text FROM words JOIN chunks ON chunks.id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT ?",
  );
  const ms = await timesOf(repeats, async (words) => {
    const match = words
      .split(" ")
      .map((word) => `"${word}"`)
      .join(" OR ");
    return [found.all(match, most), scan(randomVector(prose))];
  });
  database.close();
  return ms;
});
