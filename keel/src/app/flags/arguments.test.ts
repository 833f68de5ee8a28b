import { describe, expect, test } from "vitest";
import { Fault } from "../../kernel/fault.ts";
import { amount, oneOf, parseArguments, splitList, wholeNumber } from "./arguments.ts";

const options = {
  print: { kind: "flag", short: "p", says: "" },
  continue: { kind: "flag", short: "c", says: "" },
  model: { kind: "text", value: "NAME", says: "" },
  "allowed-tools": { kind: "list", aliases: ["allowedTools"], value: "RULES", says: "" },
} as const;

describe("options", () => {
  test("a value may stand behind its option or after an equals sign, under any spelling", () => {
    const { values } = parseArguments(
      ["--model", "a", "--allowedTools=Read", "--allowed-tools", "Edit"],
      options,
    );
    expect(values).toEqual({ print: false, continue: false, model: "a", "allowed-tools": ["Read", "Edit"] });
  });

  test.each(["--print", "-p", "--model", "--unknown=1", "--", "", "-"])(
    "the value %j is taken as it is and never read as an option",
    (value) => {
      const { values, positionals } = parseArguments(["--model", value, "hello"], options);
      expect(values).toEqual({ print: false, continue: false, model: value, "allowed-tools": [] });
      expect(positionals).toEqual(["hello"]);
    },
  );

  test("a value keeps its equals signs and line breaks", () => {
    expect(parseArguments(["--model=a=b\n--print"], options).values).toMatchObject({
      model: "a=b\n--print",
      print: false,
    });
  });

  test("flags may stand together behind one dash", () => {
    expect(parseArguments(["-pc", "hello"], options).values).toMatchObject({ print: true, continue: true });
  });

  test("behind two dashes everything is text", () => {
    const { values, positionals } = parseArguments(["-p", "--", "--model", "x"], options);
    expect(values.print).toBe(true);
    expect(values.model).toBeUndefined();
    expect(positionals).toEqual(["--model", "x"]);
  });

  test.each([
    ["--nope"],
    ["-x"],
    ["--print=yes"],
    ["--modell", "x"],
    ["--model"],
    ["--toString"],
    ["--__proto__"],
  ])("%s is refused as wrong use", (...given) => {
    expect(() => parseArguments(given, options)).toThrow(Fault);
    expect(codeOf(() => parseArguments(given, options))).toBe("usage");
  });

  test("an unknown option is named, with the way to write a text that looks like one", () => {
    expect(() => parseArguments(["--nope"], options)).toThrow('There is no option "--nope"');
    expect(() => parseArguments(["--nope"], options)).toThrow("goes after --");
  });
});

describe("values", () => {
  test("whole numbers are digits and nothing else", () => {
    expect(wholeNumber("max-turns", "12", 1)).toBe(12);
    expect(wholeNumber("max-turns", undefined, 1)).toBeUndefined();
    for (const wrong of ["0", "-1", "1.5", "1e3", " 1", "", "0x10", "many"]) {
      expect(() => wholeNumber("max-turns", wrong, 1), wrong).toThrow("--max-turns takes a whole number");
    }
  });

  test("amounts are above zero", () => {
    expect(amount("max-budget-usd", "0.25")).toBe(0.25);
    expect(amount("max-budget-usd", ".5")).toBe(0.5);
    expect(amount("max-budget-usd", String(0.000_000_1))).toBe(1e-7);
    for (const wrong of ["0", "e-7", "1e-", "0e-1", "-1", "Infinity", "NaN", "", ".", "1,5", "1e9"]) {
      expect(() => amount("max-budget-usd", wrong), wrong).toThrow("above zero");
    }
  });

  test("a choice is one of the known words", () => {
    expect(oneOf("output-format", "json", ["text", "json"])).toBe("json");
    expect(() => oneOf("output-format", "JSON", ["text", "json"])).toThrow('takes text, json, not "JSON"');
  });

  test("a list of rules is cut at commas and blanks, but never inside parentheses", () => {
    expect(splitList(["Read, Bash(git log:*,x y) Edit", "Write"])).toEqual([
      "Read",
      "Bash(git log:*,x y)",
      "Edit",
      "Write",
    ]);
    expect(splitList([" ,, "])).toEqual([]);
    expect(splitList(["Bash(echo (a) b)", "Bash(open"])).toEqual(["Bash(echo (a) b)", "Bash(open"]);
  });
});

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.code : "other";
  }
}
