/** Characters that do not show as they are: what a person approves must look like what will run. */

/**
 * Controls but tab and line feed, characters for the direction and the joining of text, blanks that are not a blank,
 * letters that are empty, private and unassigned ones, and halves of pairs.
 */
const hidden = /[^\P{C}\t\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\p{Variation_Selector}|\u2800/gu;
/** Blanks in a row that push what follows off a screen. */
const padding = /[ \t]{16,}/g;

/** Each kind once, as `U+202E`. */
export const hiddenCharacters = (text: string): string[] =>
  [...new Set(text.match(hidden) ?? [])].map(codeOf);

/** The same text with everything that hides made visible. For people: it is no longer the text itself. */
export function visible(text: string): string {
  return text
    .replace(hidden, (sign) => `⟨${codeOf(sign)}⟩`)
    .replace(padding, (blanks) => `${blanks[0]}⟨${blanks.length - 2} more blanks⟩${blanks.at(-1)}`);
}

const codeOf = (sign: string): string =>
  `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
