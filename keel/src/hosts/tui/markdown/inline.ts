/** A line of Markdown as spans: code, strong, emphasis, struck out, links, addresses. What is no markup stays as it is. */
import { safeAddress } from "../text/inert.ts";
import type { Signs } from "../text/signs.ts";
import type { Style, TextLine, TextSpan } from "../text/styled.ts";
import type { WidthProfile } from "../text/width.ts";

export type InlineOptions = {
  /** The terminal opens addresses: they need not be written out beside their words. */
  readonly links: boolean;
  /** Marks of code stay where no colour tells it. */
  readonly marks: boolean;
};

/** What drawing Markdown needs to know of the screen. */
export type MarkdownContext = InlineOptions & {
  readonly columns: number;
  readonly profile: WidthProfile;
  readonly signs: Signs;
};

const pattern = new RegExp(
  [
    "\\\\([!-/:-@[-`{-~])",
    "(`+)(?!`)(.+?)(?<!`)\\2(?!`)",
    '!?\\[((?:[^\\[\\]\\\\]|\\\\.)*)\\]\\(([^()\\s]*(?:\\([^()\\s]*\\)[^()\\s]*)*)(?:\\s+"[^"]*")?\\)',
    "<((?:https?|mailto):[^<>\\s]+)>",
    "(https?:\\/\\/[^\\s<>()\\[\\]\"'`]*[^\\s<>()\\[\\]\"'`.,;:!?*_])",
    "\\*\\*(?=\\S)(.+?)(?<=\\S)\\*\\*",
    "(?<![\\p{L}\\p{N}_])__(?=\\S)(.+?)(?<=\\S)__(?![\\p{L}\\p{N}_])",
    "~~(?=\\S)(.+?)(?<=\\S)~~",
    "\\*(?=[^\\s*])(.+?)(?<=[^\\s*])\\*(?!\\*)",
    "(?<![\\p{L}\\p{N}_])_(?=[^\\s_])(.+?)(?<=[^\\s_])_(?![\\p{L}\\p{N}_])",
  ].join("|"),
  "gu",
);

/** More markup than this in one line is none that anybody wrote. */
const maxDepth = 6;
const maxLength = 4_000;

/** Most lines have none of it, and need not be looked through for each kind. */
const mayBeMarkup = /[\\`*_~[<]|https?:/;

export function inlineSpans(text: string, options: InlineOptions, style: Style = {}, depth = 0): TextLine {
  if (depth > maxDepth || text.length > maxLength || !mayBeMarkup.test(text)) return plain(text, style);
  const spans: TextSpan[] = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    spans.push(...plain(text.slice(at, found.index), style));
    spans.push(...spansOf(found, options, style, depth));
    at = found.index + found[0].length;
  }
  return [...spans, ...plain(text.slice(at), style)];
}

function plain(text: string, style: Style): TextSpan[] {
  if (text === "") return [];
  return Object.keys(style).length === 0 ? [{ text }] : [{ text, style }];
}

function spansOf(found: RegExpExecArray, options: InlineOptions, style: Style, depth: number): TextLine {
  const [whole, escaped, ticks, code, label, target, bracketed, bare, strong, strong2, struck, weak, weak2] =
    found;
  const inner = (text: string, more: Style): TextLine =>
    inlineSpans(text, options, { ...style, ...more }, depth + 1);
  if (escaped !== undefined) return plain(escaped, style);
  if (code !== undefined) {
    const mark = options.marks ? (ticks ?? "`") : "";
    return plain(`${mark}${code.replace(/^ (.+) $/, "$1")}${mark}`, { ...style, role: "code" });
  }
  if (label !== undefined) return link(inner(label, {}), target ?? "", options, style);
  const address = bracketed ?? bare;
  if (address !== undefined) return link(plain(address, style), address, options, style);
  if (strong ?? strong2) return inner(strong ?? strong2 ?? "", { bold: true });
  if (struck !== undefined) return inner(struck, { strike: true });
  if (weak ?? weak2) return inner(weak ?? weak2 ?? "", { italic: true });
  return plain(whole, style);
}

function link(words: TextLine, target: string, { links }: InlineOptions, style: Style): TextLine {
  const address = safeAddress(target);
  const said = words.map(({ text }) => text).join("");
  if (address !== undefined && links) {
    return words.map((part) => ({
      text: part.text,
      style: { ...part.style, underline: true, link: address },
    }));
  }
  if (target === "" || said === target) return words;
  return [...words, ...plain(` (${target})`, { ...style, dim: true })];
}
