/**
 * Globs over paths: `*`, `?`, `[a-z]`, `{a,b}` and `**` for any number of directories. Names that start with a dot are
 * names like others. Matching never goes back further than to the last star, so no pattern can make it slow.
 */
import { failed, ok, type Result } from "./result.ts";

/** A pattern, taken apart: where to look, and what the path from there on must be. */
export type Glob = {
  /** The leading part without wildcards: "", "src", "../lib", "/srv". */
  readonly base: string;
  /** What is left of each alternative. Never has `..`: a walk does not go up. */
  readonly rests: readonly string[];
};

/** Alternatives that braces may expand to. People write a handful. */
const maxAlternatives = 1_000;
/** As long as a path may be. */
const maxCharacters = 4_096;

/** Fails with a sentence about what is wrong with the pattern. */
export function parseGlob(pattern: string): Result<Glob, string> {
  if (pattern === "") return failed("The pattern is empty.");
  if (pattern.length > maxCharacters)
    return failed(`The pattern is longer than ${maxCharacters} characters.`);
  const alternatives = expandBraces(pattern);
  if (alternatives === undefined)
    return failed(`The pattern has more than ${maxAlternatives} alternatives in braces. Use fewer.`);
  const split = alternatives.map(segmentsOf);
  const base = commonBase(split);
  const rests = split.map((segments) => segments.slice(base.length));
  if (rests.some((segments) => segments.includes("..")))
    return failed('".." may only stand at the start of a pattern. Name the directory instead.');
  return ok({ base: nameOf(base), rests: [...new Set(rests.map((segments) => segments.join("/")))] });
}

/** Whether a path, relative and with `/`, fits any of the rests of a glob. */
export function globMatcher(rests: readonly string[]): (path: string) => boolean {
  const compiled = rests.map((rest) => rest.split("/").map(compileSegment));
  return (path) => compiled.some((segments) => matchesPath(segments, path));
}

/** How many names a matching path has at most; undefined when there is no end to it. */
export function globDepth(rests: readonly string[]): number | undefined {
  const split = rests.map((rest) => rest.split("/"));
  if (split.some((segments) => segments.includes("**"))) return undefined;
  return Math.max(...split.map((segments) => segments.length));
}

/** Every choice of every group of braces, or undefined when there are too many. */
function expandBraces(pattern: string): string[] | undefined {
  const group = firstGroup(pattern);
  if (!group) return [pattern];
  const tails = expandBraces(group.after);
  if (!tails) return undefined;
  const all: string[] = [];
  for (const choice of group.choices) {
    const middles = expandBraces(choice);
    if (!middles || all.length + middles.length * tails.length > maxAlternatives) return undefined;
    for (const middle of middles) for (const tail of tails) all.push(group.before + middle + tail);
  }
  return all;
}

/** The first group of braces that has a comma: `{x}` alone is a name. */
function firstGroup(
  pattern: string,
): { readonly before: string; readonly choices: string[]; readonly after: string } | undefined {
  for (
    let start = nextUnescaped(pattern, "{", 0);
    start >= 0;
    start = nextUnescaped(pattern, "{", start + 1)
  ) {
    const commas: number[] = [];
    let depth = 0;
    for (let at = start; at < pattern.length; at++) {
      const sign = pattern[at];
      if (sign === "\\") at += 1;
      else if (sign === "{") depth += 1;
      else if (sign === "," && depth === 1) commas.push(at);
      else if (sign === "}") depth -= 1;
      if (depth > 0) continue;
      if (commas.length === 0) break;
      const cuts = [start, ...commas, at];
      const choices = cuts.slice(1).map((cut, index) => pattern.slice((cuts[index] ?? 0) + 1, cut));
      return { before: pattern.slice(0, start), choices, after: pattern.slice(at + 1) };
    }
  }
  return undefined;
}

function nextUnescaped(text: string, sign: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === sign) return at;
  }
  return -1;
}

/** The names of a pattern; the first is "" when it is absolute. A directory stands for everything in it. */
function segmentsOf(pattern: string): string[] {
  const whole = pattern.endsWith("/") ? `${pattern}**` : pattern;
  const names = whole.split("/").filter((name, at) => (name !== "" || at === 0) && name !== ".");
  // Neighbouring stars for directories mean what one of them means.
  const segments = names.filter((name, at) => name !== "**" || names[at - 1] !== "**");
  return segments.length === 0 ? ["**"] : segments;
}

/** What all alternatives start with and has no wildcard; the last name always stays, since it is the file's. */
function commonBase(alternatives: readonly (readonly string[])[]): string[] {
  const [first = []] = alternatives;
  const base: string[] = [];
  for (const [at, name] of first.entries()) {
    const isCommon = alternatives.every((segments) => segments[at] === name && at < segments.length - 1);
    if (!isCommon || /[*?[]/.test(name)) break;
    base.push(name);
  }
  return base;
}

const nameOf = (base: readonly string[]): string =>
  base.length === 1 && base[0] === "" ? "/" : base.join("/").replace(/\\(.)/g, "$1");

type GlobToken =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "one"; readonly fits: (sign: string) => boolean }
  | { readonly kind: "many" };
type GlobSegment =
  | { readonly kind: "deep" }
  | { readonly kind: "name"; readonly tokens: readonly GlobToken[] };

function compileSegment(segment: string): GlobSegment {
  if (segment === "**") return { kind: "deep" };
  const tokens: GlobToken[] = [];
  for (let at = 0; at < segment.length; ) {
    const { token, next } = tokenAt(segment, at);
    const last = tokens.at(-1);
    if (token.kind === "text" && last?.kind === "text")
      tokens[tokens.length - 1] = { kind: "text", text: last.text + token.text };
    else if (token.kind !== "many" || last?.kind !== "many") tokens.push(token);
    at = next;
  }
  return { kind: "name", tokens };
}

function tokenAt(segment: string, at: number): { token: GlobToken; next: number } {
  const sign = String.fromCodePoint(segment.codePointAt(at) ?? 0);
  if (sign === "*") return { token: { kind: "many" }, next: at + 1 };
  if (sign === "?") return { token: { kind: "one", fits: () => true }, next: at + 1 };
  const group = sign === "[" ? classAt(segment, at) : undefined;
  if (group) return group;
  if (sign === "\\" && at + 1 < segment.length)
    return { token: { kind: "text", text: segment[at + 1] ?? "" }, next: at + 2 };
  return { token: { kind: "text", text: sign }, next: at + sign.length };
}

/** `[a-z]`, `[!a]`, `[]x]`; undefined when the bracket is not closed and so is only a bracket. */
function classAt(segment: string, at: number): { token: GlobToken; next: number } | undefined {
  const isNegated = segment[at + 1] === "!" || segment[at + 1] === "^";
  const start = at + (isNegated ? 2 : 1);
  const end = segment.indexOf("]", start + 1);
  if (end < 0) return undefined;
  const signs = [...segment.slice(start, end)];
  const ranges: { from: string; to: string }[] = [];
  for (let index = 0; index < signs.length; index++) {
    const from = signs[index] ?? "";
    const isRange = signs[index + 1] === "-" && index + 2 < signs.length;
    ranges.push({ from, to: isRange ? (signs[index + 2] ?? from) : from });
    if (isRange) index += 2;
  }
  const fits = (sign: string): boolean =>
    ranges.some(({ from, to }) => from <= sign && sign <= to) !== isNegated;
  return { token: { kind: "one", fits }, next: end + 1 };
}

function matchesPath(segments: readonly GlobSegment[], path: string): boolean {
  // The last name decides most often, and in `**/*.ts` it decides alone.
  const last = segments.at(-1);
  if (last?.kind === "name" && !matchesName(last.tokens, path.slice(path.lastIndexOf("/") + 1))) return false;
  if (segments[0]?.kind === "deep" && segments.length === (last?.kind === "deep" ? 1 : 2)) return true;
  const names = path.split("/");
  return withStars(
    segments.length,
    names.length,
    (at) => segments[at]?.kind === "deep",
    (at, name) => {
      const segment = segments[at];
      return segment?.kind === "name" && matchesName(segment.tokens, names[name] ?? "") ? 1 : 0;
    },
  );
}

function matchesName(tokens: readonly GlobToken[], name: string): boolean {
  return withStars(
    tokens.length,
    name.length,
    (at) => tokens[at]?.kind === "many",
    (at, from) => {
      const token = tokens[at];
      if (token?.kind === "text") return name.startsWith(token.text, from) ? token.text.length : 0;
      const sign = String.fromCodePoint(name.codePointAt(from) ?? 0);
      return token?.kind === "one" && token.fits(sign) ? sign.length : 0;
    },
  );
}

/**
 * Wildcards over a row of items. `take` says how many items the part at `at` takes, 0 for none. Going back to the last
 * star is enough: what an earlier one could take instead, the last one can take too.
 */
function withStars(
  parts: number,
  items: number,
  isStar: (at: number) => boolean,
  take: (at: number, item: number) => number,
): boolean {
  let part = 0;
  let item = 0;
  let star: { part: number; item: number } | undefined;
  for (;;) {
    if (part < parts && isStar(part)) {
      star = { part, item };
      part += 1;
      continue;
    }
    const taken = part < parts && item < items ? take(part, item) : 0;
    if (taken > 0) {
      part += 1;
      item += taken;
      continue;
    }
    if (part === parts && item === items) return true;
    if (!star || star.item >= items) return false;
    star.item += 1;
    part = star.part + 1;
    item = star.item;
  }
}
