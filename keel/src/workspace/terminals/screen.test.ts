import headless from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cellsOf, painted, write } from "../../../../test/support/cells.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { EscapeScanner } from "./escape-scan.ts";
import { TerminalScreen } from "./screen.ts";

const size = { columns: 20, rows: 6 };

/** What follows the screen that was taken lands where it would have landed on the terminal that saw everything. */
async function expectSame(before: string, after: string): Promise<void> {
  const screen = new TerminalScreen({ ...size, at: 0, reply: () => undefined });
  const scanner = new EscapeScanner();
  const { whole } = scanner.push(before);
  screen.write(whole, Buffer.byteLength(whole), () => undefined);
  const shot = await screen.shot();
  const rest = before.slice(whole.length) + after;
  const late = await painted(shot);
  const early = new headless.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 1_000,
    allowProposedApi: true,
  });
  await write(early, whole);
  expect(cellsOf(late), "as painted").toEqual(cellsOf(early));
  await write(late, rest);
  await write(early, rest);
  expect(cellsOf(late), "after more output").toEqual(cellsOf(early));
  screen.close();
}

const esc = "\u001b";
const cases: Readonly<Record<string, readonly [before: string, after: string]>> = {
  "plain lines that have scrolled": ["one\r\ntwo\r\n".repeat(10), "three"],
  "a line that is full to its last column": [`top\r\n${"x".repeat(20)}`, "y"],
  "a full line with styles, and lines below it": [
    `\r\n\r\nbelow${esc}[1;1H${esc}[31m${"x".repeat(20)}${esc}[0;4m`,
    "y",
  ],
  "a full line that ends in a wide character": [`${"x".repeat(18)}漢`, "字"],
  "a scroll region": [`a\r\nb\r\nc\r\nd\r\ne${esc}[2;4r${esc}[4;1H`, "\n\n\nin"],
  "a scroll region with its own origin": [
    `a\r\nb\r\nc\r\nd${esc}[2;4r${esc}[?6h${esc}[2;3H`,
    `X${esc}[1;1HY\n\n\nZ`,
  ],
  "a cursor that was saved": [`${esc}[3;5H${esc}7${esc}[1;1Habc`, `${esc}8X`],
  "line drawing": [`${esc}(0lqqk`, "xqx"],
  "line drawing that a cursor without a place of its own ends": [`${esc}(0${esc}8`, "` \u000f`"],
  "line drawing that a cursor brings back": [`${esc}(0${esc}7${esc}(B${esc}[3;3H${esc}8`, "q\u000fq"],
  "line drawing by shift": [`${esc})0a\u000eqq`, "qq\u000fqq"],
  "the other screen, and back": [`under\r\n${esc}[?1049h${esc}[2;2Hover${esc}[7m`, `more${esc}[?1049l back`],
  "a style that the other screen gives back": [`${esc}[4m${esc}[?1049h`, `${esc}[?1049l a`],
  "no wrapping": [`${esc}[?7l${"x".repeat(30)}`, "yz"],
  "insert mode": [`abcdef${esc}[1;3H${esc}[4h`, "XY"],
  "a style that is on": [`${esc}[1;3;38;5;200;48;2;1;2;3mab`, "cd"],
  "coloured blanks": [`${esc}[44m${esc}[2J${esc}[3;3Hx`, `${esc}[Ky`],
  "half a sequence at the end": [`ab${esc}[3`, "1mcd"],
};

test.each(Object.entries(cases))("a screen goes on as it was: %s", async (_, [before, after]) => {
  verifies("S3.3");
  await expectSame(before, after);
});

const part = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom("漢字", "é", "\r\n", "\n", "\r", "\t", "\b") },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.nat(8),
        fc.nat(24),
        fc.constantFrom("A", "B", "C", "D", "G", "H", "J", "K", "L", "M", "P", "S", "T", "X", "@", "d", "r"),
      )
      .map(([one, two, final]) =>
        final === "H" || final === "r" ? `${esc}[${one};${two}${final}` : `${esc}[${one % 4}${final}`,
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom("0", "1", "7", "31", "44", "38;5;99", "48;2;9;8;7", "4", "9")
      .map((code) => `${esc}[${code}m`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      `${esc}7`,
      `${esc}8`,
      `${esc}M`,
      `${esc}D`,
      `${esc}E`,
      `${esc}(0`,
      `${esc}(B`,
      `${esc}[?1049h`,
      `${esc}[?1049l`,
      `${esc}[?7l`,
      `${esc}[?7h`,
      `${esc}[4h`,
      `${esc}[4l`,
      `${esc}[?6h`,
      `${esc}[?6l`,
    ),
  },
);

test("a screen goes on as it was, after anything", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 25 }),
      fc.array(part, { maxLength: 12 }),
      (before, after) => {
        const all = [...before, ...after].join("");
        // Without wrapping, a wide character at the edge is cut in half: a state that no writing leads back to.
        fc.pre(!(all.includes("[?7l") && /[漢字]/.test(all)));
        return expectSame(before.join(""), after.join(""));
      },
    ),
    { numRuns: 200 },
  );
});

test("a terminal answers its program, and says what it showed up to which position", async () => {
  const replies: string[] = [];
  const screen = new TerminalScreen({ ...size, at: 100, reply: (keys) => replies.push(keys) });
  screen.write(`ab${esc}[6n`, 2, () => undefined);
  expect(await screen.shot()).toMatchObject({ at: 102, columns: 20, rows: 6 });
  expect(replies).toEqual([`${esc}[1;3R`]);
});
