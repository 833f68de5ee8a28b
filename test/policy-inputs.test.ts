// Whatever text comes: an answer, never an exception, and soon.
import { expect, test } from "vitest";
import { parseRule } from "../keel/src/policy/rules.ts";
import { analyse, looksReadOnly } from "../keel/src/shell/meaning/analyse.ts";
import { chanceOf, generateCommand } from "./differential/generate.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const world = { cwd: "/p", home: "/h", roots: ["/p"], isTrusted: true };
const look = (text: string) => analyse(text, world, undefined);

const count = countOf("policy-inputs");

test("random texts are read or refused, and none is too much", { timeout: 120_000 + count * 3 }, () => {
  verifies("G28");
  const signs = [
    ..."abrm -;&|<>(){}[]$`'\"\\\n\t\r#*?~!=,.:/%@^+0129",
    "$(",
    "${",
    "<<",
    "é",
    "\u202e",
    "\0",
    "\ud800",
  ];
  for (let at = 0; at < count; at++) {
    const chance = chanceOf(seed() + at);
    const text =
      at % 2 === 0
        ? generateCommand(chance)
        : Array.from({ length: chance.below(60) }, () => chance.pick(signs)).join("");
    const { kind } = look(text);
    expect(kind === "read" || kind === "unread").toBe(true);
    if (at % 10 === 0) {
      looksReadOnly(text);
      parseRule(`Bash(${text})`);
    }
  }
});

test.each([
  ["braces", (size: number) => "{a,b}".repeat(size / 5)],
  ["braces that do not close", (size: number) => "{".repeat(size)],
  ["ranges", (size: number) => `echo ${"{1..99}".repeat(size / 7)}`],
  ["substitutions", (size: number) => "$(".repeat(size / 2)],
  ["what looks like arithmetic", (size: number) => "$((".repeat(size / 3)],
  ["expansions", (size: number) => "${x:-".repeat(size / 5)],
  ["expansions in quotes", (size: number) => '"${x:-'.repeat(size / 6)],
  ["groups of a regular expression", (size: number) => `[[ a =~ ${"(".repeat(size)} ]]`],
  ["subshells", (size: number) => "(".repeat(size)],
  ["backticks", (size: number) => "`".repeat(size)],
  ["escaped backticks", (size: number) => "\\`".repeat(size / 2)],
  ["quotes", (size: number) => "'\"".repeat(size / 2)],
  ["here-documents", (size: number) => "<<E ".repeat(size / 4)],
  ["here-documents with a body", (size: number) => `${"<<E ".repeat(size / 8)}\n${"E\n".repeat(size / 8)}`],
  ["tildes", (size: number) => "~".repeat(size)],
  ["tildes in a path list", (size: number) => `a=${"~:".repeat(size / 2)}`],
  ["equals signs", (size: number) => "=".repeat(size)],
  ["pieces of a name", (size: number) => "a\\\n".repeat(size / 3)],
  ["brackets", (size: number) => "[".repeat(size)],
  ["a chain", (size: number) => "a;".repeat(size / 2)],
  ["a pipeline", (size: number) => `a${"|a".repeat(size / 2 - 1)}`],
  ["wrappers", (size: number) => "env ".repeat(size / 4)],
  ["evals", (size: number) => "eval ".repeat(size / 5)],
  ["finds", (size: number) => `find ${"-exec a ; ".repeat(size / 10)}`],
  ["functions", (size: number) => "f(){ ".repeat(size / 5)],
  ["joined lines", (size: number) => "\\\n".repeat(size / 2)],
  ["comments", (size: number) => "#\n".repeat(size / 2)],
  ["directories", (size: number) => "cd a;".repeat(size / 5)],
  ["a script of sed", (size: number) => `sed '${"s/a/b/;".repeat(size / 7)}' f`],
  ["a script of sed that is cut", (size: number) => `sed '${"/".repeat(size)}' f`],
  ["a program of awk", (size: number) => `awk '${'"a" | '.repeat(size / 6)}' f`],
])("100 kB of %s take no longer than they should", (_what, make) => {
  verifies("G28");
  const started = performance.now();
  look(make(100_000));
  expect(performance.now() - started).toBeLessThan(5_000);
});
