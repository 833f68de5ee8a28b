/** Brace expansion, the first thing that bash does to a word: `{a,b}` and `{1..3}` make several words of one. */
import type { WordPart } from "./syntax.ts";

/** One character that stands for itself, or any other part, which braces carry along unread. */
export type BracePiece = { readonly sign: string; readonly quoted: boolean } | { readonly part: WordPart };

/** Words that one word may become. People write a handful. */
const maxWords = 256;
/** Braces that may open in one word: each is looked at on its own. */
const maxOpening = 64;

/** Undefined when there are too many to look at. */
export function expandBraces(pieces: readonly BracePiece[]): readonly (readonly BracePiece[])[] | undefined {
  const opening = pieces.filter((piece) => isBare(piece, "{")).length;
  if (opening === 0) return [pieces];
  if (opening > maxOpening) return undefined;
  const words = expand(pieces);
  return words.length > maxWords ? undefined : words;
}

function expand(pieces: readonly BracePiece[]): (readonly BracePiece[])[] {
  for (let open = findBare(pieces, "{", 0); open >= 0; open = findBare(pieces, "{", open + 1)) {
    const group = groupAt(pieces, open);
    if (!group) continue;
    const before = pieces.slice(0, open);
    const tails = expand(pieces.slice(group.close + 1));
    const words: (readonly BracePiece[])[] = [];
    for (const choice of group.choices) {
      for (const tail of tails) {
        words.push([...before, ...choice, ...tail]);
        // One more than is looked at is enough to know.
        if (words.length > maxWords) return words;
      }
    }
    return words;
  }
  return [pieces];
}

type Group = { readonly close: number; readonly choices: readonly (readonly BracePiece[])[] };

function groupAt(pieces: readonly BracePiece[], open: number): Group | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let at = open; at < pieces.length; at++) {
    const piece = pieces[at];
    if (isBare(piece, "{")) depth += 1;
    else if (isBare(piece, ",") && depth === 1) commas.push(at);
    else if (isBare(piece, "}")) depth -= 1;
    if (depth > 0) continue;
    const choices =
      commas.length === 0
        ? sequence(pieces.slice(open + 1, at))
        : choicesBetween(pieces, [open, ...commas, at]);
    return choices ? { close: at, choices } : undefined;
  }
  return undefined;
}

function choicesBetween(pieces: readonly BracePiece[], cuts: readonly number[]): (readonly BracePiece[])[] {
  return cuts.slice(1).flatMap((cut, index) => expand(pieces.slice((cuts[index] ?? 0) + 1, cut)));
}

/** `1..5`, `a..e`, `01..10..3`; undefined when it is none. */
function sequence(pieces: readonly BracePiece[]): (readonly BracePiece[])[] | undefined {
  const text = pieces.map((piece) => ("sign" in piece && !piece.quoted ? piece.sign : "\0")).join("");
  const [, from, to, , by] =
    /^([+-]?\d{1,9}|[A-Za-z])\.\.([+-]?\d{1,9}|[A-Za-z])(\.\.([+-]?\d{1,9}))?$/.exec(text) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const isNumber = /\d/.test(from);
  if (isNumber !== /\d/.test(to)) return undefined;
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const step = Math.abs(Number(by ?? 1)) || 1;
  const width =
    isNumber && [from, to].some((end) => /^-?0\d/.test(end)) ? Math.max(from.length, to.length) : 0;
  const words: (readonly BracePiece[])[] = [];
  for (let at = first; first <= last ? at <= last : at >= last; at += first <= last ? step : -step) {
    words.push(piecesOf(isNumber ? padded(at, width) : String.fromCharCode(at)));
    if (words.length > maxWords) break;
  }
  return words;
}

const padded = (number: number, width: number): string =>
  number < 0 ? `-${String(-number).padStart(width - 1, "0")}` : String(number).padStart(width, "0");

// Signs between the letters of `{A..z}` are quoted, so that they are not read as anything else.
const piecesOf = (text: string): BracePiece[] =>
  [...text].map((sign) => ({ sign, quoted: !/^[\w-]$/.test(sign) }));

const isBare = (piece: BracePiece | undefined, sign: string): boolean =>
  piece !== undefined && "sign" in piece && !piece.quoted && piece.sign === sign;

function findBare(pieces: readonly BracePiece[], sign: string, from: number): number {
  for (let at = from; at < pieces.length; at++) if (isBare(pieces[at], sign)) return at;
  return -1;
}
