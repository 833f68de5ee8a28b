/**
 * A question as words to look for, which chunks have them, and how much of it a text speaks of. To weigh a chunk takes a
 * microsecond, and a word that every tenth has would have all of those weighed to say next to nothing: it counts only
 * together with others of its kind.
 */
import { type MemoryStatements, numberIn } from "./tables.ts";

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

const commonShare = 0.1;
/** Fewer than this are weighed in a moment, whatever part of all they are. */
const fewChunks = 2_000;

type Wish = { readonly most: number; readonly only?: ReadonlySet<number> | undefined };

/** The best first. */
export function idsByWords(run: MemoryStatements, words: readonly string[], wish: Wish): number[] {
  if (words.length === 0) return [];
  const all = numberIn(run.get("SELECT max(id) AS n FROM chunks"), "n");
  const bound = Math.max(fewChunks, Math.ceil(all * commonShare));
  const terms = words.map(termOf);
  const anyOf = terms.join(" OR ");
  if (all <= bound) return ranked(run, anyOf, wish);
  const isCommon = (match: string): boolean => isWith(run, match, bound);
  const common = terms.filter(isCommon);
  if (common.length === 0) return ranked(run, anyOf, wish);
  const telling = terms.filter((term) => !common.includes(term));
  const together = common.join(" AND ");
  const isTelling = common.length > 1 && !isCommon(together);
  if (telling.length > 0)
    return ranked(run, [...telling, ...(isTelling ? [`(${together})`] : [])].join(" OR "), wish);
  if (!isTelling) return newest(run, together, wish);
  const found = ranked(run, together, wish);
  return found.length < wish.most ? ranked(run, anyOf, wish) : found;
}

/** One with signs inside is looked for as it stands. */
const termOf = (word: string): string => `"${word}"`;

/** Whether more than so many have them. */
const isWith = (run: MemoryStatements, match: string, bound: number): boolean =>
  numberIn(
    run.get("SELECT count(*) AS n FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", match, bound + 1),
    "n",
  ) > bound;

const ranked = (run: MemoryStatements, match: string, wish: Wish): number[] =>
  idsOf(run, match, wish, wish.only ? "bm25(words)" : "rank");

/** None is much better than another. */
const newest = (run: MemoryStatements, match: string, wish: Wish): number[] =>
  idsOf(run, match, wish, "words.rowid DESC");

function idsOf(run: MemoryStatements, match: string, { most, only }: Wish, order: string): number[] {
  const rows = only
    ? run.all(
        `SELECT words.rowid AS id FROM words JOIN chunks ON chunks.id = words.rowid WHERE words MATCH ? AND chunks.session IN (SELECT value FROM json_each(?)) ORDER BY ${order} LIMIT ?`,
        match,
        JSON.stringify([...only]),
        most,
      )
    : run.all(`SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY ${order} LIMIT ?`, match, most);
  return rows.map((row) => numberIn(row, "id"));
}
