import { describe, expect, test } from "vitest";
import { signsFor } from "./signs.ts";
import { bold, dim, role, span } from "./styled.ts";
import { backgroundOf, depthFor, paint, type Theme } from "./theme.ts";

const theme = (depth: Theme["depth"], more: Partial<Theme> = {}): Theme => ({
  depth,
  background: "dark",
  links: false,
  ...more,
});
const line = [bold("Run"), span(" it "), role("failed", "no"), dim("ms")];

describe("a line as bytes", () => {
  test("has sixteen colours by role, and ends as it began", () => {
    expect(paint(line, theme("16"))).toBe(
      "\u001b[1mRun\u001b[0m it \u001b[31mno\u001b[0m\u001b[2mms\u001b[0m",
    );
  });

  test("says the same by bold and dim alone where no colour is wanted", () => {
    expect(paint(line, theme("none"))).toBe("\u001b[1mRun\u001b[0m it no\u001b[2mms\u001b[0m");
    expect(paint([role("added-word", "new")], theme("none"))).toBe("\u001b[1;4mnew\u001b[0m");
  });

  test("marks words of a diff with more colours where there are more, by the background", () => {
    expect(paint([role("added-word", "x")], theme("256"))).toContain("48;5;22");
    expect(paint([role("added-word", "x")], theme("256", { background: "light" }))).toContain("48;5;157");
    expect(paint([role("added-word", "x")], theme("true"))).toContain("48;2;");
  });

  test("has links only where the terminal opens them", () => {
    const linked = [span("docs", { link: "https://a.org/" }), span(".")];
    expect(paint(linked, theme("16"))).toBe("docs.");
    expect(paint(linked, theme("16", { links: true }))).toBe(
      "\u001b]8;;https://a.org/\u001b\\docs\u001b]8;;\u001b\\.",
    );
  });
});

describe("the environment says", () => {
  test.each([
    [{ TERM: "xterm-256color" }, "256"],
    [{ TERM: "xterm-256color", COLORTERM: "truecolor" }, "true"],
    [{ TERM: "xterm" }, "16"],
    [{ TERM: "dumb" }, "none"],
    [{}, "none"],
    [{ TERM: "xterm-256color", NO_COLOR: "1" }, "none"],
    [{ TERM: "xterm-256color", NO_COLOR: "" }, "256"],
  ] as const)("%o: %s", (env, depth) => expect(depthFor(env)).toBe(depth));

  test.each([
    [{ LC_ALL: "C" }, ">"],
    [{ LC_ALL: "", LANG: "de_DE.UTF-8" }, "›"],
    [{ LC_CTYPE: "C.utf8" }, "›"],
    [{}, "›"],
    [{ TERM: "linux" }, ">"],
    [{ LANG: "POSIX" }, ">"],
  ])("%o: %s", (env, call) => expect(signsFor(env).call).toBe(call));

  test.each([
    ["rgb:ffff/ffff/ffff", "light"],
    ["rgb:1e/1e/1e", "dark"],
    ["rgba:0000/0000/0000/ffff", "dark"],
    ["15;0", "dark"],
    ["0;15", "light"],
    ["nonsense", undefined],
  ])("%s: %s", (answer, ground) => expect(backgroundOf(answer)).toBe(ground));
});
