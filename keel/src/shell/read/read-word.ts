/** Reads one word: quotes, escapes and expansions, up to the sign that ends it for bash. */
import { decodeAnsi } from "./ansi.ts";
import { readBackticks, readDollar } from "./read-expansion.ts";
import {
  deeper,
  isMetaSign,
  nested,
  peek,
  peekNext,
  positions,
  type ShellSource,
  skipBlanks,
  Unreadable,
} from "./source.ts";
import type { Word, WordPart } from "./syntax.ts";

export type WordContext =
  /** Where `name=(…)` and `name[…]=` are assignments. */
  | "command"
  /** Behind `declare` and its like: `name=(…)` is one word. */
  | "declaration"
  | "argument"
  /** Behind `=~`: parentheses and bars belong to the word. */
  | "regex";

/** Undefined when no word starts here. */
export function readWord(source: ShellSource, place: WordContext): Word | undefined {
  const start = source.at;
  const parts = new WordParts();
  for (let sign = peek(source); ; sign = peek(source)) {
    if (place === "regex" && (sign === "(" || sign === "|")) readRegexSign(source, parts, sign);
    else if ((sign === "<" || sign === ">") && peekNext(source) === "(") parts.add(readProcess(source, sign));
    else if (isMetaSign(sign)) break;
    else if (place === "command" && sign === "[" && parts.isName()) readSubscript(source, parts);
    else if (sign === "=" && (place === "command" || place === "declaration") && parts.isTarget())
      readAfterEquals(source, parts);
    else readSign(source, parts, sign);
  }
  if (source.at === start || parts.list.length === 0) return undefined;
  return { ...positions(source, start), parts: parts.list };
}

/** The parts of a word as they come; neighbours of plain text are one part. */
class WordParts {
  readonly list: WordPart[] = [];
  /** What the word is so far: told from piece to piece, since a long word is never looked at again from its start. */
  #head: "empty" | "name" | "target" | "other" = "empty";

  add(part: WordPart): void {
    this.#head = "other";
    this.list.push(part);
  }

  text(text: string, quoted: boolean): void {
    this.#head = quoted ? "other" : this.#headWith(text);
    const last = this.list.at(-1);
    if (last?.kind === "text" && last.quoted === quoted)
      this.list[this.list.length - 1] = { kind: "text", text: last.text + text, quoted };
    else this.list.push({ kind: "text", text, quoted });
  }

  /** Whether it is a plain name so far. */
  isName(): boolean {
    return this.#head === "name";
  }

  /** Whether an `=` now makes it an assignment. */
  isTarget(): boolean {
    return this.#head === "name" || this.#head === "target";
  }

  #headWith(text: string): "name" | "target" | "other" {
    // The name before it stands for itself.
    const whole = this.#head === "empty" ? text : this.#head === "name" ? `_${text}` : "";
    if (/^[A-Za-z_]\w*$/.test(whole)) return "name";
    return /^[A-Za-z_]\w*\+$/.test(whole) ? "target" : "other";
  }
}

function readSign(source: ShellSource, parts: WordParts, sign: string): void {
  switch (sign) {
    case "\\":
      return readEscape(source, parts);
    case "'":
      return parts.text(readSingle(source), true);
    case '"':
      return readDouble(source, parts);
    case "`":
      return parts.add(readBackticks(source, "bare"));
    case "$":
      return readBareDollar(source, parts);
    default:
      parts.text(takeRun(source, plainRun), false);
  }
}

/** Signs that mean nothing to bash anywhere in a word, taken together since most words are made of them. */
const plainRun = /[\w./:@%+,-]+/y;
const quotedRun = /[^\\"`$]+/y;

/** At least the sign under the cursor. */
function takeRun(source: ShellSource, run: RegExp): string {
  run.lastIndex = source.at;
  const start = source.at;
  source.at = Math.min(source.end, run.test(source.text) ? run.lastIndex : start + 1);
  return source.text.slice(start, source.at);
}

function readEscape(source: ShellSource, parts: WordParts): void {
  const escaped = source.at + 1 < source.end ? source.text[source.at + 1] : undefined;
  if (escaped === undefined) throw new Unreadable("it ends in a backslash");
  source.at += 2;
  parts.text(escaped, true);
}

function readSingle(source: ShellSource): string {
  const end = source.text.indexOf("'", source.at + 1);
  if (end < 0 || end >= source.end) throw new Unreadable("a single quote is not closed");
  const text = source.text.slice(source.at + 1, end);
  source.at = end + 1;
  return text;
}

function readDouble(source: ShellSource, parts: WordParts): void {
  source.at += 1;
  parts.text("", true);
  for (;;) {
    const sign = peek(source);
    if (sign === "") throw new Unreadable("a double quote is not closed");
    if (sign === '"') break;
    readQuotedSign(source, parts, sign);
  }
  source.at += 1;
}

/** What stands in double quotes or in a here-document. */
function readQuotedSign(source: ShellSource, parts: WordParts, sign: string, escapable = '$`"\\'): void {
  if (sign === "`") return parts.add(readBackticks(source, escapable.includes('"') ? "quoted" : "document"));
  if (sign === "$") return addDollar(source, parts, "quoted");
  const next = source.text[source.at + 1] ?? "";
  if (sign === "\\" && source.at + 1 < source.end && escapable.includes(next)) {
    source.at += 2;
    return parts.text(next, true);
  }
  parts.text(takeRun(source, quotedRun), true);
}

/** A here-document whose delimiter is not quoted: what it expands. */
export function readDocument(source: ShellSource): Word {
  const start = source.at;
  const parts = new WordParts();
  for (let sign = peek(source); sign !== ""; sign = peek(source)) readQuotedSign(source, parts, sign, "$`\\");
  return { ...positions(source, start), parts: parts.list };
}

function readBareDollar(source: ShellSource, parts: WordParts): void {
  const next = source.text[source.at + 1];
  if (next === "'") return parts.text(readAnsi(source), true);
  if (next === '"') {
    source.at += 1;
    readDouble(source, parts);
    // What a catalogue of messages makes of it is not known.
    return parts.add({ kind: "expansion", scripts: [], quoted: true, isPlain: false });
  }
  addDollar(source, parts, "bare");
}

function addDollar(source: ShellSource, parts: WordParts, quotes: "bare" | "quoted"): void {
  const part = readDollar(source, quotes, readQuotedWord);
  if (part) parts.add(part);
  else parts.text("$", quotes === "quoted");
}

/** A double-quoted piece inside of `${ }` or of arithmetic. */
function readQuotedWord(source: ShellSource): readonly WordPart[] {
  const parts = new WordParts();
  readDouble(source, parts);
  return parts.list;
}

function readAnsi(source: ShellSource): string {
  let end = source.at + 2;
  while (end < source.end && source.text[end] !== "'") end += source.text[end] === "\\" ? 2 : 1;
  if (end >= source.end) throw new Unreadable("a quote is not closed");
  const decoded = decodeAnsi(source.text.slice(source.at + 2, end));
  if (decoded === undefined) throw new Unreadable("a quote holds an escape that is not decoded");
  source.at = end + 1;
  return decoded;
}

function readProcess(source: ShellSource, sign: "<" | ">"): WordPart {
  source.at += 1;
  if (peek(source) !== "(") throw new Unreadable("a process substitution is broken");
  source.at += 1;
  const inner = deeper(source, {});
  const script = source.readNested(inner, "parenthesis");
  source.at = inner.at;
  return { kind: "process", script, direction: sign === "<" ? "in" : "out" };
}

/** `name[…]`: a plain index only; everything else could run code when it is evaluated. */
function readSubscript(source: ShellSource, parts: WordParts): void {
  const inside: WordParts = new WordParts();
  source.at += 1;
  for (let sign = peek(source); sign !== "]"; sign = peek(source)) {
    if (sign === "$") addDollar(source, inside, "quoted");
    else if (/^[\w@*+-]$/.test(sign)) {
      source.at += 1;
      inside.text(sign, false);
    } else throw new Unreadable("the index of an array is not plain");
  }
  source.at += 1;
  if (!"=+".includes(peek(source)) || peek(source) === "") throw new Unreadable("a bracket follows a name");
  parts.text("[", false);
  for (const part of inside.list) parts.add(part);
  parts.text("]", false);
  take2(source, parts);
}

/** `=` or `+=` behind an index. */
function take2(source: ShellSource, parts: WordParts): void {
  if (peek(source) === "+") {
    source.at += 1;
    parts.text("+", false);
  }
  if (peek(source) !== "=") throw new Unreadable("a bracket follows a name");
  readAfterEquals(source, parts);
}

function readAfterEquals(source: ShellSource, parts: WordParts): void {
  source.at += 1;
  parts.text("=", false);
  if (peek(source) !== "(") return;
  source.at += 1;
  const words: Word[] = [];
  for (;;) {
    skipBlanks(source);
    const sign = peek(source);
    if (sign === ")") break;
    if (sign === "\n" && source.pending.length === 0) source.at += 1;
    else {
      const word = readWord(source, "argument");
      if (!word) throw new Unreadable("an array is not closed");
      words.push(word);
    }
  }
  source.at += 1;
  parts.add({ kind: "array", words });
}

/** In a regular expression a group may hold blanks. */
function readRegexSign(source: ShellSource, parts: WordParts, sign: string): void {
  source.at += 1;
  parts.text(sign, false);
  if (sign === "|") return;
  for (let inner = peek(source); inner !== ")"; inner = peek(source)) {
    if (inner === "") throw new Unreadable("a group is not closed");
    if (inner === "(") nested(source, () => readRegexSign(source, parts, inner));
    else readSign(source, parts, inner);
  }
  source.at += 1;
  parts.text(")", false);
}
