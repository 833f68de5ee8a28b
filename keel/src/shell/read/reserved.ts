/** The words that are part of the language where a command could start. */
import { isMetaSign, peek, type ShellSource } from "./source.ts";

export type Role =
  | "ends a list"
  | "negates"
  | "times"
  | "is -p"
  | "is --"
  | "starts a compound"
  | "cannot start";

const words: Readonly<Record<Role, ReadonlySet<string>>> = {
  "ends a list": new Set(["then", "elif", "else", "fi", "do", "done", "esac", "}"]),
  negates: new Set(["!"]),
  times: new Set(["time"]),
  "is -p": new Set(["-p"]),
  "is --": new Set(["--"]),
  "starts a compound": new Set([
    "{",
    "if",
    "while",
    "until",
    "for",
    "select",
    "case",
    "function",
    "coproc",
    "[[",
  ]),
  "cannot start": new Set(["in", "then", "elif", "else", "fi", "do", "done", "esac", "}", "!", "]]"]),
};

/** Whether a word of that role stands here. The cursor stays. */
export const startsReserved = (source: ShellSource, role: Role): boolean => hasRole(bareWordAt(source), role);

export const hasRole = (word: string, role: Role): boolean => words[role].has(word);

/**
 * The word under the cursor, however lines are joined in it, if it may be one of these words: it has no quotes and no
 * expansion, is no longer than they are and starts like one of them. Else "".
 */
export function bareWordAt(source: ShellSource): string {
  const { text, at, end } = source;
  if (at >= end || !firstSigns.includes(text[at] ?? "")) return "";
  const last = at + (run.exec(text.slice(at, Math.min(end, at + longest + 1)))?.[0].length ?? 0);
  const sign = last < end ? (text[last] ?? "") : "";
  if (sign === "\\") return joinedWordAt(source);
  return last - at <= longest && isMetaSign(sign) ? text.slice(at, last) : "";
}

const firstSigns = `\\${[...new Set(Object.values(words).flatMap((some) => [...some].map(([sign]) => sign)))].join("")}`;

/** The signs that such words are made of. */
const run = /^[\w![\]{}-]+/;

function joinedWordAt(source: ShellSource): string {
  const start = source.at;
  let word = "";
  for (let sign = peek(source); !isMetaSign(sign); sign = peek(source)) {
    word += sign;
    source.at += 1;
    if (word.length > longest || !/^[\w![\]{}-]$/.test(sign)) {
      word = "";
      break;
    }
  }
  source.at = start;
  return word;
}

const longest = "function".length;
