/**
 * Long answers in pieces that a channel takes. A piece ends where a reader would pause; code stays code in every piece:
 * a fence that is cut is closed at the end of the one and opened again, with its language, at the start of the next.
 */

/** Where a piece may end, best first. What matched last before the limit counts. */
const pauses = [/\n{2,}/g, /\n/g, /[.!?…]["')\]]?\s+/g, /\s+/g];

/** Families of emoji have 11 units, and stacked accents some more. */
const maxSign = 64;

/** More marks than that are no fence that somebody meant. */
const maxMark = 12;

/** A pause in the first part of a piece would make many small ones. */
const minShare = 0.4;

type CodeFence = { readonly mark: string; readonly opening: string };

/** `limit` counts UTF-16 units, as channels do, and is at least 64: a fence must fit twice, with something in it. */
export function splitText(text: string, limit: number): string[] {
  const pieces: string[] = [];
  let rest = text.trimEnd();
  let fence: CodeFence | undefined;
  while (rest.length > 0) {
    const head = fence === undefined ? "" : `${fence.opening}\n`;
    if (head.length + rest.length <= limit) {
      pieces.push(head + rest);
      break;
    }
    // Whatever is open at the end of this piece has to be closed within it.
    const room = limit - head.length;
    const whole = cutAt(rest, room);
    const openAfter = fenceAfter(rest.slice(0, whole), fence);
    const cut = openAfter === undefined ? whole : cutAt(rest, room - openAfter.mark.length - 1);
    const taken = rest.slice(0, cut);
    const open = fenceAfter(taken, fence);
    const piece = head + taken.replace(/\s+$/, "");
    pieces.push(open === undefined ? piece : `${piece}\n${open.mark}`);
    rest = rest.slice(cut).replace(open === undefined ? /^\s+/ : /^\n/, "");
    fence = open;
  }
  return pieces.filter((piece) => piece.trim() !== "");
}

/** The longest start that fits and ends at a pause; never within what a reader sees as one sign. */
function cutAt(text: string, room: number): number {
  if (text.length <= room) return text.length;
  const start = text.slice(0, room + 1);
  for (const pause of pauses) {
    const ends = [...start.matchAll(pause)].map(({ index, 0: found }) => index + found.trimEnd().length);
    const last = ends.filter((end) => end <= room && end >= room * minShare).at(-1);
    if (last !== undefined && last > 0) return last;
  }
  return Math.max(1, signStart(text, room));
}

/** The start of the sign that stands at `at`; one that is longer than any that is meant is cut all the same. */
function signStart(text: string, at: number): number {
  const from = Math.max(0, at - maxSign);
  const signs = new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text.slice(from, at + maxSign));
  const start = from + (signs.containing(at - from)?.index ?? at - from);
  if (start > from) return start;
  // Half of a pair is no sign at all.
  return /^[\uDC00-\uDFFF]/.test(text.slice(at, at + 1)) ? at - 1 : at;
}

/** The fence that is open behind `text`, if it began within `before`. */
function fenceAfter(text: string, before: CodeFence | undefined): CodeFence | undefined {
  let open = before;
  for (const line of text.split("\n")) {
    const [, mark = "", info = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (mark === "" || mark.length > maxMark) continue;
    if (open === undefined) open = { mark, opening: `${mark}${shortInfo(info)}` };
    else if (mark.startsWith(open.mark) && info.trim() === "") open = undefined;
  }
  return open;
}

/** A language is short; what follows it is for tools that see the whole. */
const shortInfo = (info: string): string => /^\s*([\w+#.-]{1,16})(?:\s|$)/.exec(info)?.[1] ?? "";
