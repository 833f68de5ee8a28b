/**
 * From a decision to the facts that it leaves in the log. Pure, and bounded whatever a call claims: what does not fit is
 * counted, and a text of which only the start fits says so. `keel/testing` tries other rules on what is kept here.
 */
import { byteLength, headBytes } from "../kernel/text.ts";
import type { ToolTraits } from "../ports/tool.ts";
import type { PathFacts } from "../ports/workspace.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import type { Claim } from "../protocol/tool.ts";
import type { ClaimFound, PathFound, PlaceFound, VerdictFacts } from "../protocol/verdict-facts.ts";
import type { Decision, Rules } from "./decide.ts";
import type { ClaimFindings } from "./look.ts";

/** Of one decision, as JSON. With the ids and names around them an event stays below 4 KB. */
export const maxFactsBytes = 3_584;
/** Entries of one list: who wants to know more looks at the call itself. */
const maxEntries = 20;
const maxTextBytes = 400;
const maxHookBytes = 200;
const maxPlaceBytes = 600;
const maxLinks = 5;

export type DecisionToTell = {
  readonly decision: Decision;
  readonly mode: PermissionMode;
  readonly rules: Pick<Rules, "protectedPaths">;
  readonly claims: readonly Claim[];
  readonly traits: ToolTraits;
  readonly looked: ClaimFindings;
  readonly trust: VerdictFacts["trust"];
  readonly planFile: string | undefined;
};

/** The whole of it is made here: what a look finds out from now on gets its line here. */
export function verdictFacts(told: DecisionToTell): VerdictFacts {
  const { decision, mode, rules, claims, traits, looked, trust, planFile } = told;
  const { because, rule, verdict } = decision;
  const claimed = new Set(claims.map(({ target }) => target));
  const others = [...looked.paths].filter(([path]) => !claimed.has(path));
  return bounded(
    {
      verdict,
      mode,
      reason: cut(because).text,
      ...(rule ? { rule: { text: cut(rule.text).text, list: rule.list, source: rule.source } } : {}),
      ...(trust === undefined ? {} : { trust }),
      ...whereOf(looked.world),
      ...placeOf(looked.places),
      ...expandedOf(looked.found),
      ...(traits.readOnly ? { readOnly: true } : {}),
      ...(looked.confined.size > 0 ? { confined: true } : {}),
      ...(planFile === undefined ? {} : { planFile: cut(planFile).text }),
      ...(rules.protectedPaths === "allowed" ? { protectedPaths: "allowed" } : {}),
    },
    {
      claims: claims.values().map(({ action, target, outside }): ClaimFound => {
        const { text, isCut } = cut(target);
        const leaving = outside ? { unsandboxed: true as const } : {};
        return { action, target: text, ...leaving, ...foundAt(target, looked.paths.get(target), isCut) };
      }),
      claimCount: claims.length,
      paths: others.values().map(([path, facts]): PathFound => {
        const { text, isCut } = cut(path);
        return { path: text, ...foundAt(path, facts, isCut) };
      }),
      pathCount: others.length,
    },
  );
}

/** With what a hook said, where it said something. */
export const withHook = (
  facts: VerdictFacts,
  hook: { readonly verdict: "allow" | "deny" | "ask"; readonly reason: string } | undefined,
): VerdictFacts =>
  hook ? { ...facts, hook: { verdict: hook.verdict, reason: cut(hook.reason, maxHookBytes).text } } : facts;

/** With what the reviewer of the mode `auto` said. */
export const withReview = (
  facts: VerdictFacts,
  review: NonNullable<VerdictFacts["review"]>,
): VerdictFacts => ({
  ...facts,
  review: { verdict: review.verdict, reason: cut(review.reason, maxHookBytes).text },
});

/** Left out where it is too long, as below: what is not there is unknown to whoever decides again. */
function placeOf(places: ClaimFindings["places"]): Pick<VerdictFacts, "place"> {
  if (places.length === 0) return {};
  const list = <T>(name: string, entries: readonly T[]) => (entries.length === 0 ? {} : { [name]: entries });
  const repositories = places.flatMap((seen) =>
    seen.repositories
      .entries()
      .map(([folder, found]) => ({ folder, ...found }))
      .toArray(),
  );
  const place: PlaceFound = {
    demands: places.reduce((sum, { demands }) => sum + demands, 0),
    ...list(
      "marks",
      places.flatMap(({ marks }) => marks),
    ),
    ...list("repositories", repositories),
    ...list(
      "searched",
      places.flatMap(({ search }) => search.folders),
    ),
    ...list(
      "variables",
      places.flatMap(({ search }) => search.variables),
    ),
  };
  return bytesIn(place) > maxPlaceBytes ? {} : { place };
}

/** The first of them, as many as fit; how many more there were is told. Which pattern found which where all that fits. */
function expandedOf(
  found: ClaimFindings["found"],
): Pick<VerdictFacts, "expanded" | "moreExpanded" | "expandedEach"> {
  const names = [...new Set(found.values().flatMap((each) => each.map(({ path }) => path)))];
  let left = maxPlaceBytes;
  const expanded = names.slice(0, maxEntries).filter((name) => {
    left -= bytesIn(name);
    return left >= 0;
  });
  if (names.length === 0) return {};
  const more = names.length - expanded.length;
  if (more > 0) return { expanded, moreExpanded: more };
  const each = [...found.values()].map((some) => some.map(({ path }) => names.indexOf(path)));
  return each.length > 1 && bytesIn(each) <= left ? { expanded, expandedEach: each } : { expanded };
}

/** Left out where it is too long to be told whole: half a path means another one. */
function whereOf({ cwd, home, roots }: ClaimFindings["world"]): Pick<VerdictFacts, "cwd" | "home" | "roots"> {
  const isPlain = roots.length === 1 && roots[0] === cwd;
  const place = { cwd, home, ...(isPlain ? {} : { roots: [...roots] }) };
  return bytesIn(place) > maxPlaceBytes ? {} : place;
}

function foundAt(name: string, facts: PathFacts | undefined, isCut: boolean): Omit<PathFound, "path"> {
  const passed = facts?.passed ?? [];
  const links = passed.slice(0, maxLinks).map((link) => cut(link));
  const leadsTo = facts && facts.path !== name ? cut(facts.path) : undefined;
  const isPartial =
    isCut || leadsTo?.isCut || links.length < passed.length || links.some((link) => link.isCut);
  return {
    ...(leadsTo ? { leadsTo: leadsTo.text } : {}),
    ...(links.length > 0 ? { links: links.map(({ text }) => text) } : {}),
    ...(facts && !facts.exists ? { missing: true } : {}),
    ...(facts && facts.root === undefined ? { outside: true } : {}),
    ...(facts?.own ? { own: true } : {}),
    ...(facts?.problem === undefined ? {} : { problem: cut(facts.problem).text }),
    ...(isPartial ? { cut: true } : {}),
  };
}

type Listed = {
  readonly claims: Iterable<ClaimFound>;
  readonly claimCount: number;
  readonly paths: Iterable<PathFound>;
  readonly pathCount: number;
};

/** Claims first, then what else was looked at, as far as the bytes last. */
function bounded(
  base: Omit<VerdictFacts, "claims">,
  { claims, claimCount, paths, pathCount }: Listed,
): VerdictFacts {
  let left = maxFactsBytes - bytesIn(base) - listsBytes - maxHookBytes;
  const fitting = <T>(entries: Iterable<T>): T[] => {
    const kept: T[] = [];
    for (const entry of entries) {
      const bytes = bytesIn(entry) + 1;
      if (kept.length === maxEntries || bytes > left) break;
      left -= bytes;
      kept.push(entry);
    }
    return kept;
  };
  const keptClaims = fitting(claims);
  const keptPaths = fitting(paths);
  return {
    ...base,
    claims: keptClaims,
    ...(keptClaims.length < claimCount ? { moreClaims: claimCount - keptClaims.length } : {}),
    ...(keptPaths.length > 0 ? { paths: keptPaths } : {}),
    ...(keptPaths.length < pathCount ? { morePaths: pathCount - keptPaths.length } : {}),
  };
}

/** The names and brackets of the lists, the counts of what is left out, and the hook's field. */
const listsBytes = 200;

/** Counted only where signs may take more than a byte: what most paths and commands are made of does not. */
function bytesIn(value: unknown): number {
  const json = JSON.stringify(value);
  return /^[ -~]*$/.test(json) ? json.length : byteLength(json);
}

/** The start of a text that takes no more than its share as JSON, where one sign may take six bytes. */
function cut(whole: string, bytes = maxTextBytes): { readonly text: string; readonly isCut: boolean } {
  if (whole.length * mostBytesOfSign + quotesBytes <= bytes) return { text: whole, isCut: false };
  const start = whole.slice(0, bytes);
  if (start === whole && bytesIn(whole) <= bytes) return { text: whole, isCut: false };
  const head = headBytes(start, bytes - quotesBytes);
  return { text: bytesIn(head) <= bytes ? head : headBytes(start, bytes / 8), isCut: true };
}

const quotesBytes = 2;
const mostBytesOfSign = 6;
