/** Reads one command: a simple one with its assignments, words and redirections, or a compound one. */
import { functionOf, plainText } from "./nodes.ts";
import { readArithmeticCommand, readCompound, readSubshell } from "./read-compound.ts";
import { readNewlines } from "./read-document.ts";
import { readRedirect, readRedirects } from "./read-redirect.ts";
import { readWord, type WordContext } from "./read-word.ts";
import { bareWordAt, hasRole, startsReserved } from "./reserved.ts";
import { insideCommand, peek, peekNext, type ShellSource, skipBlanks, Unreadable } from "./source.ts";
import type { Assignment, Node, ParsedScript, Redirect, Word } from "./syntax.ts";

export type ReadList = (source: ShellSource, need: "some" | "none") => ParsedScript;

export const readCommand = (source: ShellSource, readList: ReadList): Node =>
  insideCommand(source, () => readOne(source, readList));

function readOne(source: ShellSource, readList: ReadList): Node {
  skipBlanks(source);
  const word = bareWordAt(source);
  if (hasRole(word, "cannot start")) throw new Unreadable(`${word} stands where a command should start`);
  if (peek(source) === "(") {
    const arithmetic = peekNext(source) === "(" ? readArithmeticCommand(source) : undefined;
    return readRedirects(source, arithmetic ?? readSubshell(source, readList));
  }
  if (hasRole(word, "starts a compound"))
    return readRedirects(source, readCompound(source, { readList, readCommand }));
  return readSimple(source, readList);
}

/** Behind these `name=(…)` is one word. */
const declarations = new Set(["alias", "declare", "typeset", "export", "local", "readonly", "eval", "let"]);

function readSimple(source: ShellSource, readList: ReadList): Node {
  const assignments: Assignment[] = [];
  const words: Word[] = [];
  const redirects: Redirect[] = [];
  let place: WordContext = "command";
  for (;;) {
    skipBlanks(source);
    const redirect = readRedirect(source);
    if (redirect) {
      redirects.push(redirect);
      continue;
    }
    const word = readWord(source, place);
    if (!word) break;
    const assignment = place === "command" ? assignmentOf(word) : undefined;
    if (assignment) {
      assignments.push(assignment);
      continue;
    }
    words.push(word);
    if (words.length > 1) continue;
    place = declarations.has(plainText(word)) ? "declaration" : "argument";
    if (assignments.length + redirects.length > 0) continue;
    skipBlanks(source);
    if (peek(source) === "(") return readFunction(source, word, readList);
  }
  if (assignments.length + words.length + redirects.length === 0)
    throw new Unreadable("a command is missing");
  return { kind: "simple", assignments, words, redirects };
}

/** `name() compound`. */
function readFunction(source: ShellSource, word: Word, readList: ReadList): Node {
  const name = plainText(word);
  source.at += 1;
  skipBlanks(source);
  if (name === "" || peek(source) !== ")") throw new Unreadable("a parenthesis follows a word");
  source.at += 1;
  readNewlines(source);
  // Bash takes only a compound command for a body.
  if (peek(source) !== "(" && !startsReserved(source, "starts a compound"))
    throw new Unreadable("a function has no body");
  return functionOf(name, readCommand(source, readList));
}

function assignmentOf(word: Word): Assignment | undefined {
  const first = word.parts[0];
  if (first?.kind !== "text" || first.quoted || !/[=[]/.test(first.text)) return undefined;
  const rest = word.parts.slice(1);
  const [whole, name = ""] = /^([A-Za-z_]\w*)(?:\[.*)?\+?=/.exec(first.text) ?? [];
  if (whole === undefined) {
    // An index with an expansion in it goes over several parts.
    const [, target] = /^([A-Za-z_]\w*)\[/.exec(first.text) ?? [];
    const isIndexed =
      target !== undefined && rest.some((part) => part.kind === "text" && /^[^=]*\]\+?=/.test(part.text));
    return isIndexed ? { name: target, value: { ...word, parts: rest } } : undefined;
  }
  const value = { kind: "text", text: first.text.slice(whole.length), quoted: false } as const;
  return { name, value: { ...word, parts: value.text === "" ? rest : [value, ...rest] } };
}
