/** What `cd` and its like make of the directory. */
import { normalise } from "../../kernel/path.ts";
import type { Argument } from "./arguments.ts";

/** "stays" when the command does not move; undefined when nothing is known of where it goes. */
export function changedDirectory(
  words: readonly Argument[],
  from: readonly string[] | undefined,
  home: string,
): readonly string[] | "stays" | undefined {
  const [program, ...rest] = words;
  if (program === undefined) return "stays";
  if (program.kind !== "fixed") return undefined;
  switch (program.text) {
    case "cd":
    case "pushd":
      return movedTo(rest, from, home);
    case "popd":
    // What is evaluated or loaded may move too.
    case "eval":
    case "source":
    case ".":
    case "command":
    case "builtin":
      return mayMove(program.text, rest) ? undefined : "stays";
    default:
      return "stays";
  }
}

const mayMove = (program: string, rest: readonly Argument[]): boolean =>
  (program !== "command" && program !== "builtin") ||
  rest.some(
    ({ kind, text }) => kind !== "fixed" || ["cd", "pushd", "popd", "eval", "source", "."].includes(text),
  );

function movedTo(
  given: readonly Argument[],
  from: readonly string[] | undefined,
  home: string,
): readonly string[] | undefined {
  const words = given.filter(({ kind, text }) => !(kind === "fixed" && /^(?:-[LPe@]+|--)$/.test(text)));
  const [target] = words;
  if (!target) return [home];
  if (words.length > 1 || target.kind !== "fixed" || target.text === "-" || /^[+-]\d/.test(target.text))
    return undefined;
  if (target.text === "") return from;
  if (target.text.startsWith("/")) return bothWays(target.text);
  return from?.flatMap((directory) => bothWays(`${directory}/${target.text}`));
}

/** Behind a link `..` is where the shell came from; with `-P` it is the parent of where the link leads. */
const bothWays = (path: string): string[] =>
  path.split("/").includes("..") ? [...new Set([normalise(path), path])] : [path];
