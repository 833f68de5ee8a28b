/**
 * What a rule about first words does not cover, since whoever wrote it did not see it: options that run programs or
 * code, files written outside, shells and wrappers whose inner program the rule does not name.
 */

import { isInside } from "../../kernel/path.ts";
import { gitDirectories } from "../programs/git.ts";
import { gitWords } from "../programs/git-words.ts";
import { hazardousOption } from "../programs/hazardous-options.ts";
import { readerOf } from "../programs/readers.ts";
import { hasOutwardOption } from "../programs/unseen-options.ts";
import { interpreters, shells, wrappers } from "../programs/wrappers.ts";
import type { Argument } from "./arguments.ts";
import type { NamedCommand } from "./commands.ts";
import { writesOutside } from "./effects.ts";
import { programName } from "./inside.ts";
import type { ShellScope } from "./path-scope.ts";

type HazardCase = {
  readonly words: readonly Argument[];
  readonly world: ShellScope;
  /** How many of the words the rule names. */
  readonly named: number;
};

export function isHazardous(command: NamedCommand, { words, world, named }: HazardCase): boolean {
  const [program, ...rest] = words;
  if (!program) return true;
  const name = programName(program);
  // Whoever wrote all of it has seen all of it, but not what comes in through a pipe.
  if (named >= words.length && words.every(({ kind }) => kind === "fixed")) return readsCode(name, rest);
  // A rule that starts with a star names no program: it speaks of ordinary ones only.
  if (named < 1 && program.text.includes("/")) return true;
  if (named < 1 && isRunner(name)) return !isOnlyVersion(rest);
  if (shells.has(name)) return !isNamedScript(rest, named);
  if (Object.hasOwn(interpreters, name) && runsInline(name, rest, named)) return true;
  if (Object.hasOwn(wrappers, name) || command.inner.length > 0)
    return !isNamedInside(command, { words, world, named });
  if (command.hides || writesOutside(command, world)) return true;
  if (name === "git" && !worksInside(command, world)) return true;
  const { directories } = command.step;
  return (
    hazardousOption(name, rest, named - 1) ||
    // The options of programs that only read, whatever they are given, are known.
    (!isReader(name) &&
      hasOutwardOption(name, { words: rest.slice(Math.max(0, named - 1)), directories, world }))
  );
}

const isReader = (name: string): boolean => {
  const reader = readerOf(name);
  return reader !== undefined && reader.needs === undefined;
};

/** Elsewhere the settings of another repository act. */
const worksInside = ({ step: { directories, words } }: NamedCommand, { roots }: ShellScope): boolean =>
  gitDirectories(gitWords(words.slice(1)).before, directories)?.every((place) => isInside(place, roots)) ??
  false;

/** Whether it takes its commands from its input, which no rule can have seen. */
export const takesCode = ({ step: { words } }: NamedCommand): boolean => {
  const [program, ...rest] = words;
  return program !== undefined && readsCode(programName(program), rest);
};

/** A shell or an interpreter without a script. */
const readsCode = (name: string, rest: readonly Argument[]): boolean =>
  (shells.has(name) || Object.hasOwn(interpreters, name) || name === "xargs" || name === "parallel") &&
  rest.every(({ text }) => text.startsWith("-")) &&
  !rest.some(({ text }) => isVersion(text));

/** It runs whatever it is given. */
const isRunner = (name: string): boolean =>
  shells.has(name) || Object.hasOwn(interpreters, name) || Object.hasOwn(wrappers, name);

const isOnlyVersion = (rest: readonly Argument[]): boolean =>
  rest.length > 0 && rest.every(({ text }) => isVersion(text));

const isVersion = (text: string): boolean => /^(?:--version|--help|-V|-v|-h|-version)$/.test(text);

/** `bash scripts/build.sh`, where the rule names the script. */
function isNamedScript(rest: readonly Argument[], named: number): boolean {
  const [first] = rest;
  if (isOnlyVersion(rest)) return true;
  return first !== undefined && named >= 2 && first.kind === "fixed" && !/^[-+]/.test(first.text);
}

/** Code in an option or in its input; a rule covers it only if it names the option. */
function runsInline(name: string, rest: readonly Argument[], named: number): boolean {
  if (rest.length > 0 && rest.every(({ text }) => /^(?:--version|--help|-V|-v|-h|-version)$/.test(text)))
    return false;
  const inline = interpreters[name]?.inline ?? [];
  const isInline = (text: string): boolean =>
    inline.some(
      (option) =>
        text === option ||
        (option.startsWith("--")
          ? text.startsWith(`${option}=`)
          : option.length === 2 &&
            /^-[A-Za-z]/.test(text) &&
            !text.startsWith("--") &&
            text.includes(option[1] ?? "\0")),
    );
  const at = rest.findIndex(({ text }) => isInline(text));
  const operand = rest.findIndex(({ text }) => !text.startsWith("-") || text === "-");
  if (at >= 0 && (operand < 0 || at < operand)) return named < at + 2;
  // Without a script it reads its input.
  return operand < 0 || rest[operand]?.text === "-";
}

/** `sudo git status`, where the rule names `git` too; and what is inside is no hazard itself. */
function isNamedInside(command: NamedCommand, { words, world, named }: HazardCase): boolean {
  if (command.hides || command.inner.length !== 1) return false;
  const [inner] = command.inner;
  const innerWords = inner?.step.words ?? [];
  const offset = words.length - innerWords.length;
  const isTail = offset > 0 && innerWords.every((word, at) => word === words[offset + at]);
  if (!inner || !isTail || named <= offset) return false;
  return !isHazardous(inner, { words: innerWords, world, named: named - offset });
}
