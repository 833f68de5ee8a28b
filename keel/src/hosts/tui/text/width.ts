/**
 * How many cells a text takes on a terminal. Terminals do not agree about emoji, so what is asked here is asked for a
 * `WidthProfile`: what this terminal said when it was measured (`writer/probe.ts`), or what most of today's do.
 * Controls have no width: text for a screen has none (`inert.ts`).
 */

export type WidthProfile = {
  /** An emoji alone: wide everywhere but where the tables are of before emoji. */
  readonly emoji: 1 | 2;
  /** Several signs that make one emoji: one picture, or each sign by itself. */
  readonly joined: boolean;
  /** A sign that is text by itself and is asked to be a picture (U+FE0F). */
  readonly picture: 1 | 2;
  /** Two letters that make a flag. */
  readonly flag: 2 | 4;
};

export const modernWidths: WidthProfile = { emoji: 2, joined: true, picture: 2, flag: 2 };
/** By the tables of `wcwidth` that many programs still carry: no emoji, each sign by itself. */
export const classicWidths: WidthProfile = { emoji: 1, joined: false, picture: 1, flag: 2 };

const wide =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{18d00}-\u{18d8f}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f202}\u{1f210}-\u{1f23b}\u{1f240}-\u{1f248}\u{1f250}-\u{1f251}\u{1f260}-\u{1f265}\u{20000}-\u{2fffd}\u{30000}-\u{3fffd}]/u;
const narrowAmongWide = /[\u3248-\u324f\u4dc0-\u4dff\u303f]/u;
const zero = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7fb\u200b-\u200f\u2028\u2029]/u;
const emoji = /\p{Emoji_Presentation}/u;
/** Where a code point is not all there is to know. */
const cluster = /[\u200d\ufe0f\u20e3\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]/u;
const flagLetters = /^[\u{1f1e6}-\u{1f1ff}]{2}$/u;
/** Latin and Cyrillic letters, the marks of prose, arrows and lines: nothing joins them, and none is a picture by itself. */
const plain =
  /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u0400-\u0482\u048a-\u04ff\u2010-\u2027\u2030-\u205e\u20a0-\u20b5\u2190-\u21ff\u2500-\u257f]*$/;

/** Signs of one cell each, on every terminal. */
export const isPlain = (text: string): boolean => plain.test(text);

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

export function cellWidth(text: string, profile: WidthProfile = modernWidths): number {
  if (plain.test(text)) return text.length;
  if (profile.joined && cluster.test(text)) {
    let sum = 0;
    for (const { segment } of segmenter.segment(text)) sum += clusterWidth(segment, profile);
    return sum;
  }
  return sumOfSigns(text, profile);
}

/** What an eye takes for one sign, with its cells. A cut between two of them is a cut that terminals make too. */
export type SignCells = { readonly text: string; readonly cells: number };

export function* cellsOf(text: string, profile: WidthProfile = modernWidths): Generator<SignCells, void> {
  if (plain.test(text)) {
    for (const sign of text) yield { text: sign, cells: 1 };
    return;
  }
  for (const { segment } of segmenter.segment(text)) {
    yield { text: segment, cells: clusterWidth(segment, profile) };
  }
}

/** The signs as an eye counts them. */
export const graphemes = (text: string): string[] =>
  plain.test(text) ? [...text] : Array.from(segmenter.segment(text), ({ segment }) => segment);

function clusterWidth(segment: string, profile: WidthProfile): number {
  const first = segment.codePointAt(0) ?? 0;
  if (segment.length === 1 || segment.length === (first > 0xffff ? 2 : 1)) return signWidth(first, profile);
  if (flagLetters.test(segment)) return profile.flag;
  if (!profile.joined) return sumOfSigns(segment, profile);
  if (segment.includes("\ufe0f")) return Math.max(profile.picture, signWidth(first, profile));
  if (cluster.test(segment)) return Math.max(1, signWidth(first, profile));
  return sumOfSigns(segment, profile);
}

function sumOfSigns(text: string, profile: WidthProfile): number {
  let sum = 0;
  for (const sign of text) sum += signWidth(sign.codePointAt(0) ?? 0, profile);
  return sum;
}

const known = new Uint8Array(0x2_0000);
const knownClassic = new Uint8Array(0x2_0000);
/** A width in the tables is one more than it is; nothing there means not looked up yet. */
function signWidth(code: number, { emoji: wideEmoji }: WidthProfile): number {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 0;
  if (code < 0x300) return 1;
  const isClassic = wideEmoji === 1;
  if (code >= known.length) return isClassic ? classicWidth(code) : lookUp(code);
  const table = isClassic ? knownClassic : known;
  const found = table[code];
  if (found) return found - 1;
  const width = isClassic ? classicWidth(code) : lookUp(code);
  table[code] = width + 1;
  return width;
}

function lookUp(code: number): number {
  const sign = String.fromCodePoint(code);
  if (zero.test(sign)) return 0;
  return (wide.test(sign) && !narrowAmongWide.test(sign)) || emoji.test(sign) ? 2 : 1;
}

function classicWidth(code: number): number {
  if (isIn(code, classicZero)) return 0;
  return isIn(code, classicWide) ? 2 : 1;
}

function isIn(code: number, ranges: readonly number[]): boolean {
  let low = 0;
  let high = ranges.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (ranges[middle * 2] ?? 0)) high = middle - 1;
    else if (code > (ranges[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

const classicWide: readonly number[] = [
  0x1100, 0x115f, 0x2329, 0x232a, 0x2e80, 0x303e, 0x3040, 0xa4cf, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10,
  0xfe19, 0xfe30, 0xfe6f, 0xff00, 0xff60, 0xffe0, 0xffe6, 0x2_0000, 0x2_fffd, 0x3_0000, 0x3_fffd,
];

/** First and how many more, in base 36, as the tables of Unicode 5 have it: marks that stand on the sign before them. */
const classicZero: readonly number[] = unpack(
  "lc.33 w3.3 w8.1 13l.18 14v 14x.1 150.1 153 16o.3 174.5 18r.j 19s 1cm.e 1d3.1 1d6.3 1e7 1e9 1f4.q " +
    "1ie.a 1kb.8 1s1.1 1to 1tt.7 1u5 1u9.3 1uq.1 1vl 1x8 1xd.3 1xp 1ya.1 1z5.1 20s 20x.1 213.1 217.2 " +
    "228.1 22p.1 24c 24h.4 24n.1 24t 25e.1 269 27w 27z 281.2 28d 28m 29u 2bk 2bx 2f2.2 2fa.2 2fe.3 " +
    "2fp.1 2ik 2in 2iu 2j0.1 2jm.1 2m9.2 2ml 2q2 2qa.2 2qe 2sx 2t0.6 2tj.7 2wh 2wk.5 2wr.1 2x4.5 " +
    "2zc.1 305 307 309 31t.d 328.4 32e.1 32o.7 32x.z 346 371.3 376 37a.1 37d 388.1 3fk.4f 3tr 4k2.2 " +
    "4ky.2 4lu.1 4mq.1 4ok.1 4on.6 4p2 4p5.a 4pp 4qz.2 4vd 4yo.2 4yv.1 4z6 4zd.2 55j.1 5c0.3 5dg " +
    "5di.4 5do 5du 5ez.8 5vk.a 5xa.1 6bv.4 6cq.4 6e8.3 6ei.5 6hc.v 9ii.5 9ll.1 x6u x6z x7p.1 1dlq " +
    "1e68.f 1e74.3 1edb 1ek9.2 1gjl.2 1gjp.1 1gjw.3 1gl4.2 1glb 2jxj.2 2jxv.f 2jyd.6 2jze.3 2k3m.2 " +
    "jny9 jnz4.2n jo5c.6n",
);

function unpack(packed: string): number[] {
  return packed.split(" ").flatMap((range) => {
    const [first = "", more = "0"] = range.split(".");
    const start = Number.parseInt(first, 36);
    return [start, start + Number.parseInt(more, 36)];
  });
}
