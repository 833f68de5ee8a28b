// Our reader of sed scripts against sed itself, which in its sandbox refuses every script that runs, reads or writes.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { readSedScript } from "../keel/src/shell/programs/sed-script.ts";
import { type Chance, chanceOf } from "./differential/generate.ts";
import { seed } from "./support/budget.ts";
import { notRunHere } from "./support/not-run.ts";
import { verifies } from "./support/verifies.ts";

const count = 400;

test("what is taken for plain editing does not leave the sandbox of sed", { timeout: 120_000 }, () => {
  verifies("G23");
  if (!/sandbox/.test(inSandbox("e"))) return notRunHere("scripts of sed", "GNU sed with --sandbox absent");
  let plain = 0;
  const wrong: string[] = [];
  for (let at = 0; at < count; at++) {
    const script = sedScript(chanceOf(seed() + at));
    if (!readSedScript(script).isPlain) continue;
    plain += 1;
    if (/sandbox/.test(inSandbox(script))) wrong.push(script);
  }
  expect(wrong).toEqual([]);
  expect(plain).toBeGreaterThan(count / 5);
});

test.each(["s/[^]/]/g;#/e", "s/[[:alpha:]/]/g;#/e", "s/[]/]/g;#/e", "/[^]/]/p;#/e x"])(
  "%j hides a command behind a bracket",
  (script) => {
    expect(readSedScript(script).isPlain).toBe(false);
  },
);

/** What it complains about. Its input is empty, so that nothing happens either way. */
const inSandbox = (script: string): string =>
  spawnSync("sed", ["--sandbox", "-n", "--", script, "/dev/null"], { encoding: "utf8" }).stderr ?? "";

const pieces = [
  ..."[a] [^a] []a] [^]a] [[:alpha:]] [[:alpha:]/] [/] [^]/] []/] [\\] [\\/] [a/b] [[.-.]/] [[=a=]/] [ ] a".split(
    " ",
  ),
  ..."\\/ \\[ \\] x* \\(a\\) ^ $ \\n".split(" "),
];

function sedScript(chance: Chance): string {
  const parts = Array.from({ length: 1 + chance.below(3) }, () => sedCommand(chance));
  return parts.join(chance.pick([";", "\n", " ; ", ";;", ""]));
}

function sedCommand(chance: Chance): string {
  const pattern = (): string =>
    Array.from({ length: 1 + chance.below(4) }, () => chance.pick(pieces)).join("");
  const substitute = (): string =>
    `s/${pattern()}/${pattern()}/${chance.pick(["", "g", "p", "2", "I", "e", "w o", "ge"])}`;
  return chance.pick([
    substitute,
    () => `/${pattern()}/${chance.pick(["d", "p", "I p", "!p", "e x", "w o", substitute()])}`,
    () => `/${pattern()}/,/${pattern()}/p`,
    () => `#${pattern()}/e`,
    () => `1,${chance.pick(["3", "$", "+2", "~4", `/${pattern()}/`])}p`,
    () => chance.pick("p|d|e|w x|r y|n|=|q|a t|i t|c t|b|:a|ba|# x|}|{p}|{p;e}|e x|y/ab/cd/".split("|")),
  ])();
}
