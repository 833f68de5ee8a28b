/**
 * Reads a shell text the way bash reads it, without running or expanding anything. Whatever is not understood to the
 * last sign makes the whole text unreadable: a part of a text is never judged.
 */
import { failed, ok, type Result } from "../../kernel/result.ts";
import { readCommand } from "./read-command.ts";
import { readNewlines } from "./read-document.ts";
import { bareWordAt, hasRole, startsReserved } from "./reserved.ts";
import { maxReadAgain, peek, type ShellSource, skipBlanks, take, Unreadable } from "./source.ts";
import type { Node, ParsedScript, ScriptItem } from "./syntax.ts";

export function readScript(text: string): Result<ParsedScript, string> {
  const source: ShellSource = {
    text,
    at: 0,
    end: text.length,
    isOriginal: true,
    depth: 0,
    pending: [],
    budget: { again: maxReadAgain, nested: 0, commands: 0 },
    readNested,
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
  const nodes: Node[] = [readCommand(source, readList)];
  for (;;) {
    skipBlanks(source);
    const start = source.at;
    if (take(source, "||") || !(take(source, "|&") || take(source, "|"))) {
      source.at = start;
      break;
    }
    readNewlines(source);
    nodes.push(readCommand(source, readList));
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
