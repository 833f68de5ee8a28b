import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { dangerOf } from "./danger.ts";
import { parseRule } from "./rules.ts";

test.each([
  ["Bash", "every command"],
  ["Bash(*)", "every command"],
  ["Bash(* --version)", "any program"],
  ["Bash(ls*)", "no border"],
  ["Bash(git * main)", "star in the middle"],
  ["Bash(bash:*)", "covers nothing"],
  ["Bash(sudo *)", "covers nothing"],
  ["Bash(python3:*)", "whatever a script says"],
  ["Bash(rm:*)", "removes or overwrites"],
  ["Bash(git reset --hard:*)", "removes or overwrites"],
  ["Bash(curl:*)", "send anything"],
  ["WebFetch", "every address"],
  ["WebFetch(domain:*.com)", "top-level domain"],
  ["Edit", "every file"],
  ["Read(//**)", "everything be read"],
  ["Edit(~/**)", "home directory be written"],
])("the rule %s is told to be wide", (text, words) => {
  verifies("S4.49");
  const rule = parseRule(text);
  expect(rule && dangerOf(rule)).toContain(words);
});

test.each([
  "Bash(git status:*)",
  "Bash(npm run test:*)",
  "Bash(npm run *)",
  "Bash(rm -rf build)",
  "Bash(bash scripts/build.sh:*)",
  "Bash(python3 -m pytest:*)",
  "Read(src/**)",
  "Edit(./docs/**)",
  "WebFetch(domain:example.org)",
  "mcp__server",
  "Glob",
])("the rule %s says what it means", (text) => {
  const rule = parseRule(text);
  expect(rule).toBeDefined();
  expect(rule && dangerOf(rule)).toBeUndefined();
});
