import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { codeSpan, fenced, inertMarkdown } from "./inert-markdown.ts";

describe("inert Markdown", () => {
  test.each([
    ["a tag", "<img src=x>", "&lt;img src=x>"],
    ["a closing tag", "</div>", "&lt;/div>"],
    ["a comment", "<!-- x", "&lt;!-- x"],
    ["an image", "![alt](http://x/y.png)", "&#33;[alt](http://x/y.png)"],
    ["an image in a link", "[![a](b)](c)", "[&#33;[a](b)](c)"],
    ["a backtick without a partner", "a ` b", "a \\` b"],
    ["tildes that would open a fence in a quotation", "> ~~~", "> \\~\\~\\~"],
    ["a span that a table would split", "| `a | <b>` |", "| `a | &lt;b>` |"],
  ])("takes the meaning from %s", (_, text, expected) => {
    expect(inertMarkdown(text)).toBe(expected);
  });

  test.each([
    ["prose", "# Title\n\n- *one*\n- 2 < 3 and a<5"],
    ["a span of code", "call `Array<string>` or ``a`b<c>``"],
    ["a code block", "```html\n<b>bold</b>\n![x](y)\n```"],
    ["links", "[a](https://example.org)"],
  ])("leaves %s as it is", (_, text) => {
    expect(inertMarkdown(text)).toBe(text);
  });

  test("moves a code block out of a list, where nothing encloses it", () => {
    expect(inertMarkdown("1. Run:\n   ~~~sh\n   ls <dir>\n     -l\n   ~~~\n2. Done")).toBe(
      "1. Run:\n```sh\nls <dir>\n  -l\n```\n2. Done",
    );
  });

  test("closes a code block that nobody closed", () => {
    expect(inertMarkdown("```\n<b>")).toBe("```\n<b>\n```");
  });

  test("has no tag and no image that a reader of Markdown would see", () => {
    verifies("G42");
    // Small alphabets meet the rare orders; the large one meets what nobody thought of.
    const alphabets = [
      ["`", "``", "\n", "<b", "\\", "a"],
      ["```", "~~~", "\n", "  ", "<b", "> ", "- "],
      ["`", "|", "<b", "![a](b)", " "],
      ["`", "``", "```", "~~~", "\\", "<img src=x>", "</b>", "<!--", "![a](b)", "!", "[", "|", "\n", "\n\n"],
    ].map((bits) => fc.array(fc.constantFrom(...bits), { maxLength: 14 }).map((all) => all.join("")));
    const hostile = fc.oneof(...alphabets);
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = inertMarkdown(text);
        for (const prose of [...paragraphsOf(shown), ...cellsOf(shown)]) {
          expect(withoutSpans(prose)).not.toMatch(/<[A-Za-z/!?]|!\[/);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test("is done with the worst in a moment", () => {
    const rising = Array.from({ length: 400 }, (_, index) => `${"`".repeat(index + 1)} `).join("");
    for (const worst of [rising, "`a ".repeat(30_000), "~~~x\n".repeat(20_000), "<".repeat(100_000)]) {
      const started = performance.now();
      inertMarkdown(worst);
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });
});

test("a fence is longer than any inside", () => {
  expect(fenced("a\n````\nb", "md")).toBe("`````md\na\n````\nb\n`````");
});

test.each([
  ["plain", "`plain`"],
  ["a`b", "``a`b``"],
  ["`", "`` ` ``"],
  ["", "`  `"],
])("%j as code is %s", (text, expected) => {
  expect(codeSpan(text)).toBe(expected);
});

// Another reading of the same rules, as readers of Markdown apply them: code blocks first, then spans that may cross
// the lines of a paragraph; tables split their rows into cells before that.

function proseLines(text: string): string[] {
  let fence: string | undefined;
  return text.split("\n").map((line) => {
    if (fence !== undefined) {
      const [, run = ""] = /^ {0,3}(`+|~+)[ \t]*$/.exec(line) ?? [];
      if (run !== "" && run.length >= fence.length && run[0] === fence[0]) fence = undefined;
      return "";
    }
    const [, mark] = /^[\s>*+\-\d.)]*(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
    fence = mark;
    return mark === undefined ? line : "";
  });
}

function paragraphsOf(text: string): string[] {
  return proseLines(text)
    .join("\n")
    .split(/\n\s*\n/);
}

const cellsOf = (text: string): string[] => proseLines(text).flatMap((line) => line.split(/(?<!\\)\|/));

function withoutSpans(prose: string): string {
  let rest = "";
  let at = 0;
  while (at < prose.length) {
    if (prose[at] === "\\") {
      rest += prose.slice(at, at + 2);
      at += 2;
    } else if (prose[at] === "`") {
      const [run = ""] = /^`+/.exec(prose.slice(at)) ?? [];
      const close = new RegExp(`(?<!\`)${run}(?!\`)`).exec(prose.slice(at + run.length));
      rest += close ? "¤" : run;
      at += close ? 2 * run.length + close.index : run.length;
    } else {
      rest += prose[at];
      at += 1;
    }
  }
  return rest;
}
