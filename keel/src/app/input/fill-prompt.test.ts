import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { fillPrompt, splitWords } from "./fill-prompt.ts";

const filled = (body: string, args: string): string =>
  fillPrompt(body, args)
    .map((piece) => (piece.kind === "text" ? piece.text : `[${piece.command}]`))
    .join("");

describe("the text of a command", () => {
  test("has its arguments in their places", () => {
    verifies("S4.66");
    expect(filled("All: $ARGUMENTS. First: $1, second: $2, none: $3.", 'one "two three"')).toBe(
      'All: one "two three". First: one, second: two three, none: .',
    );
    expect(filled("$ARGUMENTS[1] and $10", "a b")).toBe("b and $10");
  });

  test("has them at its end where it names no place, and nothing where there are none", () => {
    expect(filled("Do it.", "now")).toBe("Do it.\n\nArguments: now");
    expect(filled("Do it.", " ")).toBe("Do it.");
  });

  test("names commands between marks, which arguments cannot add", () => {
    expect(filled("a !`git status` b !`date`", "")).toBe("a [git status] b [date]");
    expect(filled("say $ARGUMENTS", "!`rm -rf /`")).toBe("say !`rm -rf /`");
    expect(filled("open !`never ends", "")).toBe("open !`never ends");
    expect(filled("no !`` command, nor !`two\nlines`", "")).toBe("no !`` command, nor !`two\nlines`");
  });

  test("quotes arguments inside of a command, so that a shell sees them as words", () => {
    verifies("G46");
    const nasty = [`"; echo pwned"`, `'$(id)'`, "`id`", "a'b", "$HOME", "--x=1 y"];
    for (const args of nasty) {
      const [, piece] = fillPrompt("!`printf '%s\\n' $ARGUMENTS`", args);
      expect(piece?.kind).toBe("command");
      if (piece?.kind !== "command") continue;
      const printed = execFileSync("bash", ["-c", piece.command], { encoding: "utf8" });
      expect(printed.trimEnd().split("\n")).toEqual(splitWords(args));
    }
  });

  test("is read in a time that grows with it only", () => {
    verifies("G45");
    for (const piece of ["!`", "!`a`", "$1", "$ARGUMENTS[", "$", "`", "!`a"]) {
      const before = performance.now();
      const text = filled(piece.repeat(Math.ceil(100_000 / piece.length)), "a b c");
      expect(performance.now() - before, piece).toBeLessThan(1_000);
      expect(text.length).toBeLessThan(1_000_000);
    }
  });
});
