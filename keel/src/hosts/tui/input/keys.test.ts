import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeKeys, flushKeys, noKeys, settlesIn } from "./keys.ts";
import type { TerminalInput } from "./terminal-input.ts";

/** Long pauses between the parts: a hand. */
function read(parts: readonly (string | Uint8Array)[], stepMs = 1_000): TerminalInput[] {
  let state = noKeys;
  const found: TerminalInput[] = [];
  parts.forEach((part, index) => {
    const bytes = typeof part === "string" ? Buffer.from(part) : part;
    const step = decodeKeys(state, bytes, index * stepMs);
    state = step.state;
    found.push(...step.inputs);
  });
  found.push(...flushKeys(state).inputs);
  return found;
}
const names = (parts: readonly (string | Uint8Array)[]): string[] =>
  read(parts).map((input) => (input.kind === "key" ? input.name : `${input.kind}:${JSON.stringify(input)}`));

describe("keys", () => {
  test.each([
    ["a", ["a"]],
    ["é漢😀", ["é", "漢", "😀"]],
    ["\r", ["enter"]],
    ["\n", ["ctrl+j"]],
    ["\t", ["tab"]],
    ["\u007f", ["backspace"]],
    ["\u0001", ["ctrl+a"]],
    ["\u0000", ["ctrl+space"]],
    ["\u001f", ["ctrl+_"]],
    ["\u001b", ["escape"]],
    ["\u001b\u001b", ["escape", "escape"]],
    ["\u001b[A", ["up"]],
    ["\u001bOA", ["up"]],
    ["\u001b[1;5C", ["ctrl+right"]],
    ["\u001b[1;3D", ["alt+left"]],
    ["\u001b[Z", ["shift+tab"]],
    ["\u001b[3~", ["delete"]],
    ["\u001b[3;5~", ["ctrl+delete"]],
    ["\u001b[5~", ["pageup"]],
    ["\u001bb", ["alt+b"]],
    ["\u001b\r", ["alt+enter"]],
    ["\u001b\u007f", ["alt+backspace"]],
    ["\u001b<", ["alt+<"]],
    ["\u001b[13;2u", ["shift+enter"]],
    ["\u001b[27u", ["escape"]],
    ["\u001b[99;5u", ["ctrl+c"]],
    ["\u001b[97;1:3u", []],
    ["\u001b[57441;2u", []],
    ["\u001b[98;3u", ["alt+b"]],
    ["\u001b[27;5;13~", ["ctrl+enter"]],
    ["\u001b[127;5u", ["ctrl+backspace"]],
    ["\u001b[233;;233u", ["é"]],
    ["\u001b[97:65;2u", ["A"]],
    ["\u001b[32u", [" "]],
    ["\u001b\u001b[D", ["alt+left"]],
    ["\u001bOP", ["f1"]],
    ["\u001b[24~", ["f12"]],
  ])("%j", (bytes, expected) => expect(names([bytes])).toEqual(expected));

  test("answers of the terminal are none", () => {
    const found = read([
      "\u001b[12;40R\u001b[?62;4;22c\u001b]11;rgb:1e1e/1e1e/1e1e\u0007\u001bP>|xterm.js(6.0.0)\u001b\\\u001b[I\u001b[O\u001b_Gi=31;OK\u001b\\x",
    ]);
    expect(found).toEqual([
      { kind: "cursor", row: 12, column: 40 },
      { kind: "attributes", values: [62, 4, 22] },
      { kind: "background", colour: "rgb:1e1e/1e1e/1e1e" },
      { kind: "version", name: "xterm.js(6.0.0)" },
      { kind: "focus", isHere: true },
      { kind: "focus", isHere: false },
      { kind: "graphics", isOk: true },
      { kind: "key", name: "x", text: "x" },
    ]);
  });

  test("are read right wherever the bytes are cut", () => {
    const stream = Buffer.from(
      "aé漢😀\r\u001b[A\u001b[1;5C\u001bb\u001b[13;2u\u001b[200~two\r\nlines é漢\u001b[201~z\u001b[3;5~\u001b]11;rgb:0/0/0\u001b\\\u001b[12;40R\u001bOP한",
    );
    const whole = read([stream]);
    expect(whole).toHaveLength(16);
    for (let first = 1; first < stream.length; first++) {
      expect(read([stream.subarray(0, first), stream.subarray(first)]), `cut at ${first}`).toEqual(whole);
      for (let second = first + 1; second < stream.length; second += 3)
        expect(
          read([stream.subarray(0, first), stream.subarray(first, second), stream.subarray(second)]),
        ).toEqual(whole);
    }
    expect(read(Array.from(stream, (byte) => Uint8Array.of(byte)))).toEqual(whole);
  });
});

describe("whatever a terminal sends", () => {
  test("is read to its end, and the next key is that key", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(fc.stringMatching(/^[\d:;.<>?]{0,16}$/), fc.constantFrom("u", "~", "R", "A", "c", "M"))
        .map(([body, final]) => Buffer.from(`\u001b[${body}${final}`)),
      fc
        .constantFrom("\u001b[97;1;55296u", "\u001b[97:1114112;2u", "\u001b[0.5;2u", "\u001b[97;;99999999u")
        .map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), (parts) => {
        const found = read(parts);
        for (const input of found) if (input.kind === "key") expect(input.text.isWellFormed()).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(names(["\u001b[97:1114112;2u", "\u001b[97;1;55296u", "\u001b[0.5;2u", "x"])).toEqual([
      "\ufffd",
      "\ufffd",
      "\ufffd",
      "x",
    ]);
  });

  const waits = (text: string): number | undefined =>
    settlesIn(decodeKeys(noKeys, Buffer.from(text, "latin1"), 0).state, 0);

  test("is waited for on a slow line where no key begins like it, and only a moment where one does", () => {
    for (const begun of ["\u001b", "\u001b[", "\u001b]", "\u001bP"]) expect(waits(begun)).toBeLessThan(50);
    for (const begun of ["\u001b[1;", "\u001b]11;rgb:1e", "\u001bP>|", "\u001b\u00c3", "\u00e6\u00bc"])
      expect(waits(begun)).toBeGreaterThan(300);
    expect(waits("x")).toBeUndefined();
  });

  test("and has no end keeps no key for longer than that", () => {
    let { state } = decodeKeys(noKeys, Buffer.from("\u001b]11;rgb:"), 0);
    for (let at = 100; at <= 500; at += 100) ({ state } = decodeKeys(state, Buffer.from("k"), at));
    expect(settlesIn(state, 500)).toBe(100);
  });
});

describe("what is pasted", () => {
  const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`;

  test("is one thing, with the line breaks of any system as line feeds", () => {
    expect(read([pasted("a\r\nb\rc\nd\te")])).toEqual([{ kind: "paste", text: "a\nb\nc\nd\te" }]);
  });

  test("and a key in the same piece are both there", () => {
    expect(names([`${pasted("한")}글\r`])).toEqual(['paste:{"kind":"paste","text":"한"}', "글", "enter"]);
  });

  test("has no escapes that act", () => {
    expect(read([pasted("x\u001b[Ay\u001b]0;t\u0007")])).toEqual([
      { kind: "paste", text: "x\u001b[Ay\u001b]0;t\u0007" },
    ]);
  });

  test("without marks never submits when it has several lines", () => {
    expect(read(["one\rtwo\rthree\r"])).toEqual([{ kind: "paste", text: "one\ntwo\nthree\n" }]);
    // The rest of a burst follows at once, and may end in a line break.
    expect(read(["one\rtwo", "thr", "ee\r"], 5)).toEqual([
      { kind: "paste", text: "one\ntwo" },
      { kind: "paste", text: "thr" },
      { kind: "paste", text: "ee\n" },
    ]);
  });

  test("is told from a hand that types a line and Enter", () => {
    expect(names(["yes\r"])).toEqual(["y", "e", "s", "enter"]);
    expect(names(["a", "b\r"])).toEqual(["a", "b", "enter"]);
    expect(names(["\r\r"])).toEqual(["enter", "enter"]);
  });

  test("is the same text however it is cut", () => {
    const text = fc.string({ unit: "binary", maxLength: 300 }).map((given) => given.toWellFormed());
    fc.assert(
      fc.property(text, fc.array(fc.nat(400), { maxLength: 12 }), (given, cuts) => {
        fc.pre(!given.includes("\u001b[201~"));
        const bytes = Buffer.from(pasted(given));
        const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
        const parts = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(read(parts)).toEqual([{ kind: "paste", text: given.replace(/\r\n?/g, "\n") }]);
      }),
      { numRuns: 500 },
    );
  });
});
