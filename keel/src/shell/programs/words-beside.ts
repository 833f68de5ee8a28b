import type { Argument } from "../meaning/arguments.ts";

/** Words that are no options; the values of these options are none either. */
export function wordsBeside(words: readonly Argument[], valued = ""): Argument[] {
  const options = new Set(valued.split(" "));
  const found: Argument[] = [];
  let isOver = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!word) continue;
    if (!isOver && word.text === "--") isOver = true;
    else if (!isOver && word.prefix.startsWith("-") && word.text !== "-")
      at += options.has(word.text) ? 1 : 0;
    else found.push(word);
  }
  return found;
}
