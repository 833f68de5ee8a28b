/**
 * JSON with comments and trailing commas. Plain JSON is read without the library, which is loaded only for a file that
 * needs it. Whatever is in the text, reading it is bounded in depth and makes plain data: a key called `__proto__` is a
 * key like any other.
 */
import type { Node, ParseError } from "jsonc-parser";
import { isDeeperThan, isObject, parseJson } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";

/** Settings are a handful deep. */
const maxDepth = 32;

const tooDeep = `it is nested deeper than ${maxDepth}`;

/** The value that a text stands for, or why it stands for none. */
export async function readJsonc(text: string): Promise<Result<unknown>> {
  const value = parseJson(text);
  // Not plain JSON: perhaps JSON with comments.
  if (value === undefined) return readWithComments(text);
  return isDeeperThan(value, maxDepth) ? failed(tooDeep) : ok(value);
}

/**
 * The text with the value at `place` replaced, and everything else, comments included, as it was. Undefined removes. A
 * text that is no JSON with comments is an error.
 */
export async function editJsonc(
  text: string,
  place: readonly (string | number)[],
  value: unknown,
): Promise<Result<string>> {
  const basis = text.trim() === "" ? "{}\n" : text;
  const readable = await readJsonc(basis);
  if (!readable.ok) return readable;
  if (!isObject(readable.value)) return failed("it is not an object in JSON");
  const { modify, applyEdits } = await import("jsonc-parser");
  const [indent = "  "] = /(?<=^\{\s*\n)[ \t]+/.exec(basis) ?? [];
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.length,
    eol: basis.includes("\r\n") ? "\r\n" : "\n",
  };
  const edited = applyEdits(basis, modify(basis, [...place], value, { formattingOptions }));
  return ok(edited.endsWith("\n") ? edited : `${edited}\n`);
}

async function readWithComments(text: string): Promise<Result<unknown>> {
  const jsonc = await import("jsonc-parser");
  if (isNestedTooDeep(jsonc, text)) return failed(tooDeep);
  const errors: ParseError[] = [];
  const tree = jsonc.parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) return failed(`${words(jsonc.printParseErrorCode(first.error))} ${place(text, first.offset)}`);
  return tree ? ok(dataOf(tree)) : failed("it is empty");
}

/** The library's parser calls itself for each level: the depth is known before it starts. */
function isNestedTooDeep({ createScanner }: typeof import("jsonc-parser"), text: string): boolean {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const sign = text.charAt(scanner.getTokenOffset());
    if (sign === "{" || sign === "[") depth += 1;
    if (sign === "}" || sign === "]") depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** Built by definition, not by assignment, which would take `__proto__` for the prototype. */
function dataOf({ type, value, children = [] }: Node): unknown {
  if (type === "array") return children.map(dataOf);
  if (type !== "object") return value;
  return Object.fromEntries(
    children.flatMap(({ children: [key, content] = [] }) =>
      key && content ? [[String(key.value), dataOf(content)]] : [],
    ),
  );
}

/** `PropertyNameExpected` as words. */
const words = (code: string): string =>
  code.replace(/(?!^)[A-Z]/g, (message) => ` ${message.toLowerCase()}`).toLowerCase();

function place(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `(line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}
