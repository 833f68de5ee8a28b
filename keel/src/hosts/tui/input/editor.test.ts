import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countOf, seed } from "../../../../../test/support/budget.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { graphemes } from "../text/width.ts";
import { blocksOf, expanded, isLong, shownText } from "./attachments.ts";
import {
  cleared,
  type EditCommand,
  type Editor,
  edit,
  editActions,
  emptyEditor,
  isAtEdge,
} from "./editor.ts";
import { insertMode, toNormal, type Vi, viKey } from "./vi.ts";

/** The cursor is the bar. */
const shown = ({ text, cursor }: Editor): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;
const from = (marked: string): Editor => ({
  ...emptyEditor,
  text: marked.replace("|", ""),
  cursor: marked.indexOf("|"),
});
const after = (start: string, ...commands: (EditCommand | EditCommand["type"])[]): string =>
  shown(
    commands.reduce<Editor>(
      (editor, command) =>
        edit(editor, typeof command === "string" ? ({ type: command } as EditCommand) : command),
      from(start),
    ),
  );

describe("editing", () => {
  test.each([
    ["one tw|o", "left", "one t|wo"],
    ["one|", "right", "one|"],
    ["one two|", "word-left", "one |two"],
    ["|one two", "word-right", "one| two"],
    ["a\nb c|d\ne", "line-start", "a\n|b cd\ne"],
    ["a\nb| cd\ne", "line-end", "a\nb cd|\ne"],
    ["one tw|o", "backspace", "one t|o"],
    ["one t|wo", "delete", "one t|o"],
    ["one two|", "delete-word-left", "one |"],
    ["one |two three", "delete-word-right", "one | three"],
    ["git commit -m|", "delete-blank-left", "git commit |"],
    ["a\none| two", "delete-to-line-start", "a\n| two"],
    ["a\n|b", "delete-to-line-start", "a|b"],
    ["one| two\nb", "delete-to-line-end", "one|\nb"],
    ["one|\nb", "delete-to-line-end", "one|b"],
    ["ab|", "transpose", "ba|"],
    ["|hello there", "upper-word", "HELLO| there"],
    ["|hello there", "capital-word", "Hello| there"],
    ["one|", "newline", "one\n|"],
    ["e\u0301|", "backspace", "|"],
    ["👨‍👩‍👧|x", "backspace", "|x"],
    ["|🇩🇪x", "right", "🇩🇪|x"],
    ["ab\ncd|e", "up", "ab|\ncde"],
    ["a|b\ncde", "down", "ab\nc|de"],
    ["a|b", "up", "|ab"],
    ["a|b", "down", "ab|"],
  ] as const)("%j %s", (start, action, end) => expect(after(start, action)).toBe(end));

  test("up and down keep the column over short rows, and go by the rows that are seen", () => {
    expect(after("long line\nx\nlong| line", "up", "up")).toBe("long| line\nx\nlong line");
    expect(after("the quick brown| fox", { type: "up", cells: 10 })).toBe("the q|uick brown fox");
  });

  test("what is cut in a row is put back as one, and older cuts by going on", () => {
    expect(after("one two three|", "delete-word-left", "delete-word-left", "yank")).toBe("one two three|");
    expect(after("a b|", "delete-word-left", "left", "delete-to-line-end", "yank", "yank-older")).toBe("ab|");
  });

  test("a step back is a word, and one on brings it again", () => {
    const typed = [..."ab cd"].map((text): EditCommand => ({ type: "insert", text }));
    expect(after("|", ...typed, "undo")).toBe("ab |");
    expect(after("|", ...typed, "undo", "undo")).toBe("ab|");
    expect(after("|", ...typed, "undo", "undo", "undo")).toBe("|");
    expect(after("|", ...typed, "undo", "undo", "redo")).toBe("ab |");
  });

  test("knows the first and the last row", () => {
    expect(isAtEdge(from("a|b\nc"), "first", 80)).toBe(true);
    expect(isAtEdge(from("ab\n|c"), "first", 80)).toBe(false);
    expect(isAtEdge(from("ab\n|c"), "last", 80)).toBe(true);
  });
});

describe("what stands for more than a sign", () => {
  test("is one sign to every action, and the whole for the session", () => {
    verifies("P50");
    const paste = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
    let editor = edit(from("see |"), { type: "attach", attachment: { kind: "paste", text: paste } });
    editor = edit(editor, { type: "insert", text: " and " });
    editor = edit(editor, {
      type: "attach",
      attachment: { kind: "image", name: "shot.png", mediaType: "image/png", data: "QUJD" },
    });
    expect(shownText(editor.text, editor.attachments)).toBe(
      "see [Pasted text 1: 20 lines] and [Image 2: shot.png, 1 kB]",
    );
    expect(blocksOf(editor.text, editor.attachments)).toEqual([
      { type: "text", text: `see ${paste} and ` },
      { type: "image", mediaType: "image/png", data: "QUJD" },
    ]);
    const without = edit(edit(editor, { type: "backspace" }), { type: "backspace" });
    expect(shownText(without.text, without.attachments)).toBe("see [Pasted text 1: 20 lines] and");
    expect(expanded(without.text, without.attachments)).toBe(`see ${paste} and`);
  });

  test("a short paste is text, a long one is not, nor one that has our signs", () => {
    expect(isLong("two\nlines")).toBe(false);
    expect(isLong("x".repeat(801))).toBe(true);
    expect(isLong("\n".repeat(9))).toBe(true);
    expect(isLong("\u{10f001}")).toBe(true);
  });
});

const command = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...editActions).map((type): EditCommand => ({ type, cells: 12 })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom("a", "word ", "\n", "漢", "👍🏽", "e\u0301", "two\nlines", "🇩🇪")
      .map((text): EditCommand => ({ type: "insert", text })),
  },
  {
    weight: 1,
    arbitrary: fc
      .string({ maxLength: 20 })
      .map((text): EditCommand => ({ type: "attach", attachment: { kind: "paste", text } })),
  },
);
const keys = fc.constantFrom(..."hjklwbeWBE0^$Ggfxtd;,dcyxXDCSsrJ~pPuiaIAoO.Y123\"'(w", "escape", "ctrl+r");

/** The cursor is in the text, and never within a sign. */
function isSound({ text, cursor }: Editor): boolean {
  if (cursor < 0 || cursor > text.length) return false;
  const starts = new Set<number>([0, text.length]);
  let at = 0;
  for (const sign of graphemes(text)) {
    starts.add(at);
    at += sign.length;
  }
  return starts.has(cursor);
}

/** For the full count. */
const timeout = 3_600_000;

test("over random actions the cursor stays sound, undoing leads back to the start, redoing to the end", {
  timeout,
}, () => {
  verifies("S4.71");
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      let editor = emptyEditor;
      for (const one of commands) {
        editor = edit(editor, one);
        // Two letters for flags may join with one that stood there before: then a cursor can be within the pair.
        if (!/\p{RI}|\p{M}|\u200d/u.test(editor.text)) expect(isSound(editor)).toBe(true);
        expect(editor.cursor).toBeGreaterThanOrEqual(0);
        expect(editor.cursor).toBeLessThanOrEqual(editor.text.length);
      }
      const end = editor.text;
      for (let back = 0; back < 300; back++) editor = edit(editor, { type: "undo" });
      expect(editor.text).toBe("");
      for (let forth = 0; forth < 300; forth++) editor = edit(editor, { type: "redo" });
      if (!commands.some(({ type }) => type === "undo")) expect(editor.text).toBe(end);
    }),
    { numRuns: countOf("editor-keys"), seed: seed() },
  );
});

test("what is pasted is what the session gets, whatever was edited around it", { timeout }, () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(command, { maxLength: 10 }),
      (given, more) => {
        const text = given.toWellFormed();
        const start = more.reduce(edit, emptyEditor);
        const editor = isLong(text)
          ? edit(start, { type: "attach", attachment: { kind: "paste", text } })
          : edit(start, { type: "insert", text });
        const blocks = blocksOf(editor.text, editor.attachments);
        const sent = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
        expect(sent).toContain(text);
        expect(cleared(editor).text).toBe("");
      },
    ),
    { numRuns: Math.ceil(countOf("editor-keys") / 5), seed: seed() },
  );
});

describe("the vi way", () => {
  const typed = (start: string, keyed: string): string => {
    let step: { vi: Vi; editor: Editor } = toNormal(insertMode, from(start));
    step = { ...step, editor: from(start) };
    for (const key of keyed
      .split(" ")
      .flatMap((part) => (part.length > 2 && part.includes("+") ? [part] : [...part]))) {
      if (step.vi.mode === "insert") {
        step =
          key === "⎋"
            ? toNormal(step.vi, step.editor)
            : { ...step, editor: edit(step.editor, { type: "insert", text: key }) };
      } else step = viKey(step.vi, step.editor, key);
    }
    return shown(step.editor);
  };

  test.each([
    ["|one two three", "w", "one |two three"],
    ["|one two three", "2w", "one two |three"],
    ["one two |three", "b", "one |two three"],
    ["|one two", "e", "on|e two"],
    ["|one two", "$", "one tw|o"],
    ["one |two", "0", "|one two"],
    ["  |one", "^", "  |one"],
    ["|one two three", "dw", "|two three"],
    ["|one two three", "d2w", "|three"],
    ["|one two three", "2dw", "|three"],
    ["one |two three", "D", "one| "],
    ["one |two", "x", "one |wo"],
    ["one t|wo", "X", "one |wo"],
    ["one |two three", "cwnew⎋", "one ne|w three"],
    ["one t|wo three", "ciwnew⎋", "one ne|w three"],
    ["one t|wo three", "daw", "one |three"],
    ['say "he|llo" now', 'di"', 'say "|" now'],
    ['say "he|llo" now', 'da"', "say | now"],
    ["f(a, |b) + c", "di(", "f(|) + c"],
    ["f(a, |b) + c", "da(", "f| + c"],
    ["a(b[|c]d)e", "di(", "a(|)e"],
    ["a\n|b\nc", "dd", "a\n|c"],
    ["a\nb\n|c", "dd", "a\n|b"],
    ["|a\nb\nc", "2dd", "|c"],
    ["|a\nb", "yyp", "a\n|a\nb"],
    ["a\n|b", "yyP", "a\n|b\nb"],
    ["|one two", "ywP", "one| one two"],
    ["|abc", "xp", "b|ac"],
    ["one |two", "fo", "one tw|o"],
    ["|a,b,c", "f,;", "a,b|,c"],
    ["|a,b,c", "t,;", "a,|b,c"],
    ["a,b,|c", "F,,", "a,b|,c"],
    ["|a,b,c", "dt,", "|,b,c"],
    ["|abc", "rz", "|zbc"],
    ["|abc", "3~", "AB|C"],
    ["|a\n  b", "J", "a| b"],
    ["|abc", "ixy⎋", "x|yabc"],
    ["|abc", "Az⎋", "abc|z"],
    ["a|b", "oc⎋", "ab\n|c"],
    ["a|b", "Oc⎋", "|c\nab"],
    ["|one two three", "dw.", "|three"],
    ["|one two", "dwu", "|one two"],
    ["|one two", "dwu ctrl+r", "|two"],
    ["a\nb\nc|d", "gg", "|a\nb\ncd"],
    ["|a\nb\ncd", "G", "a\nb\nc|d"],
    ["|abc\ndef", "j", "abc\n|def"],
    ["|one", "zz", "|one"],
  ])("%j %s", (start, keyed, end) => expect(typed(start, keyed)).toBe(end));

  test("over random keys the cursor stays in the text", { timeout }, () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", " ", "\n", "(", '"', "漢"), maxLength: 40 }),
        fc.array(keys, { maxLength: 40 }),
        (text, pressed) => {
          let step: { vi: Vi; editor: Editor } = toNormal(insertMode, {
            ...emptyEditor,
            text,
            cursor: text.length,
          });
          for (const key of pressed) {
            step =
              step.vi.mode === "normal"
                ? viKey(step.vi, step.editor, key)
                : key === "escape"
                  ? toNormal(step.vi, step.editor)
                  : { ...step, editor: edit(step.editor, { type: "insert", text: key.slice(0, 1) }) };
            expect(isSound(step.editor), `${key} in ${JSON.stringify(step.editor.text)}`).toBe(true);
          }
        },
      ),
      { numRuns: countOf("editor-keys"), seed: seed() },
    );
  });
});
