import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { countField, flagField, listField, parseFrontmatter, textField } from "./frontmatter.ts";

const fieldsOf = (header: string): Record<string, unknown> =>
  Object.fromEntries(parseFrontmatter(`---\n${header}\n---\nbody`).fields);

describe("the header of a Markdown file", () => {
  test("is left out of the body, with any line ends", () => {
    expect(parseFrontmatter("---\r\nname: a\r\n---\r\nbody\r\n")).toEqual({
      fields: new Map([["name", "a"]]),
      body: "body\n",
      problems: [],
    });
  });

  test("is missing where the text does not begin with it, or where it never ends", () => {
    expect(parseFrontmatter("# Title\n---\nname: a\n---\n").fields.size).toBe(0);
    expect(parseFrontmatter("---\nname: a\n").body).toBe("---\nname: a\n");
  });

  test("holds texts in the forms that people write", () => {
    expect(
      fieldsOf(
        [
          "description: Use this when: the build is red",
          `quoted: "a \\"b\\" # c"`,
          "single: 'it''s'",
          "folded: one",
          "  two",
          "block: |",
          "  first",
          "    second",
          "empty:",
          "comment: text # not this",
          "# nor this",
        ].join("\n"),
      ),
    ).toEqual({
      description: "Use this when: the build is red",
      quoted: 'a "b" # c',
      single: "it's",
      folded: "one two",
      block: "first\n  second",
      empty: "",
      comment: "text",
    });
  });

  // Each of these is an error in YAML, or loses its value there without a word.
  test.each([
    ["description: Examples: <example>Context: x</example>", "Examples: <example>Context: x</example>"],
    ["description: `x` is used", "`x` is used"],
    ["description: @me", "@me"],
    ["description: 'it''s' and more", "'it''s' and more"],
    ["description: !important", "!important"],
    ["description: &x y", "&x y"],
    ["description: - a", "- a"],
    ["description: *", "*"],
    ["paths: **/*.ts", "**/*.ts"],
    ["paths:\n- **/*.ts\n- src/{a,b}.ts", ["**/*.ts", "src/{a,b}.ts"]],
  ])("keeps what YAML would not: %j", (header, value) => {
    const { fields, problems } = parseFrontmatter(`---\n${header}\n---\n`);
    expect([...fields.values()]).toEqual([value]);
    expect(problems).toEqual([]);
  });

  test("has no names for values that others repeat, so nothing in it grows", () => {
    const header = ["a: &a [x, x]", "b: &b [*a, *a]", "c: [*b, *b]"].join("\n");
    expect(fieldsOf(header)).toEqual({ a: "&a [x, x]", b: "&b [*a, *a]", c: ["*b", "*b"] });
  });

  test("holds lists and maps", () => {
    const fields = fieldsOf(
      [
        "tools:",
        "  - Read",
        "  - Bash(git log:*)",
        "more: [a, 'b']",
        "map:",
        "  one: 1",
        "  two:",
        "    three: 3",
      ].join("\n"),
    );
    expect(fields).toEqual({
      tools: ["Read", "Bash(git log:*)"],
      more: ["a", "b"],
      map: { one: "1", two: { three: "3" } },
    });
  });

  test("gives fields as what is asked for", () => {
    const front = parseFrontmatter("---\ntools: Read, Bash(a, b), Grep\non: yes\nturns: 7\nbad: -7\n---\n");
    expect(listField(front, "tools")).toEqual(["Read", "Bash(a, b)", "Grep"]);
    expect(flagField(front, "on")).toBe(true);
    expect(countField(front, "turns")).toBe(7);
    expect(countField(front, "bad")).toBeUndefined();
    expect(textField(front, "missing", "turns")).toBe("7");
  });

  test("tells what it does not understand and keeps the rest", () => {
    const { fields, problems } = parseFrontmatter("---\nname: a\n{{{{\nmodel: b\n---\n");
    expect([...fields.keys()]).toEqual(["name", "model"]);
    expect(problems).toEqual(["a line of the header is not understood: {{{{"]);
  });

  test("cannot reach what every object has", () => {
    const { fields } = parseFrontmatter("---\nconstructor: a\n__proto__: b\nmap:\n  __proto__: c\n---\n");
    expect(fields.get("constructor")).toBe("a");
    expect(fields.get("toString")).toBeUndefined();
    expect(Object.getPrototypeOf(fields.get("map"))).toBe(Object.prototype);
  });

  test("ends soon and stays small whatever it is made of", () => {
    verifies("G45");
    const size = 60_000;
    const worst = [
      "{a,".repeat(size / 3),
      "[".repeat(size),
      "- ".repeat(size / 2),
      `a: ${"(".repeat(size)}`,
      `a: [${"x,".repeat(size / 2)}]`,
      Array.from({ length: 1_200 }, (_, depth) => `${" ".repeat(Math.min(depth, 40))}k${depth}:`).join("\n"),
      `a: "${"\\".repeat(size)}"`,
      `a: ${" #".repeat(size / 2)}`,
      "a:\n".repeat(size / 3),
      `${"-".repeat(size)}`,
      "\n".repeat(size),
    ];
    for (const header of worst) {
      const before = performance.now();
      const { fields } = parseFrontmatter(`---\n${header}\n---\nbody`);
      expect(performance.now() - before).toBeLessThan(1_000);
      expect(JSON.stringify([...fields]).length).toBeLessThan(5 * size);
    }
  });
});
