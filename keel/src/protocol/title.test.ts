import { expect, test } from "vitest";
import { titleOf } from "./title.ts";

test.each([
  ["Why does the build fail on arm64? It worked yesterday.", "Because…", "Why does the build fail on arm64?"],
  ["hi", "Hello! I can look at the parser with you.", "Hello!"],
  ["hello", "", "hello"],
  ["", "", ""],
  ["```ts\nconst a = 1;\n```\nWhat does this do?", "It binds.", "What does this do?"],
  ["/review the last commit please", "", "the last commit please"],
  ["# Plan\n\n- first we move the store", "", "Plan"],
  ["**Make** the `list` faster, please", "", "Make the list faster, please"],
  ['<keel-file path="a.ts">\nsecret\n</keel-file>\nExplain this file', "", "Explain this file"],
])("%j and %j is about %j", (said, answered, title) => {
  expect(titleOf({ said, answered })).toBe(title);
});

test("a title is cut between words, and bounded without any", () => {
  const words = "the quick brown fox jumps over the lazy dog and then over the river";
  expect(titleOf({ said: words, answered: "" })).toBe(
    "the quick brown fox jumps over the lazy dog and then over…",
  );
  expect(titleOf({ said: `look at ${"x".repeat(500)}`, answered: "" })).toHaveLength(60);
});
