import { expect, test } from "vitest";
import { parseExpectations } from "./expectations.ts";

test("a line is a verdict and a call; what is said above it holds for it", () => {
  const parsed = parseExpectations(
    [
      "# What our rules are meant to mean.",
      "rules none",
      "rule deny Bash(npm publish:*)",
      "",
      "allow $ npm test",
      "mode default, dontAsk",
      "folder packages/app",
      "untrusted",
      "not allow $ cat <<END",
      "  one",
      "    two",
      "  END",
      "deny by Bash(npm publish:*): $ npm publish",
      "deny by Read(./a b/**): Read a b/key",
      "ask WebFetch https://example.org/a",
      "allow Agent Explore",
      "ask mcp__github__get_issue",
    ].join("\n"),
  );
  const ground = { modes: ["default", "dontAsk"], folder: "packages/app", isTrusted: false, isNot: false };
  expect(parsed).toMatchObject({
    ok: true,
    value: {
      base: "none",
      rules: { allow: [], ask: [], deny: ["Bash(npm publish:*)"] },
      expectations: [
        {
          line: 5,
          verdict: "allow",
          tool: "Bash",
          input: { command: "npm test" },
          modes: ["default"],
          isTrusted: true,
        },
        { ...ground, line: 9, isNot: true, input: { command: "cat <<END\none\n  two\nEND" } },
        { ...ground, verdict: "deny", by: "Bash(npm publish:*)", input: { command: "npm publish" } },
        { ...ground, by: "Read(./a b/**)", tool: "Read", input: { file_path: "a b/key" } },
        { ...ground, tool: "WebFetch", input: { url: "https://example.org/a" } },
        { ...ground, tool: "Agent", input: { subagent_type: "Explore" } },
        { ...ground, tool: "mcp__github__get_issue", input: {} },
      ],
    },
  });
});

test("every line that says nothing is told, and no other is taken", () => {
  const wrong = [
    "allow",
    "allow npm test",
    "permit $ ls",
    "mode fast",
    "deny Read",
    "rule allow",
    "allow Bash ls",
  ];
  const parsed = parseExpectations(["allow $ ls", ...wrong].join("\n"));
  expect(parsed.ok).toBe(false);
  expect(parsed.ok ? [] : parsed.problems.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8]);
});
