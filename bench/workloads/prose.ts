/**
 * Texts of made-up words, of which a few stand in nearly every text and most in hardly any, as in what people say. The same
 * for the same seed.
 */

export type Prose = {
  /** Of so many words. */
  text(words: number): string;
  /** From 0 up to 1. */
  chance(): number;
};

const vocabulary = 20_000;
const syllables = ["ba", "ko", "li", "mu", "ne", "ra", "si", "to", "vu", "ze"] as const;
const longest = 5;

/** By how common it is: 0 is the commonest. */
export const wordAt = (rank: number): string =>
  [...String(rank).padStart(longest, "0")].map((digit) => syllables[Number(digit)]).join("");

export function proseOf(seed: number): Prose {
  let state = seed >>> 0;
  const chance = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  // The chance of a word falls with its rank.
  const word = (): string => wordAt(Math.floor(vocabulary ** chance()) - 1);
  return { chance, text: (words) => Array.from({ length: words }, word).join(" ") };
}

/** What is looked for: words that few texts have, some of each, and those that nearly all have. */
export const questions = {
  rare: [3_000, 3_700, 4_400, 5_100, 5_800].map((rank) => `${wordAt(rank)} ${wordAt(rank % 97)}`),
  usual: [60, 75, 90, 105, 120].map((rank) => `${wordAt(rank)} ${wordAt(rank * 3)}`),
  common: [0, 1, 2, 3, 4].map(wordAt),
} as const;

export type QuestionKind = keyof typeof questions;
export const questionKinds: readonly QuestionKind[] = ["rare", "usual", "common"];

/** How long each kind of question takes, asked so often, once what is read of the disk was read. */
export async function timesOf(
  repeats: number,
  ask: (words: string) => Promise<unknown>,
): Promise<Record<QuestionKind, number[]>> {
  const ms: Record<QuestionKind, number[]> = { rare: [], usual: [], common: [] };
  for (let time = 0; time <= repeats; time++)
    for (const kind of questionKinds)
      for (const words of questions[kind]) {
        const startedAt = performance.now();
        await ask(words);
        if (time > 0) ms[kind].push(performance.now() - startedAt);
      }
  return ms;
}
