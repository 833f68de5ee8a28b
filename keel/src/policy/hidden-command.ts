/**
 * Programs that run others are more than any table knows. Where a denied command stands among the words of a program
 * whose words are not plain data, or in a text that it is given, only the run knows whether it will be run.
 */
import type { Argument } from "../shell/meaning/arguments.ts";
import { type NamedCommand, withInner } from "../shell/meaning/commands.ts";
import { programName } from "../shell/meaning/inside.ts";
import { inputsOf, type ShellStep } from "../shell/meaning/walk.ts";
import { programWords } from "../shell/programs/command-aliases.ts";
import { viewsOf } from "../shell/programs/command-views.ts";
import { readerOf } from "../shell/programs/readers.ts";
import { specialOf } from "../shell/programs/specials.ts";
import { wrappers } from "../shell/programs/wrappers.ts";
import { writtenTo } from "../shell/programs/writers.ts";
import { type DeniedCommand, levelOf, type Spelling, wordLevel } from "./denied-command.ts";
import { optionLevel } from "./denied-option.ts";

export function mayHide(denied: DeniedCommand, step: ShellStep): boolean {
  const { words, assignments, redirections } = step;
  // Most commands of a long text: there is nothing to look at.
  if (words.length < 2 && assignments.length + redirections.length === 0) return false;
  return isOpen(step) || denied.spellings.some((spelling) => mayHold(spelling, step));
}

/** Programs that add words to the command which they run: xargs(1), parallel(1). */
export const feeds = ({ step: { words } }: NamedCommand): boolean =>
  words[0] !== undefined && /^(?:xargs|gxargs|parallel|rush)$/.test(programName(words[0]));

/** What is expanded twice may be anything, and so may be what a variable has loaded. */
const isOpen = ({ words, assignments, redirections }: ShellStep): boolean =>
  redirections.some(({ operator, target }) => operator === ">&" && target.isOpaque) ||
  assignments.some(({ name }) => loadsCode(name)) ||
  words.some(({ prefix }) => givesLoading(prefix));

/**
 * Every program that a text names in any way; undefined where only the run knows what it does. A rule about another
 * program is then not about it, which is so for most rules and most commands.
 */
export function namedPrograms(
  commands: readonly NamedCommand[],
  steps: readonly ShellStep[],
): ReadonlySet<string> | undefined {
  const programs = new Set<string>();
  const added = new Set<string>();
  const add = (text: string): void => {
    if (added.has(text)) return;
    added.add(text);
    for (const token of [text, ...(/^\w[\w-]*$/.test(text) ? [] : tokensOf(text))]) {
      const [name] = programWords(token);
      if (name !== undefined) programs.add(name);
    }
  };
  const all = commands.flatMap(withInner);
  if (all.some((command) => command.hides || command.step.words[0]?.kind !== "fixed" || feeds(command)))
    return undefined;
  for (const step of [
    ...steps.filter(({ words }) => words.length === 0),
    ...all.map((command) => command.step),
  ]) {
    if (isOpen(step)) return undefined;
    for (const { text } of step.words) add(text);
    for (const [first] of viewsOf(step.words).slice(1)) {
      if (first?.kind !== "fixed") return undefined;
      add(first.text);
    }
    for (const { value } of step.assignments) add(value.text);
    for (const { text } of inputsOf(step.redirections)) add(text);
  }
  return programs;
}

/** Whether a command that nobody sees run stands in the words of another, in its input, or in a variable. */
export function mayHold(spelling: Spelling, { words, assignments, redirections }: ShellStep): boolean {
  if (assignments.some(({ value }) => holds(tokensOf(value.text), spelling))) return true;
  const [program, ...rest] = words;
  if (!program) return false;
  const name = programName(program);
  if (givesName.test(name) && rest.some(({ text }) => names(spelling, text))) return true;
  // The first word behind many a program is a verb of its own.
  const behind = takesVerb.has(name) && spelling.parts.length === 0 ? 2 : 1;
  const isThere =
    levelOf({ ...spelling, isOpen: true }, words, { from: behind }) > 0 ||
    rest.some((word) => !isPlain(word) && holds(tokensOf(word.text), spelling)) ||
    (rest.some(isMade) && holds(tokensOf(words.map(({ text }) => text).join(" ")), spelling)) ||
    inputsOf(redirections).some(({ text }) => holds(tokensOf(text), spelling));
  return isThere && !isPlainData(name, rest);
}

/** Only the run knows it, but what it is made of stands in the text: `$(echo git)`. */
const isMade = ({ kind, text }: Argument): boolean => kind === "unknown" && /[`{(]/.test(text);

/** These give a program another name, under which no rule would know it. */
const givesName = /^(?:alias|hash|ln|cp|install)$/;

const names = ({ program }: Spelling, text: string): boolean => {
  const [, path = ""] = /^(?:[\w-]+=)?["']?((?:.*\/)?[^/]+?)["']?$/s.exec(text) ?? [];
  const isProgram = text.includes("=") || /(?:^|\/)s?bin\/[^/]+$/.test(path);
  return isProgram && programWords(path)[0] === program;
};

/** Its words are names, patterns and texts, and what of them it runs is looked at elsewhere. */
export const isPlainData = (name: string, rest: readonly Argument[]): boolean =>
  !Object.hasOwn(wrappers, name) &&
  !runsElsewhere.has(name) &&
  (readerOf(name)?.needs === undefined || rest.length === 0) &&
  (readerOf(name) !== undefined ||
    specialOf(name) !== undefined ||
    dataPrograms.has(name) ||
    writtenTo(name, rest).some((target) => target !== "outside"));

/** They write files, and run what their words say in another place. */
const runsElsewhere = new Set("docker podman nerdctl kubectl ssh lxc vagrant multipass".split(" "));

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

/** All of its words, in their order, and its options. */
function holds(tokens: readonly string[], { program, parts, options }: Spelling): boolean {
  const wanted = parts.flatMap((part) => (part.kind === "word" ? [part.words] : []));
  let found = -1;
  for (const token of tokens) {
    if (found >= 0 && wordLevel(program, wanted[found] ?? [], token) > 0) found += 1;
    // It may start anew, and with a name that stands for more words.
    const [name, ...more] = programWords(token);
    if (name === program) {
      const isMore = more.every((word, at) => wanted[at]?.includes(word) ?? true);
      found = Math.max(found, isMore ? more.length : 0);
    }
    if (found >= wanted.length) return options.every((option) => optionLevel(option, tokens) > 0);
  }
  return false;
}

/** Longer than what anybody puts a command into: what is behind is not looked at, and may be anything. */
const maxText = 20_000;

/** Its words, as they stand and without the quotes that part them. */
function tokensOf(text: string): string[] {
  const looked = text
    .slice(0, maxText)
    .replace(/:[-=+]/g, " ")
    .replace(/(?<=^|\s)-m(?=[a-z])/g, "-m ")
    .replace(/\\x([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const parted = looked.replace(/\\[nrt]/g, " ");
  const isQuoted = /["'\\]/.test(looked);
  return [parted, ...(isQuoted ? [looked, parted].map(withoutQuotes) : [])].flatMap((each) =>
    each.split(separator),
  );
}

const withoutQuotes = (text: string): string => text.replace(/["'\\]/g, "");
const separator = /[^\w./+-]+/;

/** Variables that make whatever starts behind them run code before its own. */
export const loadsCode = (name: string): boolean =>
  /^(?:BASH_ENV|BASH_FUNC_.*|LD_AUDIT|LD_PRELOAD)$/.test(name);

/** `name=value` as a word, of which only the start may be known. */
const givesLoading = (word: string): boolean =>
  word.includes("=") && loadsCode(word.slice(0, word.indexOf("=")));
