/** Conditions in double brackets that do nothing but compare or look. */
import type { Word } from "../read/syntax.ts";

/** One question about a file or a comparison of two words that are known: nothing in it is evaluated. */
export function isPlainCondition(words: readonly Word[]): boolean {
  const texts = words.map(({ parts }) => (parts.every((part) => part.kind === "text") ? parts : undefined));
  const [first, second] = texts.map((parts) =>
    parts?.map((part) => (part.kind === "text" ? part.text : "")).join(""),
  );
  if (texts.some((parts) => parts === undefined)) return false;
  if (texts.length === 2)
    return first !== undefined && /^-[abcdefghkprsuwxGLNOSnz]$/.test(first) && !leadsAway.test(second ?? "");
  return texts.length === 3 && second !== undefined && /^(?:==?|!=)$/.test(second);
}

/** A path that starts or climbs somewhere else. */
const leadsAway = /^[~/]|(?:^|\/)\.\.(?:\/|$)/;
