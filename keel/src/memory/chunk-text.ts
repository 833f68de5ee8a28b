/** A text in pieces of at most 512 tokens, cut where a reader would: between paragraphs, blocks of code, sentences, lines. */

const maxTokens = 512;
/** Letters of scripts that have a word for each sign count as a token; of others four make one. */
const wide = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;

export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  let at = 0;
  while (at < text.length) {
    const end = endOf(text, at);
    const chunk = text.slice(at, end).trim();
    if (chunk !== "") chunks.push(chunk);
    at = end;
  }
  return chunks;
}

function endOf(text: string, at: number): number {
  const most = charactersFor(text.slice(at, at + maxTokens * 4));
  if (text.length - at <= most) return text.length;
  const view = text.slice(at, at + most);
  // A piece of less than half is no piece of its own: a weaker place later is better than a stronger one too soon.
  const least = Math.floor(most / 2);
  for (const place of looksLikeCode(view) ? codePlaces : prosePlaces) {
    const found = lastEnd(view, place, least);
    if (found !== undefined) return at + found;
  }
  // One word without an end: never between the halves of a sign.
  const last = view.charCodeAt(view.length - 1);
  return at + (last >= 0xd800 && last <= 0xdbff ? view.length - 1 : view.length);
}

const charactersFor = (view: string): number => {
  const share = (view.match(wide)?.length ?? 0) / Math.max(1, view.length);
  return Math.floor(maxTokens / (0.25 * (1 - share) + share));
};

const blankLine = /\n[ \t]*\n/g;
const afterLine = /\n/g;
const afterSentence = /[.!?…。！？]["'”’)\]]*(?:\s+|$)/g;
const afterWord = /\s+/g;
/** A line that begins at the margin begins something; one that closes a bracket ends it. */
const atMargin = /\n(?=[^\s})\]])/g;

const prosePlaces = [blankLine, afterSentence, afterLine, afterWord];
const codePlaces = [blankLine, atMargin, afterLine, afterWord];

function lastEnd(view: string, place: RegExp, least: number): number | undefined {
  let end: number | undefined;
  for (const { index, 0: found } of view.matchAll(place))
    if (index + found.length >= least) end = index + found.length;
  return end;
}

function looksLikeCode(view: string): boolean {
  const lines = view.split("\n").filter((line) => line.trim() !== "");
  const code = lines.filter((line) => /[;{}()[\],:]\s*$|^\s{2,}\S/.test(line));
  return lines.length > 2 && code.length * 3 > lines.length;
}
