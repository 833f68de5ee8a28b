/** Reads compound commands: groups, loops, branches, functions, conditions, arithmetic. */
import { functionOf, plainText } from "./nodes.ts";
import { readNewlines } from "./read-document.ts";
import { tryArithmetic } from "./read-expansion.ts";
import { readWord } from "./read-word.ts";
import { bareWordAt, startsReserved } from "./reserved.ts";
import { deeper, peek, peekNext, type ShellSource, skipBlanks, take, Unreadable } from "./source.ts";
import type { Compound, ParsedScript, Word } from "./syntax.ts";

export function readCompound(outer: ShellSource): Compound {
  const source = within(outer);
  const word = bareWordAt(source);
  take(source, word);
  const compound = readAs(source, word);
  outer.at = source.at;
  outer.pending = source.pending;
  return compound;
}

/** One level deeper, but on the same line: its here-documents are those of the line. */
function within(outer: ShellSource): ShellSource {
  const source = deeper(outer, {});
  source.pending = outer.pending;
  return source;
}

function readAs(source: ShellSource, word: string): Compound {
  switch (word) {
    case "{": {
      const script = source.readList(source, "some");
      expect(source, "}");
      return compoundOf("group", { scripts: [script] });
    }
    case "if":
      return readIf(source);
    case "while":
    case "until": {
      const condition = source.readList(source, "some");
      return compoundOf(word, { scripts: [condition, readBody(source)] });
    }
    case "for":
    case "select":
      return readFor(source, word);
    case "case":
      return readCase(source);
    case "function":
      return readFunction(source);
    case "coproc":
      return readCoproc(source);
    default:
      return readCondition(source);
  }
}

const compoundOf = (
  form: Compound["form"],
  { words = [], scripts = [], ...rest }: Partial<Pick<Compound, "words" | "scripts" | "name">>,
): Compound => ({ kind: "compound", form, words, scripts, redirects: [], ...rest });

export function readSubshell(outer: ShellSource): Compound {
  const source = within(outer);
  take(source, "(");
  const script = source.readList(source, "some");
  if (!take(source, ")")) throw new Unreadable("a parenthesis is not closed");
  outer.at = source.at;
  outer.pending = source.pending;
  return compoundOf("subshell", { scripts: [script] });
}

/** `(( ))`; undefined when the parentheses turn out to be those of two subshells. */
export function readArithmeticCommand(source: ShellSource): Compound | undefined {
  const start = source.at;
  take(source, "((");
  const part = tryArithmetic(source, { close: "))", quoted: true, readQuoted: noQuotes });
  if (part)
    return compoundOf("arithmetic", { words: [{ start, end: source.at, source: "", parts: [part] }] });
  source.at = start;
  return undefined;
}

function noQuotes(): never {
  throw new Unreadable("arithmetic is quoted");
}

/** A word of the language must stand here. */
function expect(source: ShellSource, word: string): void {
  readNewlines(source);
  if (bareWordAt(source) !== word) throw new Unreadable(`${word} is missing`);
  take(source, word);
}

function readIf(source: ShellSource): Compound {
  const scripts: ParsedScript[] = [];
  for (;;) {
    scripts.push(source.readList(source, "some"));
    expect(source, "then");
    scripts.push(source.readList(source, "some"));
    if (bareWordAt(source) !== "elif") break;
    take(source, "elif");
  }
  if (bareWordAt(source) === "else") {
    take(source, "else");
    scripts.push(source.readList(source, "some"));
  }
  expect(source, "fi");
  return compoundOf("if", { scripts });
}

/** `do … done`, or the braces that bash takes instead. */
function readBody(source: ShellSource): ParsedScript {
  readNewlines(source);
  const [open, close] = bareWordAt(source) === "{" ? ["{", "}"] : ["do", "done"];
  expect(source, open);
  const script = source.readList(source, "some");
  expect(source, close);
  return script;
}

function readFor(source: ShellSource, form: "for" | "select"): Compound {
  skipBlanks(source);
  if (form === "for" && peek(source) === "(") {
    const head = readArithmeticFor(source);
    return compoundOf(form, { words: head, scripts: [readBody(source)] });
  }
  const variable = readWord(source, "argument");
  const name = variable ? plainText(variable) : "";
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Unreadable("the variable of a loop is not a name");
  readNewlines(source);
  const words: Word[] = [];
  if (bareWordAt(source) === "in") {
    take(source, "in");
    for (skipBlanks(source); ; skipBlanks(source)) {
      const word = readWord(source, "argument");
      if (!word) break;
      words.push(word);
    }
    if (peek(source) !== ";" && peek(source) !== "\n")
      throw new Unreadable("the list of a loop does not end");
  }
  if (peek(source) === ";") source.at += 1;
  return compoundOf(form, { name, words, scripts: [readBody(source)] });
}

/** `((start; test; step))`: three pieces of arithmetic, of which none may be what it seems. */
function readArithmeticFor(source: ShellSource): Word[] {
  const start = source.at;
  if (!take(source, "((")) throw new Unreadable("a loop has no variable");
  const part = readThree(source);
  skipBlanks(source);
  if (peek(source) === ";") source.at += 1;
  return [{ start, end: source.at, source: "", parts: [part] }];
}

function readThree(source: ShellSource) {
  // A semicolon is no sign of arithmetic, but it neither opens nor closes anything.
  const part = tryArithmetic(source, { close: "))", quoted: true, readQuoted: noQuotes });
  if (!part) throw new Unreadable("the head of a loop is not closed");
  return { ...part, isPlain: false };
}

function readCase(source: ShellSource): Compound {
  skipBlanks(source);
  const subject = readWord(source, "argument");
  if (!subject) throw new Unreadable("a case has no subject");
  const words: Word[] = [subject];
  const scripts: ParsedScript[] = [];
  expect(source, "in");
  for (;;) {
    readNewlines(source);
    if (bareWordAt(source) === "esac") break;
    words.push(...readPatterns(source));
    scripts.push(source.readList(source, "none"));
    if (!(take(source, ";;&") || take(source, ";;") || take(source, ";&"))) break;
  }
  expect(source, "esac");
  return compoundOf("case", { words, scripts });
}

function readPatterns(source: ShellSource): Word[] {
  const patterns: Word[] = [];
  take(source, "(");
  for (;;) {
    skipBlanks(source);
    const pattern = readWord(source, "argument");
    if (!pattern) throw new Unreadable("a pattern is missing");
    patterns.push(pattern);
    skipBlanks(source);
    if (take(source, ")")) return patterns;
    if (!take(source, "|")) throw new Unreadable("a pattern does not end");
  }
}

function readFunction(source: ShellSource): Compound {
  skipBlanks(source);
  const word = readWord(source, "argument");
  const name = word ? plainText(word) : "";
  if (name === "") throw new Unreadable("a function has no plain name");
  skipBlanks(source);
  if (take(source, "(")) {
    skipBlanks(source);
    if (!take(source, ")")) throw new Unreadable("a parenthesis is not closed");
  }
  readNewlines(source);
  return functionOf(name, source.readCommand(source));
}

function readCoproc(source: ShellSource): Compound {
  skipBlanks(source);
  const start = source.at;
  const name = readWord(source, "argument");
  skipBlanks(source);
  // A name may stand before a compound command, and only there.
  const isNamed = name !== undefined && (peek(source) === "(" || startsReserved(source, "starts a compound"));
  if (!isNamed) source.at = start;
  const node = source.readCommand(source);
  return compoundOf("coproc", { scripts: [{ items: [{ node, operator: "&" }] }] });
}

/** `[[ ]]`: a row of words and signs. What the signs mean is of no matter here, only what the words expand. */
function readCondition(source: ShellSource): Compound {
  const words: Word[] = [];
  let place: "argument" | "regex" = "argument";
  for (;;) {
    readNewlines(source);
    const sign = peek(source);
    const isOrder = (sign === "<" || sign === ">") && peekNext(source) !== "(";
    const word: Word | undefined = isOrder ? undefined : readWord(source, place);
    if (word) {
      if (plainText(word) === "]]") break;
      words.push(word);
      place = plainText(word) === "=~" ? "regex" : "argument";
      continue;
    }
    const operator = ["&&", "||", "(", ")", "<", ">"].find((signs) => take(source, signs));
    if (!operator) throw new Unreadable("a condition is not closed");
    words.push({
      start: -1,
      end: -1,
      source: operator,
      parts: [{ kind: "text", text: operator, quoted: false }],
    });
  }
  if (words.length === 0) throw new Unreadable("a condition is empty");
  return compoundOf("condition", { words });
}
