/**
 * Vectors as they are kept: a byte for each number, and one bit, its sign. A search looks at the signs of all, which are
 * in memory, thirty-two to a step, and weighs only the nearest of them number by number.
 */
import type { MemoryStatements } from "./tables.ts";
import { numberIn } from "./tables.ts";

/** So many of the nearest by signs are weighed, for each that is wanted. */
const weighedForEach = 12;
const weighedAtLeast = 200;

export function packVector(vector: Float32Array): { signs: Uint8Array; bytes: Uint8Array } {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0) || 1;
  const bytes = new Uint8Array(Int8Array.from(vector, (value) => Math.round((value / most) * 127)).buffer);
  return { signs: new Uint8Array(signsOf(vector).buffer), bytes };
}

const signsOf = (vector: Float32Array): Uint32Array<ArrayBuffer> => {
  const signs = new Uint32Array(Math.ceil(vector.length / 32));
  for (let at = 0; at < vector.length; at++)
    if ((vector[at] ?? 0) > 0) signs[at >> 5] = (signs[at >> 5] ?? 0) | (1 << (at & 31));
  return signs;
};

export type Near = { readonly chunk: number; readonly likeness: number };

/** What is in memory of the vectors of one embedder. */
export class VectorScan {
  readonly #embedder: number;
  #round = -1;
  #last = 0;
  #count = 0;
  #step = 0;
  #signs = new Uint32Array(0);
  #chunks = new Float64Array(0);
  #sessions = new Uint32Array(0);

  constructor(embedder: number) {
    this.#embedder = embedder;
  }

  get count(): number {
    return this.#count;
  }

  /** The nearest first, of what was taken in, and of these sessions where some are named. */
  nearest(run: MemoryStatements, question: Float32Array, most: number, only?: ReadonlySet<number>): Near[] {
    const wanted = Math.max(weighedAtLeast, most * weighedForEach);
    const near = this.#bySigns(signsOf(question), wanted, only);
    const rows = run.all(
      "SELECT chunk, vector FROM vectors WHERE chunk IN (SELECT value FROM json_each(?))",
      JSON.stringify(near),
    );
    const asked = lengthOf(question);
    const weighed = rows.map((row) => ({
      chunk: numberIn(row, "chunk"),
      likeness: likenessOf(row["vector"], question, asked),
    }));
    return weighed.sort((left, right) => right.likeness - left.likeness).slice(0, most);
  }

  /** Takes in at most so many of those that came since; false when these were all. */
  catchUp(run: MemoryStatements, most: number): boolean {
    const round = numberIn(run.get("SELECT value FROM facts WHERE name = 'round'"), "value");
    if (round !== this.#round) {
      this.#round = round;
      this.#last = 0;
      this.#count = 0;
    }
    const rows = run.all(
      "SELECT vectors.chunk AS chunk, session, signs FROM vectors JOIN chunks ON chunks.id = vectors.chunk WHERE embedder = ? AND vectors.chunk > ? ORDER BY vectors.chunk LIMIT ?",
      this.#embedder,
      this.#last,
      most,
    );
    for (const row of rows) this.#add(numberIn(row, "chunk"), numberIn(row, "session"), row["signs"]);
    this.#last = numberIn(rows.at(-1), "chunk") || this.#last;
    return rows.length === most;
  }

  #add(chunk: number, session: number, signs: unknown): void {
    if (!(signs instanceof Uint8Array) || signs.length === 0) return;
    const step = signs.length >> 2;
    if (this.#count === 0) this.#step = step;
    if (step !== this.#step) return;
    if (this.#count === this.#chunks.length) this.#grow();
    const copy = new Uint32Array(step);
    new Uint8Array(copy.buffer).set(signs);
    this.#signs.set(copy, this.#count * step);
    this.#chunks[this.#count] = chunk;
    this.#sessions[this.#count] = session;
    this.#count++;
  }

  #grow(): void {
    const room = Math.max(1_024, this.#count * 2);
    const signs = new Uint32Array(room * this.#step);
    const chunks = new Float64Array(room);
    const sessions = new Uint32Array(room);
    signs.set(this.#signs.subarray(0, this.#count * this.#step));
    chunks.set(this.#chunks.subarray(0, this.#count));
    sessions.set(this.#sessions.subarray(0, this.#count));
    this.#signs = signs;
    this.#chunks = chunks;
    this.#sessions = sessions;
  }

  /** Counted by how many signs differ: those of the lowest counts, as many as are wanted. */
  #bySigns(question: Uint32Array, wanted: number, only: ReadonlySet<number> | undefined): number[] {
    const [step, count, signs] = [this.#step, this.#count, this.#signs];
    if (question.length !== step) return [];
    const differs = new Uint16Array(count);
    const counts = new Uint32Array(step * 32 + 1);
    const passed = step * 32 + 1;
    for (let at = 0, from = 0; at < count; at++, from += step) {
      if (only && !only.has(this.#sessions[at] ?? 0)) {
        differs[at] = passed;
        continue;
      }
      let bits = 0;
      for (let word = 0; word < step; word++) {
        let odd = (signs[from + word] ?? 0) ^ (question[word] ?? 0);
        odd -= (odd >>> 1) & 0x55555555;
        odd = (odd & 0x33333333) + ((odd >>> 2) & 0x33333333);
        bits += Math.imul((odd + (odd >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
      }
      differs[at] = bits;
      counts[bits] = (counts[bits] ?? 0) + 1;
    }
    let bound = 0;
    for (let sum = counts[0] ?? 0; sum < wanted && bound < step * 32; ) sum += counts[++bound] ?? 0;
    const near: number[] = [];
    for (let at = 0; at < count; at++) if ((differs[at] ?? passed) <= bound) near.push(this.#chunks[at] ?? 0);
    return near;
  }
}

const lengthOf = (vector: Float32Array): number =>
  Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

function likenessOf(bytes: unknown, question: Float32Array, asked: number): number {
  if (!(bytes instanceof Uint8Array)) return -1;
  const vector = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  let [product, own] = [0, 0];
  for (let at = 0; at < vector.length; at++) {
    const one = vector[at] ?? 0;
    product += one * (question[at] ?? 0);
    own += one * one;
  }
  return product / (Math.sqrt(own) * asked || 1);
}
