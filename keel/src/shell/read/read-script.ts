/**
 * Reads a shell text the way bash reads it, without running or expanding anything. Whatever is not understood to the
 * last sign makes the whole text unreadable: a part of a text is never judged.
 */

import { failed, ok, type Result } from "../../kernel/result.ts";
import { functionOf, plainText } from "./nodes.ts";
import { readArithmeticCommand, readCompound, readSubshell } from "./read-compound.ts";
import { readNewlines } from "./read-document.ts";
import { readRedirect, readRedirects } from "./read-redirect.ts";
import { readWord, type WordContext } from "./read-word.ts";
import { bareWordAt, hasRole, startsReserved } from "./reserved.ts";
import {
  maxReadAgain,
  nested,
  peek,
  peekNext,
  type ShellSource,
  skipBlanks,
  take,
  Unreadable,
} from "./source.ts";
import type { Assignment, Node, ParsedScript, Redirect, ScriptItem, Word } from "./syntax.ts";

export function readScript(text: string): Result<ParsedScript, string> {
  const source: ShellSource = {
    text,
    at: 0,
    end: text.length,
    isOriginal: true,
    depth: 0,
    pending: [],
    budget: { again: maxReadAgain, expansions: 0, commands: 0 },
    readNested,
    readList,
    readCommand,
  };
  try {
    return ok(readNested(source, "end"));
  } catch (thrown) {
    if (thrown instanceof Unreadable) return failed(thrown.reason);
    throw thrown;
  }
}

function readNested(source: ShellSource, until: "parenthesis" | "end"): ParsedScript {
  const script = readList(source, "none");
  const sign = peek(source);
  if (until === "end" && sign === "") return finished(source, script);
  if (until === "parenthesis" && sign === ")") {
    source.at += 1;
    return finished(source, script);
  }
  throw new Unreadable(
    sign === ""
      ? "a parenthesis is not closed"
      : `it goes on with ${JSON.stringify(sign)} where no command can start`,
  );
}

function finished(source: ShellSource, script: ParsedScript): ParsedScript {
  if (source.pending.length > 0) throw new Unreadable("the text of a here-document is missing");
  return script;
}

/** Commands up to a word or a sign that ends them; what ends them is left standing. */
function readList(source: ShellSource, need: "some" | "none"): ParsedScript {
  const items: ScriptItem[] = [];
  readNewlines(source);
  while (!endsList(source)) {
    const node = readPipeline(source);
    const operator = readOperator(source);
    items.push({ node, operator: operator ?? ";" });
    if (operator === undefined) break;
    readNewlines(source);
    if ((operator === "&&" || operator === "||") && endsList(source))
      throw new Unreadable(`nothing follows ${operator}`);
  }
  if (need === "some" && items.length === 0) throw new Unreadable("a command is missing");
  return { items };
}

function endsList(source: ShellSource): boolean {
  const sign = peek(source);
  if (sign === "" || sign === ")") return true;
  return sign === ";" ? isCaseEnd(source) : startsReserved(source, "ends a list");
}

function isCaseEnd(source: ShellSource): boolean {
  const start = source.at;
  const is = take(source, ";;") || take(source, ";&");
  source.at = start;
  return is;
}

/** Undefined when the list is at its end. */
function readOperator(source: ShellSource): ScriptItem["operator"] | undefined {
  skipBlanks(source);
  if (take(source, "&&")) return "&&";
  if (take(source, "||")) return "||";
  if (peek(source) === ";" && isCaseEnd(source)) return undefined;
  if (take(source, ";")) return ";";
  if (take(source, "&")) return "&";
  if (peek(source) === "\n") return ";";
  return undefined;
}

function readPipeline(source: ShellSource): Node {
  const bare = readPrefixes(source);
  const nodes: Node[] = [readCommand(source)];
  for (;;) {
    skipBlanks(source);
    const start = source.at;
    if (take(source, "||") || !(take(source, "|&") || take(source, "|"))) {
      source.at = start;
      break;
    }
    readNewlines(source);
    nodes.push(readCommand(source));
  }
  const [only] = nodes;
  return nodes.length === 1 && only && bare ? only : { kind: "pipeline", nodes };
}

/** `!` and `time`, which bash itself understands. False when there was one. */
function readPrefixes(source: ShellSource): boolean {
  let bare = true;
  for (;;) {
    const word = bareWordAt(source);
    if (hasRole(word, "negates")) take(source, "!");
    else if (hasRole(word, "times")) {
      takeWord(source, "time");
      if (startsReserved(source, "is -p")) takeWord(source, "-p");
      if (startsReserved(source, "is --")) takeWord(source, "--");
    } else return bare;
    bare = false;
    skipBlanks(source);
  }
}

function takeWord(source: ShellSource, word: string): void {
  take(source, word);
  skipBlanks(source);
}

/** Reads one command: a simple one with its assignments, words and redirections, or a compound one. */
const readCommand = (source: ShellSource): Node => nested(source, () => readOne(source), "commands");

function readOne(source: ShellSource): Node {
  skipBlanks(source);
  const word = bareWordAt(source);
  if (hasRole(word, "cannot start")) throw new Unreadable(`${word} stands where a command should start`);
  if (peek(source) === "(") {
    const arithmetic = peekNext(source) === "(" ? readArithmeticCommand(source) : undefined;
    return readRedirects(source, arithmetic ?? readSubshell(source));
  }
  if (hasRole(word, "starts a compound")) return readRedirects(source, readCompound(source));
  return readSimple(source);
}

/** Behind these `name=(…)` is one word. */
const declarations = new Set(["alias", "declare", "typeset", "export", "local", "readonly", "eval", "let"]);

function readSimple(source: ShellSource): Node {
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
    if (peek(source) === "(") return readFunction(source, word);
  }
  if (assignments.length + words.length + redirects.length === 0)
    throw new Unreadable("a command is missing");
  return { kind: "simple", assignments, words, redirects };
}

/** `name() compound`. */
function readFunction(source: ShellSource, word: Word): Node {
  const name = plainText(word);
  source.at += 1;
  skipBlanks(source);
  if (name === "" || peek(source) !== ")") throw new Unreadable("a parenthesis follows a word");
  source.at += 1;
  readNewlines(source);
  // Bash takes only a compound command for a body.
  if (peek(source) !== "(" && !startsReserved(source, "starts a compound"))
    throw new Unreadable("a function has no body");
  return functionOf(name, readCommand(source));
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
