/** A place in a shell text, and the few ways to move on from it. Everything that reads shares one of these. */
import type { Node, ParsedScript, Word } from "./syntax.ts";

/** Thrown inside the reader only: whoever starts it turns it into a value. */
export class Unreadable {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

/** A here-document whose text comes after the line. */
export type Pending = {
  readonly delimiter: string;
  readonly isLiteral: boolean;
  readonly stripsTabs: boolean;
  settle(body: Word): void;
};

export type ShellSource = {
  readonly text: string;
  at: number;
  /** Where this part of the text ends. */
  readonly end: number;
  /** Whether positions are those of the text that was given. */
  readonly isOriginal: boolean;
  readonly depth: number;
  pending: Pending[];
  /** Shared by all parts of one text. */
  readonly budget: Budget;
  /** Reads a script up to a closing parenthesis or the end. Given here since words and scripts hold each other. */
  readonly readNested: (source: ShellSource, until: "parenthesis" | "end") => ParsedScript;
  /** Reads commands up to a word or a sign that ends them, and one command: given for the same reason. */
  readonly readList: (source: ShellSource, need: "some" | "none") => ParsedScript;
  readonly readCommand: (source: ShellSource) => Node;
};

export type Budget = {
  /** How often a part may still be read a second time. */
  again: number;
  /** How many expansions stand around the cursor. */
  expansions: number;
  /** How many commands stand around the cursor: groups, loops, bodies of functions. */
  commands: number;
};

/** Deeper than any person writes; every level costs a few frames of the stack. */
const maxDepth = 250;

/** What looked like arithmetic and is not is read twice; nested ones would double the work each. */
export const maxReadAgain = 16;

export function deeper(
  source: ShellSource,
  part: Partial<Pick<ShellSource, "text" | "at" | "end" | "isOriginal">>,
): ShellSource {
  if (source.depth >= maxDepth) throw new Unreadable("it is nested too deeply");
  return { ...source, ...part, depth: source.depth + 1, pending: [] };
}

/** Runs `read` one expansion, or one command, deeper. */
export function nested<T>(
  { budget }: ShellSource,
  read: () => T,
  level: "expansions" | "commands" = "expansions",
): T {
  if (budget[level] >= maxDepth) throw new Unreadable("it is nested too deeply");
  budget[level] += 1;
  try {
    return read();
  } finally {
    budget[level] -= 1;
  }
}

/** The sign under the cursor, "" at the end. A backslash before a line end is as if neither were there. */
export function peek(source: ShellSource): string {
  skipJoins(source);
  return source.at < source.end ? (source.text[source.at] ?? "") : "";
}

/** The sign after the one under the cursor. */
export function peekNext(source: ShellSource): string {
  let at = source.at + 1;
  while (source.text[at] === "\\" && source.text[at + 1] === "\n" && at + 1 < source.end) at += 2;
  return at < source.end ? (source.text[at] ?? "") : "";
}

/** Takes `signs` if they stand here, whatever joins are between them. */
export function take(source: ShellSource, signs: string): boolean {
  const start = source.at;
  for (const sign of signs) {
    if (peek(source) !== sign) {
      source.at = start;
      return false;
    }
    source.at += 1;
  }
  return true;
}

export function skipJoins(source: ShellSource): void {
  while (source.at + 1 < source.end && source.text[source.at] === "\\" && source.text[source.at + 1] === "\n")
    source.at += 2;
}

/** Blanks and a comment. Only a space and a tab separate words; every other white sign is part of a word. */
export function skipBlanks(source: ShellSource): void {
  for (;;) {
    const sign = peek(source);
    if (sign === " " || sign === "\t") source.at += 1;
    else if (sign === "#") {
      const end = source.text.indexOf("\n", source.at);
      source.at = end < 0 || end > source.end ? source.end : end;
    } else return;
  }
}

export const positions = (source: ShellSource, start: number): Pick<Word, "start" | "end" | "source"> => ({
  start: source.isOriginal ? start : -1,
  end: source.isOriginal ? source.at : -1,
  source: source.text.slice(start, source.at),
});

/** Signs that mean nothing but themselves, wherever they stand in a word: no braces, no pattern, no home, no quote. */
export const isPlainText = (text: string): boolean => /^[\w./:@%+,=-]*$/.test(text);

export const isMetaSign = (sign: string): boolean => sign === "" || " \t\n|&;()<>".includes(sign);
