/** The words that are part of the language where a command could start. */
import { isMetaSign, peek, type Source } from "./source.ts";

export type Role =
  | "ends a list"
  | "negates"
  | "times"
  | "is -p"
  | "is --"
  | "starts a compound"
  | "cannot start";

const words: Readonly<Record<Role, readonly string[]>> = {
  "ends a list": ["then", "elif", "else", "fi", "do", "done", "esac", "}"],
  negates: ["!"],
  times: ["time"],
  "is -p": ["-p"],
  "is --": ["--"],
  "starts a compound": ["{", "if", "while", "until", "for", "select", "case", "function", "coproc", "[["],
  "cannot start": ["in", "then", "elif", "else", "fi", "do", "done", "esac", "}", "!", "]]"],
};

/** Whether a word of that role stands here. The cursor stays. */
export const startsReserved = (source: Source, role: Role): boolean =>
  words[role].includes(bareWordAt(source));

/** The word under the cursor if it has no quotes and no expansion, however lines are joined in it; else "". */
export function bareWordAt(source: Source): string {
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
