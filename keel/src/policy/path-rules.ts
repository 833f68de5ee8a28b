/**
 * Paths in rules, as in a `.gitignore`: `//etc` from the root of the file system, `~/x` from the home, `/x`, `./x` and
 * `a/b` from the roots of the workspace, `*.pem` at any depth below them. What names a directory means all that is in it.
 */
import { globMatcher, parseGlob } from "../kernel/glob.ts";
import { type Kept, once } from "../kernel/once.ts";
import { isInside, normalise } from "../kernel/path.ts";

/** What rules about paths are relative to. */
export type PathRuleRoots = { readonly roots: readonly string[]; readonly home: string };

/** What a rule means on one ground; all paths are absolute. */
export type GroundedPaths = {
  readonly ground: PathRuleRoots;
  matches(path: string): boolean;
  /** Whether something below `directory` could be what the rule is about. */
  mayLieBelow(directory: string): boolean;
};

/** Kept with the rule while the ground is the same, as it is for most calls of a session. */
export const groundedPaths = (
  { value, grounded }: { readonly value: string; readonly grounded: Kept<GroundedPaths> },
  ground: PathRuleRoots,
): GroundedPaths =>
  grounded.of(
    () => {
      const matches = once(() => pathMatcher(value, ground));
      const bases = once(() => basesOf(value, ground));
      return {
        ground,
        matches: (path) => matches()(path),
        mayLieBelow: (directory) =>
          bases().some((base) => isInside(base, [directory]) || isInside(directory, [base])),
      };
    },
    (kept) => isSameGround(kept.ground, ground),
  );

const isSameGround = (left: PathRuleRoots, right: PathRuleRoots): boolean =>
  left.home === right.home &&
  left.roots.length === right.roots.length &&
  left.roots.every((root, at) => root === right.roots[at]);

export function pathMatcher(rule: string, ground: PathRuleRoots): (path: string) => boolean {
  const matchers = absolutePatterns(rule, ground).flatMap((pattern) => {
    const glob = parseGlob(pattern);
    if (!glob.ok) return [];
    const base = glob.value.base === "/" ? "" : escapeGlob(glob.value.base.replace(/^\//, ""));
    const rests = glob.value.rests.map((rest) => (base === "" ? rest : `${base}/${rest}`));
    return [globMatcher(rests.flatMap((rest) => [rest, `${rest}/**`]))];
  });
  return (path) => {
    const target = normalised(path);
    return matchers.some((matches) => matches(target));
  };
}

/** The directories that all it is about lies below. */
const basesOf = (rule: string, ground: PathRuleRoots): string[] =>
  absolutePatterns(rule, ground).flatMap((pattern) => {
    const glob = parseGlob(pattern);
    return glob.ok ? [`/${glob.value.base}`] : [];
  });

function absolutePatterns(rule: string, { roots, home }: PathRuleRoots): string[] {
  // A slash at the end only says that it is a directory.
  const given = rule.replace(/(?<=.)\/+$/, "");
  if (given.startsWith("//")) return [`/${normalised(given)}`];
  if (given === "~" || given.startsWith("~/"))
    return [`/${normalised(`${escapeGlob(home)}/${given.slice(1)}`)}`];
  const isAnywhere = !given.includes("/");
  return roots.map((root) => `/${normalised(`${escapeGlob(root)}/${isAnywhere ? `**/${given}` : given}`)}`);
}

/** Without `.`, `..` and double slashes, and without the first one. */
const normalised = (path: string): string => normalise(path).slice(1);

/** What stands for itself and for nothing else. */
const escapeGlob = (name: string): string => name.replace(/[\\*?[\]{},]/g, "\\$&");
