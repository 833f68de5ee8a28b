/**
 * Text in paragraphs, as a fold: what comes in pieces goes out at blank lines, and what grows too long at the last line
 * end. Whatever the pieces, what came out joined is what went in.
 */

/** What has not gone out yet. */
export type Paragraphs = { readonly held: string };

export const noParagraphs: Paragraphs = { held: "" };

/** Beyond this nobody waits for the end of a paragraph. */
export const maxHeld = 4_096;

export function addText(before: Paragraphs, piece: string): [readonly string[], Paragraphs] {
  const all = before.held + piece;
  const ends = endOfParagraphs(all);
  const out = ends > 0 ? [all.slice(0, ends)] : [];
  const [more, held] = forced(all.slice(ends));
  return [[...out, ...more], { held }];
}

/** At the end of a turn. */
export const flushText = ({ held }: Paragraphs): readonly string[] => (held === "" ? [] : [held]);

/** Behind the last blank line, with all of its line ends: more of them may still come, and then go with the next. */
function endOfParagraphs(text: string): number {
  const at = text.lastIndexOf("\n\n");
  return at < 0 ? 0 : at + 2;
}

function forced(text: string): [string[], string] {
  const out: string[] = [];
  let rest = text;
  while (rest.length > maxHeld) {
    const line = rest.lastIndexOf("\n", maxHeld - 1);
    // A text without a line end is cut, but never inside of a character.
    const end = line >= 0 ? line + 1 : isHalf(rest, maxHeld) ? maxHeld - 1 : maxHeld;
    out.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [out, rest];
}

const isHalf = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit <= 0xdbff;
};
