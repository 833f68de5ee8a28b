/** A git command taken apart: options of git itself, the subcommand, and the rest. */
import { type Argument, withText } from "../meaning/arguments.ts";

export type GitWords = {
  /** Options before the subcommand, with their values. */
  readonly before: readonly { readonly name: string; readonly value: Argument | undefined }[];
  readonly subcommand: Argument | undefined;
  readonly rest: readonly Argument[];
};

const takesNext = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--config-env",
  "--super-prefix",
  "--attr-source",
]);

export function gitWords(words: readonly Argument[]): GitWords {
  const before: { name: string; value: Argument | undefined }[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    if (!word?.prefix.startsWith("-")) break;
    const equals = word.text.startsWith("--") ? word.text.indexOf("=") : -1;
    if (equals > 0)
      before.push({ name: word.text.slice(0, equals), value: withText(word, word.text.slice(equals + 1)) });
    else if (takesNext.has(word.text)) {
      at += 1;
      before.push({ name: word.text, value: words[at] });
    } else before.push({ name: word.text, value: undefined });
  }
  return { before, subcommand: words[at], rest: words.slice(at + 1) };
}
