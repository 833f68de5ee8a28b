/** What stands in the parentheses of a rule about commands: exact words, first words, or a glob over words. */

import { knownText } from "../shell/read/nodes.ts";
import { readScript } from "../shell/read/read-script.ts";

export type ShellPattern =
  | { readonly kind: "exact"; readonly words: readonly string[]; readonly text: string }
  | { readonly kind: "prefix"; readonly words: readonly string[] }
  /** Pieces between stars. */
  | { readonly kind: "glob"; readonly pieces: readonly string[]; readonly matchesBare: boolean };

/** Undefined when nothing is left of it. */
export function parseShellPattern(spec: string): ShellPattern | undefined {
  if (spec.endsWith(":*")) {
    const words = wordsOf(spec.slice(0, -2));
    return words.length > 0 ? { kind: "prefix", words } : undefined;
  }
  if (/(?<!\\)\*/.test(spec)) return globOf(spec);
  const words = wordsOf(spec.replaceAll("\\*", "*"));
  return words.length > 0 ? { kind: "exact", words, text: spec } : undefined;
}

/** As a shell would take them where that is plain, else what stands between blanks. */
function wordsOf(text: string): string[] {
  const script = readScript(text);
  const [item, ...more] = script.ok ? script.value.items : [];
  if (
    item?.node.kind === "simple" &&
    more.length === 0 &&
    item.node.assignments.length + item.node.redirects.length === 0
  ) {
    const words = item.node.words.map(knownText);
    if (words.every((word) => word !== undefined)) return words;
  }
  return text.split(/[ \t\n]+/).filter((word) => word !== "");
}

/** ` *` at the end also matches no argument; runs of blanks are one blank. */
function globOf(spec: string): ShellPattern {
  const matchesBare = /[ \t]\*$/.test(spec);
  const whole = spec.trim().replace(/[ \t]+/g, " ");
  const pieces = whole.split(/(?<!\\)\*+/).map((piece) => piece.replaceAll("\\*", "*"));
  return { kind: "glob", pieces, matchesBare };
}

/** Inside of a word a blank is not what separates words. */
const innerBlank = "\u{f0000}";

/** Words put together so that a glob can be laid over them. */
export const joinedWords = (words: readonly string[]): string =>
  words.map((word) => (word === "" ? innerBlank : word.replace(/[ \t\n]/g, innerBlank))).join(" ");

export function matchesGlob(
  { pieces, matchesBare }: ShellPattern & { kind: "glob" },
  joined: string,
): boolean {
  if (matchesBare && joined === pieces.slice(0, -1).join("").trimEnd() && pieces.length === 2) return true;
  const [first = "", ...rest] = pieces;
  const last = rest.at(-1) ?? "";
  if (!joined.startsWith(first) || !joined.endsWith(last) || joined.length < first.length + last.length)
    return false;
  let at = first.length;
  const end = joined.length - last.length;
  // Each piece as early as possible: if that does not fit, nothing does.
  for (const piece of rest.slice(0, -1)) {
    const found = joined.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return at <= end;
}
