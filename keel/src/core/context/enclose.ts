/**
 * Text from outside between tags of its own, so that a reader knows where it begins and ends. All tags that begin with
 * our name are ours: in the text every way to write one is made harmless, so it can neither end its own tag nor speak
 * in our name.
 */
import { oneLine } from "../../kernel/text.ts";

/** How every tag of ours begins. */
const ownStart = "keel-";

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Our own tags begin with our name; a host that must write another one may. */
export function enclose(tag: string, attributes: Attributes, words: string): string {
  const said = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${attribute(String(value))}"`)
    .join("");
  return `<${tag}${said}>\n${defang(defang(words), tag)}\n</${tag}>`;
}

/** Takes the power from our tags, opening or closing, in any case, with blanks and unseen signs wherever they may hide. */
export const defang = (words: string, tag: string = ownStart): string =>
  words.replace(tag.startsWith(ownStart) ? ownMarks : marksOf(tag), "&lt;");

/** Signs that nobody sees, and those that look like the start of a tag. */
const unseen =
  "\\s\\u00ad\\u034f\\u061c\\u115f\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff\\0-\\x1f";
const opening = "[<\\uff1c\\ufe64\\u2039\\u276e]";

/** Each sign of the tag stands apart from what may hide between them: matching never goes back. */
export function marksOf(tag: string, start: string = opening): RegExp {
  return new RegExp(`${start}(?=[${unseen}/\\\\]*${[...tag].map(message).join(`[${unseen}]*`)})`, "giu");
}

/** A dash may be any of the dashes, or a line below. */
const message = (sign: string): string =>
  sign === "-" || sign === "_" ? "[-_\\u2010-\\u2015\\u2212\\ufe58\\ufe63\\uff0d]" : sign;

const ownMarks = marksOf(ownStart);
const escapedMarks = marksOf(ownStart, "&lt;");

/** A text as a reader of it saw it, and what is real at a place of it. For who answers in the words that were shown. */
export type ShownText = {
  readonly text: string;
  /** Where a place of the shown text stands; undefined inside of a sign that is shown otherwise than it is. */
  real(at: number): number | undefined;
};

export function shownText(real: string): ShownText {
  const marks = [...real.matchAll(ownMarks)].map(({ index }) => index);
  const more = "&lt;".length - 1;
  return {
    text: defang(real),
    real(at) {
      // How many marks begin before it: each is shown with three signs more than it has.
      let [low, high] = [0, marks.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((marks[middle] ?? 0) + middle * more < at) low = middle + 1;
        else high = middle;
      }
      const last = marks[low - 1];
      if (last !== undefined && at < last + (low - 1) * more + more + 1) return undefined;
      return at - low * more;
    },
  };
}

/** Our tags in words that answer a shown text, as they are in the real one. */
export const asReal = (words: string): string => words.replace(escapedMarks, "<");

const attribute = (value: string): string =>
  oneLine(value).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
