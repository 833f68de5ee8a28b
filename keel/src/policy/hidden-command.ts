/**
 * Programs that run others are more than any table knows. Where a denied command stands among the words of a program
 * whose words are not plain data, or in a text that it is given, only the run knows whether it will be run.
 */
import type { Argument } from "../shell/meaning/arguments.ts";
import { programName } from "../shell/meaning/inside.ts";
import { inputsOf, type ShellStep } from "../shell/meaning/walk.ts";
import { readerOf } from "../shell/programs/readers.ts";
import { specialOf } from "../shell/programs/specials.ts";
import { wrappers } from "../shell/programs/wrappers.ts";
import { writtenTo } from "../shell/programs/writers.ts";
import type { ShellPattern } from "./shell-pattern.ts";

export function mayHide(pattern: ShellPattern, { words, assignments, redirections }: ShellStep): boolean {
  // Most commands of a long text: there is nothing to look at.
  if (words.length < 2 && assignments.length + redirections.length === 0) return false;
  // What is expanded twice may be anything.
  if (redirections.some(({ operator, target }) => operator === ">&" && target.isOpaque)) return true;
  // So may be what a variable has loaded.
  if (assignments.some(({ name }) => loadsCode(name)) || words.some(({ prefix }) => givesLoading(prefix)))
    return true;
  const denied = deniedWords(pattern);
  if (denied.length === 0) return false;
  if (assignments.some(({ value }) => holds(tokensOf(value.text), denied))) return true;
  const [program, ...rest] = words;
  if (!program) return false;
  // The first word behind many a program is a verb of its own.
  const behind = takesVerb.has(programName(program)) ? 2 : 1;
  const isThere =
    words.some((word, at) => at >= behind && isPlain(word) && standsAt(words, at, denied)) ||
    rest.some((word) => !isPlain(word) && holds(tokensOf(word.text), denied)) ||
    inputsOf(redirections).some(({ text }) => holds(tokensOf(text), denied));
  return isThere && !isPlainData(programName(program), rest);
}

/** The words that a rule names, as far as they are whole. */
function deniedWords(pattern: ShellPattern): readonly string[] {
  if (pattern.kind !== "glob") return pattern.words;
  const whole = (pattern.pieces[0] ?? "").split(" ").slice(0, -1);
  return whole.filter((word) => word !== "");
}

/** Its words are names, patterns and texts, and what of them it runs is looked at elsewhere. */
const isPlainData = (name: string, rest: readonly Argument[]): boolean =>
  !Object.hasOwn(wrappers, name) &&
  (readerOf(name)?.needs === undefined || rest.length === 0) &&
  (readerOf(name) !== undefined ||
    specialOf(name) !== undefined ||
    dataPrograms.has(name) ||
    writtenTo(name, rest).some((target) => target !== "outside"));

const dataPrograms = new Set(
  "git gh glab cp mv rm rmdir mkdir touch ln tee install chmod chown chgrp truncate apt apt-get brew dnf yum apk pacman port snap gem pip pip3 whatis apropos tldr info help kill pkill killall pgrep sleep export declare typeset local readonly unset set shopt umask ulimit cd pushd popd dirs history fg bg jobs wait disown logger notify-send wall".split(
    " ",
  ),
);

const takesVerb = new Set(
  "npm pnpm yarn bun docker podman kubectl helm cargo go make terraform systemctl service composer dotnet mvn gradle rails mix stack cabal".split(
    " ",
  ),
);

const isPlain = ({ text }: Argument): boolean => /^[\w./+-]+$/.test(text) && !text.startsWith("-");

const standsAt = (words: readonly Argument[], start: number, denied: readonly string[]): boolean =>
  denied.every((word, offset) => {
    const text = words[start + offset]?.text ?? "";
    return (offset === 0 ? baseOf(text) : text) === word;
  });

/** All of them, in their order. */
function holds(tokens: readonly string[], denied: readonly string[]): boolean {
  let found = 0;
  for (const token of tokens) {
    if ((found === 0 ? baseOf(token) : token) === denied[found]) found += 1;
    if (found === denied.length) return true;
  }
  return false;
}

/** Longer than what anybody puts a command into: what is behind is not looked at, and may be anything. */
const maxText = 20_000;

const tokensOf = (text: string): string[] => text.slice(0, maxText).split(/[^\w./+-]+/);
const baseOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1);

/** Variables that make whatever starts behind them run code before its own. */
export const loadsCode = (name: string): boolean =>
  /^(?:BASH_ENV|BASH_FUNC_.*|LD_AUDIT|LD_PRELOAD)$/.test(name);

/** `name=value` as a word, of which only the start may be known. */
const givesLoading = (word: string): boolean =>
  word.includes("=") && loadsCode(word.slice(0, word.indexOf("=")));
