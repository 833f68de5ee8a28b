import { expect, test } from "vitest";
import { errorsIn, linesAbout, newIn } from "./finding.ts";

const error = (key: string, text = key) => ({ key, text });

test("an error that has only moved is not new, and one that is there twice now is new once", () => {
  expect(newIn([error("a", "1 a")], [error("a", "7 a")])).toEqual([]);
  expect(newIn([error("a")], [error("a", "1 a"), error("a", "9 a")])).toEqual([error("a", "9 a")]);
  expect(newIn([], [error("a"), error("b")])).toEqual([error("a"), error("b")]);
});

test("of a server's list only what is an error and has a form counts, on one line and cut", () => {
  const range = { start: { line: 2, character: 4 } };
  expect(
    errorsIn([
      { range, severity: 1, message: "wrong\n   because", source: "x", code: 7 },
      { range, severity: 2, message: "a warning" },
      { message: "no level, no place" },
      { message: 7 },
      "rubbish",
      null,
    ]).map(({ text }) => text),
  ).toEqual(["3:5 wrong because (x 7)", "no level, no place"]);
  expect(errorsIn("rubbish")).toEqual([]);
  expect(errorsIn([{ message: "x".repeat(10_000) }])[0]?.text.length).toBeLessThan(500);
});

test("the lines of a check that name the file are its errors, whatever their form", () => {
  const output = "src/a.c:3:1: error: no\nsrc/b.c:1: error\n  in src/a.c(9): again\n2 errors\n";
  expect(linesAbout(output, ["src/a.c"]).map(({ text }) => text)).toEqual([
    "src/a.c:3:1: error: no",
    "in src/a.c(9): again",
  ]);
});
