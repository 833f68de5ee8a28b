import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HtmlReducer } from "./html-reducer.ts";

const page = new URL("https://example.org/dir/page");

function reduce(html: string, pieces: readonly number[] = []): { title: string; text: string } {
  const reducer = new HtmlReducer(page);
  let at = 0;
  for (const length of pieces) {
    reducer.write(html.slice(at, at + length));
    at += length;
  }
  reducer.write(html.slice(at));
  return reducer.end();
}
const markdown = (html: string): string => reduce(html).text;

const article = `<!doctype html><html><head><title>Ships &amp; keels</title><style>p { color: red }</style>
<script>document.write("<p>no</p>")</script></head><body>
<nav><a href="/home">Home</a> <a href="#main">Skip</a></nav>
<h1>A <code>keel</code></h1>
<p>The   keel is <b>low</b>;
see <a href="b?x=1&amp;y=2">the plan</a> and <img src="z.png" alt="a ship">.</p>
<ul><li><p>oak</p></li><li>iron<ul><li>old</li><li><a href="/new">new</a></li></ul></li></ul>
<ol start="3"><li>three<li>four</ol>
<blockquote><p>Row.</p><p>Sail.</p></blockquote>
<pre><code>
if (a &lt; b) {
  turn();
}
</code></pre>
<table><tr><th>Part<th>Wood</tr><tr><td>mast<td><p>pine</p></table>
<a href="/card"><h3>Card</h3><p>Words.</p></a>
</body></html>`;

describe("a page", () => {
  test("keeps its headings, lists, links, code, tables and quotes, and nothing that runs or loads", () => {
    const { title, text } = reduce(article);
    expect(title).toBe("Ships & keels");
    expect(text).toMatchInlineSnapshot(`
      "[Home](https://example.org/home) Skip

      # A \`keel\`

      The keel is low; see [the plan](https://example.org/dir/b?x=1&y=2) and [image: a ship].

      - oak
      - iron
        - old
        - [new](https://example.org/new)

      3. three
      4. four

      > Row.
      >
      > Sail.

      \`\`\`
      if (a < b) {
        turn();
      }
      \`\`\`

      | Part | Wood |
      | --- | --- |
      | mast | pine |

      ### Card

      Words.
      <https://example.org/card>"
    `);
  });

  test("gives the same text wherever it is cut into pieces", () => {
    const whole = reduce(article);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 40 }), (pieces) => {
        expect(reduce(article, pieces)).toEqual(whole);
      }),
      { numRuns: 100 },
    );
    expect(
      reduce(
        article,
        Array.from(article, () => 1),
      ),
    ).toEqual(whole);
  });
});

describe("what is left out", () => {
  test.each([
    ["a script that holds markup", 'a<script>"</p>" < b </scrip></script>b', "ab"],
    ["a script that never ends", "a<script>var x = '<p>no</p>'", "a"],
    ["a style in capitals", "<STYLE>p{}</STYLE >a", "a"],
    ["comments, also with tags inside", "a<!-- <p>no</p> -->b<!-->c-->d", "abd"],
    ["a comment that never ends", "a<!-- b", "a"],
    ["what is hidden", '<div hidden>no<div>no</div></div>a<p aria-hidden="true">no</p>', "a"],
    [
      "pictures, but for their description",
      '<svg><title>no</title><a>no</a></svg><img src=x><img alt="a cat" src=x>',
      "[image: a cat]",
    ],
    ["forms' lists", "<select><option>no</select>a<textarea><b>no</textarea>", "a"],
  ])("%s", (_, html, expected) => {
    expect(markdown(html)).toBe(expected);
  });
});

describe("a link", () => {
  test.each([
    ["is made whole", '<a href="../x">t</a>', "[t](https://example.org/x)"],
    [
      "follows the page's own base",
      '<base href="https://other.example/y/"><a href=z>t</a>',
      "[t](https://other.example/y/z)",
    ],
    ["keeps its blanks outside", "<p>see <a href=/x> this </a>now", "see [this](https://example.org/x) now"],
    [
      "that runs something is only its words",
      '<a href="javascript:alert(1)">t</a> <a href="data:x">u</a>',
      "t u",
    ],
    ["to a part of the page is only its words", '<a href="#x">t</a>', "t"],
    ["without words is nothing", '<a href="/x"></a>a', "a"],
    [
      "ends where the next begins",
      "<a href=/x>one<a href=/y>two</a>",
      "[one](https://example.org/x)[two](https://example.org/y)",
    ],
    ["that never ends ends with the page", "<a href=/x>one", "[one](https://example.org/x)"],
  ])("%s", (_, html, expected) => {
    expect(markdown(html)).toBe(expected);
  });
});

describe("text", () => {
  test.each([
    [
      "characters by name and number",
      "&lt;&eacute;&#233;&#xE9;&euro;&nbsp;&hellip; &nosuch; &amp",
      "<ééé€ … &nosuch; &",
    ],
    ["characters that are none", "&#0;&#xD800;&#x110000;", "\ufffd\ufffd\ufffd"],
    ["signs that only look like tags", "a < b <3 <> c", "a < b <3 <> c"],
    ["a tag that another one breaks", "a <b <i>c</i>", "a <b c"],
    ["a tag that never ends", "a<b c", "a<b c"],
    ["quotes inside a tag", "<a title=\"a > b\" href='/x'>t</a>", "[t](https://example.org/x)"],
    [
      "rows inside rows",
      "<table><tr><td>a<table><tr><td>b</table><td>c</table>d",
      "| a b | c |\n| --- | --- |\n\nd",
    ],
    ["lines of an address", "a<br>b<br/>c<hr>d", "a\nb\nc\n\n---\n\nd"],
  ])("%s", (_, html, expected) => {
    expect(markdown(html)).toBe(expected);
  });
});

test.each([
  ["beginnings", "<a"],
  ["open quotes", '<a b="'],
  ["other open quotes", "<a b='<a c=\""],
  ["nested lists", "<ul><li>"],
  ["nested quotes", "<blockquote><p>x"],
  ["nested tables", "<table><tr><td>"],
  ["open links", "<a href=x>y"],
  ["signs", "&"],
  ["characters by name", "&yuml;"],
  ["open comments", "<!--"],
  ["attributes", "<p a = = ' \" "],
])("a page of nothing but %s takes no longer than its length", (_, piece) => {
  const time = (characters: number): number => {
    const html = piece.repeat(Math.ceil(characters / piece.length));
    const startedAt = performance.now();
    reduce(html, Array<number>(Math.ceil(html.length / 16_384)).fill(16_384));
    return performance.now() - startedAt;
  };
  // Quadratic work would take minutes.
  expect(time(500_000)).toBeLessThan(5_000);
});
