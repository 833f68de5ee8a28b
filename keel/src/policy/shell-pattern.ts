/** What stands in the parentheses of a rule about commands: exact words, first words, or a glob over words. */

export type ShellPattern =
  | { readonly kind: "exact"; readonly words: readonly string[]; readonly text: string }
  | { readonly kind: "prefix"; readonly words: readonly string[] }
  /** Pieces between stars. */
  | { readonly kind: "glob"; readonly pieces: readonly string[]; readonly matchesBare: boolean };

/** A pattern whose words only the reader of shell texts can tell: it is read with the first command that is judged. */
export type UnreadPattern = {
  readonly kind: "unread";
  readonly form: "exact" | "prefix";
  readonly spec: string;
};

/** Undefined when nothing is left of it. */
export function parseShellPattern(spec: string): ShellPattern | UnreadPattern | undefined {
  const form = spec.endsWith(":*") ? "prefix" : "exact";
  if (form === "exact" && /(?<!\\)\*/.test(spec)) return globOf(spec);
  const text = form === "prefix" ? spec.slice(0, -2) : spec.replaceAll("\\*", "*");
  if (!/[^ \t\n]/.test(text)) return undefined;
  // Nothing in it means anything to a shell: its words are what stands between blanks.
  return plain.test(text) ? withWords(form, spec, betweenBlanks(text)) : { kind: "unread", form, spec };
}

const plain = /^[\w./:@%+, \t\n-]*$/;

export const betweenBlanks = (text: string): string[] => text.split(/[ \t\n]+/).filter((word) => word !== "");

export const withWords = (form: "exact" | "prefix", spec: string, words: readonly string[]): ShellPattern =>
  form === "prefix" ? { kind: "prefix", words } : { kind: "exact", words, text: spec };

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
