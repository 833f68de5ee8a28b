import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { notRunHere } from "../../../../test/support/not-run.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { SyntaxNode } from "../../ports/shell.ts";
import { openGrammar } from "./grammar.ts";

const grammar = openGrammar();
const types = ({ type, children }: SyntaxNode): string =>
  children.length === 0 ? type : `${type}(${children.map(types).join(" ")})`;
const isBroken = (node: SyntaxNode): boolean => node.isBroken || node.children.some(isBroken);

describe("the grammar", () => {
  test("of a process that reads commands all day takes little memory", async () => {
    verifies("G21");
    if (process.platform !== "linux")
      return notRunHere("grammar memory", "the kernel does not tell the peak");
    const child = path.resolve(import.meta.dirname, "../../../../test/support/grammar-child.ts");
    const fixtures = path.resolve(import.meta.dirname, "../../../../test/fixtures/commands");
    const { stdout } = await promisify(execFile)(process.execPath, [child, fixtures]);
    const { understood, peakMb } = JSON.parse(stdout);
    expect(understood).toBeGreaterThan(1_000);
    // Without care it is 600 MB.
    expect(peakMb).toBeLessThan(200);
  });

  test("gives a plain tree with places in the text", async () => {
    verifies("S4.48");
    const tree = await grammar.parse("ls -la é | wc");
    expect(tree && types(tree)).toBe(
      "program(pipeline(command(command_name(word) word word) command(command_name(word))))",
    );
    expect(tree?.children[0]?.children[1]).toMatchObject({ start: 11, end: 13 });
    expect(structuredClone(tree)).toEqual(tree);
  });

  test.each(["ls &&", "echo 'a", "ls )", "if a; then"])("marks %j as broken", async (text) => {
    const tree = await grammar.parse(text);
    expect(tree && isBroken(tree)).toBe(true);
  });

  test("does not parse what is too long, and is not hurt by what is deep or odd", async () => {
    expect(await grammar.parse("a".repeat(10_001))).toBeUndefined();
    expect(await grammar.parse(`${"a&&".repeat(3_000)}a`)).toBeUndefined();
    for (const text of ["", "\0", "\ud800", "((((", "$(".repeat(2_000), "\u{10ffff}"])
      await grammar.parse(text);
    expect(await grammar.parse("ls")).toBeDefined();
  });

  test("stops at what would take too long, and starts anew with the next text", async () => {
    verifies("G28");
    expect(await grammar.parse("a|".repeat(5_000))).toBeUndefined();
    // One word of signs: each is looked at to the end of the word.
    expect(await grammar.parse("a?".repeat(5_000))).toBeUndefined();
    const tree = await grammar.parse("ls -la");
    expect(tree && types(tree)).toBe("program(command(command_name(word) word))");
    // A long script of the ordinary kind is read to its end.
    expect(await grammar.parse("if true; then ls -la; fi\n".repeat(390))).toBeDefined();
  });

  test("serves calls that come at once", async () => {
    const trees = await Promise.all(Array.from({ length: 20 }, (_, at) => grammar.parse(`echo ${at}`)));
    expect(trees.every((tree) => tree?.type === "program")).toBe(true);
  });
});
