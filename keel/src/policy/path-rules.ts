/**
 * Paths in rules, as in a `.gitignore`: `//etc` from the root of the file system, `~/x` from the home, `/x`, `./x` and
 * `a/b` from the roots of the workspace, `*.pem` at any depth below them. What names a directory means all that is in it.
 */
import { globMatcher, parseGlob } from "../kernel/glob.ts";
import { isInside, normalise } from "../kernel/path.ts";

/** What rules about paths are relative to. */
export type PathRuleRoots = { readonly roots: readonly string[]; readonly home: string };

/** `path` is absolute. */
export const matchesPath = (rule: string, path: string, ground: PathRuleRoots): boolean =>
  pathMatcher(rule, ground)(path);

/** The same for many paths. */
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

/** Whether something below `directory` could be what the rule is about. */
export function mayLieBelow(rule: string, directory: string, ground: PathRuleRoots): boolean {
  return absolutePatterns(rule, ground).some((pattern) => {
    const glob = parseGlob(pattern);
    if (!glob.ok) return false;
    const base = `/${glob.value.base}`;
    return isInside(base, [directory]) || isInside(directory, [base]);
  });
}

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
