/**
 * Which files a word may name beside being a name itself: `if=a`, `--file=a`, `-fa`, `@a`, `x=@a`, `file:///a`, and the
 * words of a program's own language. A name is sure where that is what the program takes it for, and else possible.
 */

import { readsBehindAt, readsBehindEquals, takesScripts } from "../programs/hands-on.ts";
import { readSedScript } from "../programs/sed-script.ts";
import { type Argument, withText } from "./arguments.ts";

export type NamesInWord = { readonly sure: readonly Argument[]; readonly possible: readonly Argument[] };

const none: NamesInWord = { sure: [], possible: [] };

/** Pieces of one word that are looked at. More than that is not a word that names something. */
const maxPieces = 32;
/** Letters of short options that may stand before a value in one word. */
const maxLetters = 8;
/** Words of a script that are looked at. */
const maxScriptWords = 2_000;

export function namesIn(program: string, word: Argument): NamesInWord {
  const { kind, text } = word;
  // What a pattern finds is looked at name by name.
  if (kind === "unknown" || word.isProcess || text.length < 2) return none;
  const sure = [...behindEquals(program, text), ...behindAt(program, text), ...fileAddress(text)];
  const possible = excluding.test(text)
    ? []
    : [...pieces(text), ...behindLetters(text), ...inScript(program, text)];
  if (sure.length + possible.length === 0) return none;
  const named = (name: string): Argument => ({ ...withText(word, name), kind: "fixed" });
  return { sure: sure.map(named), possible: [...new Set(possible)].map(named) };
}

/** The names that a script may open, which is written behind a command for it to read. */
export const namesInScript = (script: Argument): readonly Argument[] =>
  wordsOf(script.text).map((name) => ({ ...withText(script, name), kind: "fixed" }));

/** Options that say what is left out or which names are meant, and no file. */
const excluding =
  /^--(?:exclude|exclude-dir|include|ignore|ignore-pattern|ignore-path|glob|iglob|name|filter|not)=/;

function behindEquals(program: string, text: string): string[] {
  const [, name = "", value = ""] = /^([^=]*)=([\s\S]+)$/.exec(text) ?? [];
  if (value === "" || excluding.test(text)) return [];
  return name.startsWith("--") || readsBehindEquals(program) ? [value] : [];
}

/** `@a`, `-d@a`, `x=@a;type=b`, `x=<a`, `name@a`. */
function behindAt(program: string, text: string): string[] {
  if (!readsBehindAt(program)) return [];
  const [, path = ""] = /[@<]([^;]+)/.exec(text) ?? [];
  return path === "" ? [] : [path];
}

function fileAddress(text: string): string[] {
  const [, path = ""] = /file:(?:\/\/(?:localhost)?)?(\/[^\s'"]*)/i.exec(text) ?? [];
  if (path === "") return [];
  try {
    return [path, decodeURIComponent(path)];
  } catch {
    return [path]; // A percent sign that stands for itself.
  }
}

/** What stands between and behind the signs that join names to other words. */
function pieces(text: string): string[] {
  const parts = text.split(separators);
  if (parts.length < 2) return [];
  const found: string[] = [];
  let at = 0;
  for (const part of parts.slice(0, maxPieces)) {
    found.push(part, text.slice(at));
    at += part.length + 1;
  }
  return found.filter((name) => name !== "" && name !== text);
}

const separators = /[=@:,;<|]/;

/** `-fa`, `-nfa`. */
function behindLetters(text: string): string[] {
  const [, letters = ""] = /^-([A-Za-z0-9]+)/.exec(text) ?? [];
  const last = Math.min(letters.length, maxLetters);
  return Array.from({ length: last }, (_, at) => text.slice(at + 2)).filter((name) => name !== "");
}

function inScript(program: string, text: string): string[] {
  if (!takesScripts(program)) return [];
  return /^g?sed$/.test(program) ? [...readSedScript(text).reads, ...wordsOf(text)] : wordsOf(text);
}

/** The words and quoted texts of a script, whatever its language. */
function wordsOf(script: string): string[] {
  const words = script.split(/[\s'"`()<>=@:,;|{}[\]]+/).filter((word) => word.length > 1);
  return [...new Set(words)].slice(0, maxScriptWords);
}
