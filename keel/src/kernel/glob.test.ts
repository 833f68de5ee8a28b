import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { globDepth, globMatcher, parseGlob } from "./glob.ts";

const fits = (pattern: string, path: string): boolean => {
  const glob = parseGlob(pattern);
  return glob.ok && glob.value.base === "" && globMatcher(glob.value.rests)(path);
};

describe("a glob matches", () => {
  test.each([
    ["*.ts", "a.ts"],
    ["*.ts", ".ts"],
    ["**/*.ts", "a.ts"],
    ["**/*.ts", "src/deep/a.ts"],
    ["**", "any/thing"],
    ["**/", "any/thing"],
    ["**/a/**/b", "a/b"],
    ["**/a/**/b", "x/a/y/z/b"],
    ["*/b/*", "a/b/c"],
    ["?.ts", "ä.ts"],
    ["?.ts", "😀.ts"],
    ["[a-c]x", "bx"],
    ["[!a-c]x", "dx"],
    ["[]]x", "]x"],
    ["{a,b}.{ts,js}", "b.js"],
    ["{a,{b,c}d}", "cd"],
    ["{x}", "{x}"],
    ["a[b", "a[b"],
    ["\\*", "*"],
    ["*a*a*a", "aaa"],
    [".*", ".hidden"],
    ["*/(group)/*", "app/(group)/page"],
    ["./**/./x", "y/x"],
    ["a\\*\\{b\\,c\\}\\[d\\]", "a*{b,c}[d]"],
  ])("%s: %s", (pattern, path) => {
    expect(fits(pattern, path)).toBe(true);
  });

  test.each([
    ["*.ts", "src/a.ts"],
    ["*.ts", "a.tsx"],
    ["*/*", "a"],
    ["**/x", "y"],
    ["?", "ab"],
    ["[!a]", "a"],
    ["[a-c]", "d"],
    ["{a,b}", "c"],
    ["\\*", "a"],
    ["a/**/b", "a/c"],
    ["A", "a"],
  ])("%s, but not %s", (pattern, path) => {
    expect(fits(pattern, path)).toBe(false);
  });
});

describe("a glob starts", () => {
  test.each([
    ["src/**/*.ts", "src", ["**/*.ts"]],
    ["src/a.ts", "src", ["a.ts"]],
    ["../**", "..", ["**"]],
    ["/etc/*.conf", "/etc", ["*.conf"]],
    ["/*", "/", ["*"]],
    ["src/{a,b}/*.ts", "src", ["a/*.ts", "b/*.ts"]],
    ["{src,lib}/*.ts", "", ["src/*.ts", "lib/*.ts"]],
    ["a\\ b/c", "a b", ["c"]],
    ["a/../b/*", "a/../b", ["*"]],
    ["src/", "src", ["**"]],
  ])("%s in %j", (pattern, base, rests) => {
    expect(parseGlob(pattern)).toEqual({ ok: true, value: { base, rests } });
  });

  test("and ends, where it has an end", () => {
    expect(globDepth(["*.ts", "a/b/*"])).toBe(3);
    expect(globDepth(["a/**"])).toBeUndefined();
  });
});

describe("a glob is refused", () => {
  test.each([
    ["", "empty"],
    ["src/*/../../x", '".." may only stand at the start'],
    ["{a,..}/x", '".." may only stand at the start'],
    ["{a,b}".repeat(18), "more than 1000 alternatives"],
    ["{a,b}".repeat(800), "more than 1000 alternatives"],
    ["x".repeat(5_000), "longer than 4096"],
  ])("%s", (pattern, why) => {
    expect(parseGlob(pattern)).toMatchObject({ ok: false, error: expect.stringContaining(why) });
  });
});

test("a glob takes no longer than its length and the path's, however many stars it has", {
  timeout: 2_000,
}, () => {
  verifies("G45");
  const name = "a".repeat(250);
  for (const pattern of ["*a".repeat(100), "**/".repeat(100), "*?".repeat(100), `${"{".repeat(2_000)}`]) {
    const glob = parseGlob(`${pattern}*b`);
    if (glob.ok) expect(globMatcher(glob.value.rests)(`${`${name}/`.repeat(16)}${name}`)).toBe(false);
  }
});

test("a glob agrees with a search through every way to match", () => {
  const sign = fc.constantFrom("a", "b", "*", "?", "**", "/", "a", "b");
  const pattern = fc.array(sign, { minLength: 1, maxLength: 8 }).map((signs) => signs.join(""));
  const names = fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(pattern, names, (text, path) => {
      const glob = parseGlob(text);
      const rests = glob.ok && glob.value.base === "" ? glob.value.rests : [];
      const expected = rests.some((rest) => tryAll(rest.split("/"), path));
      expect(globMatcher(rests)(path.join("/"))).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

/** Every way, one after the other. */
function tryAll([first, ...rest]: string[], names: string[]): boolean {
  if (first === undefined) return names.length === 0;
  if (first === "**")
    return (names.length >= 0 && names.some((_, at) => tryAll(rest, names.slice(at)))) || tryAll(rest, []);
  const [name, ...others] = names;
  return name !== undefined && tryName([...first], [...name]) && tryAll(rest, others);
}

function tryName([first, ...rest]: string[], signs: string[]): boolean {
  if (first === undefined) return signs.length === 0;
  if (first === "*")
    return tryName(rest, signs) || (signs.length > 0 && tryName([first, ...rest], signs.slice(1)));
  const [sign, ...others] = signs;
  return sign !== undefined && (first === "?" || first === sign) && tryName(rest, others);
}
