/** Shell texts to decide about: those of the corpus, and texts made to be slow. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export function commandTexts(): string[] {
  const corpus = path.resolve(import.meta.dirname, "../../test/corpora");
  return globSync("bash-*.jsonl", { cwd: corpus })
    .sort()
    .flatMap((name) => lines(path.join(corpus, name)))
    .map((line) => String(JSON.parse(line).command));
}

/** Of every kind that has made a reader of shell texts slow, one text of this length. */
export const slowTexts = (size: number): string[] =>
  [
    "{a,b}",
    "{",
    "$(",
    "$((",
    "${x:-",
    '"${x:-',
    "(",
    "`",
    "\\`",
    "'\"",
    "<<E ",
    "~",
    "[",
    "a;",
    "a|",
    "env ",
    "eval ",
    "f(){ ",
    "\\\n",
    "#\n",
    "cd a;",
    "x=1 ",
    "[[ a ]] ;",
    "*",
    "$x ",
    "a=(",
    "a||",
    "(a);",
    "echo a >b;",
    "trap a EXIT;",
  ].map((piece) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size));

const lines = (file: string): string[] => readFileSync(file, "utf8").split("\n").filter(Boolean);
