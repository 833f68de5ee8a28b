/** Shell texts to decide about: the shared corpus where it is there, else our own; and texts made to be slow. */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";

const repository = path.resolve(import.meta.dirname, "../..");

export type Commands = {
  readonly from: "the corpus" | "our own commands";
  readonly texts: readonly string[];
};

export function commandTexts(): Commands {
  const corpus = path.join(repository, "../shared/corpus");
  if (existsSync(corpus))
    return {
      from: "the corpus",
      texts: globSync("bash-*.jsonl", { cwd: corpus })
        .sort()
        .flatMap((name) => lines(path.join(corpus, name)))
        .map((line) => String(JSON.parse(line).command)),
    };
  const own = path.join(repository, "test/fixtures/commands");
  return {
    from: "our own commands",
    texts: ["only-read.txt", "not-proved.txt"].flatMap((name) => lines(path.join(own, name))),
  };
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
