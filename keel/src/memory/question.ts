/** A question as words to look for, and how much of it a text speaks of. */

/** Words that nearly every text has: they find nothing, and cost the most. */
const stopWords = new Set(
  `a about above after again against all also am an and any are as at be because been before being below between both but
  by can could did do does doing don down during each few for from further had has have having he her here hers him his how
  i if in into is it its itself just let like me more most my no nor not now of off on once one only or other our out over
  own please same she should so some such tell than that the their them then there these they this those through to too
  under until up us use used using very was we were what when where which while who whom why will with would you your`.split(
    /\s+/,
  ),
);

/** Longer questions are whole texts: their first words say what they are about. */
const maxWords = 32;

export function wordsOf(question: string): string[] {
  const all = question.toLowerCase().match(/[\p{L}\p{N}]+(?:[_.-][\p{L}\p{N}]+)*/gu) ?? [];
  const telling = all.filter((word) => !stopWords.has(word));
  return [...new Set(telling.length > 0 ? telling : all)].slice(0, maxWords);
}

/** Any of the words; one with signs inside is looked for as it stands. Undefined where there is nothing to look for. */
export const matchOf = (words: readonly string[]): string | undefined =>
  words.length === 0 ? undefined : words.map((word) => `"${word}"`).join(" OR ");

/** The part of the words that a text has, endings aside. */
export function shareOf(words: readonly string[], text: string): number {
  if (words.length === 0) return 0;
  const said = new Set(
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.map(stemOf),
  );
  const has = words.filter((word) => word.split(/[_.-]/).every((piece) => said.has(stemOf(piece))));
  return has.length / words.length;
}

/** Close enough to tell whether two words are one: `deploys`, `deployed` and `deploying` are. */
const stemOf = (word: string): string =>
  word.length < 5 ? word.replace(/s$/, "") : word.replace(/(?:ations?|ing|ers?|ed|es|ly|s|e)$/, "");
