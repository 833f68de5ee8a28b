/**
 * Text in which nothing hides: what a person is asked to approve must show every character that could change its
 * meaning or move its end out of sight. Ordinary text, indentation and line breaks stay as they are.
 */

/** Controls, formats (bidi, zero-width, tags), halves, separators, what shows as nothing, and blanks but the plain one. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} ]/gu;

/** Blanks inside a line push what follows out of sight; at its start they are indentation, up to a point. */
const padding = /(?<=\S) {8,}| {40,}/g;
const blankLines = /\n{5,}/g;

export function visible(text: string): string {
  return text
    .replace(padding, (blanks) => `⟨${blanks.length} blanks⟩`)
    .replace(blankLines, (breaks) => `\n⟨${breaks.length - 1} empty lines⟩\n`)
    .replace(hidden, (character) => (character === "\n" ? character : nameOf(character)));
}

function nameOf(character: string): string {
  if (character === "\t") return "⟨tab⟩";
  if (character === "\r") return "⟨CR⟩";
  if (character === "\u001b") return "⟨ESC⟩";
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
