/**
 * Rules about commands, laid over what a text was found to be made of. An allow rule has to cover a simple command with
 * all that it runs; a deny rule touches it wherever it stands, however it is quoted, wrapped or spelled.
 */

import type { Argument } from "../shell/meaning/arguments.ts";
import type { NamedCommand } from "../shell/meaning/commands.ts";
import { isHazardous } from "../shell/meaning/hazards.ts";
import { programName } from "../shell/meaning/inside.ts";
import type { ShellScope } from "../shell/meaning/path-scope.ts";
import { isHarmlessAssignment } from "../shell/meaning/prove.ts";
import { plainSpellings } from "../shell/programs/global-options.ts";
import { insideHarmless } from "../shell/programs/harmless-wrappers.ts";
import type { Touch } from "./command-judge.ts";
import { mayHide } from "./hidden-command.ts";
import { joinedWords, matchesGlob, type ShellPattern } from "./shell-pattern.ts";

/** Whether an allow rule covers the words of a command. What it writes by redirections is another matter. */
export function coversCommand(pattern: ShellPattern, command: NamedCommand, scope: ShellScope): boolean {
  const { step } = command;
  if (!step.assignments.every(isHarmlessAssignment)) return false;
  return coversWords(pattern, command, step.words, scope);
}

function coversWords(
  pattern: ShellPattern,
  command: NamedCommand,
  words: readonly Argument[],
  scope: ShellScope,
): boolean {
  const [program, ...rest] = words;
  if (program?.kind !== "fixed" || program.name !== program.text) return false;
  if (fits(pattern, words) && !isHazardous(command, { words, world: scope, named: namedWords(pattern) }))
    return true;
  // A wrapper that changes neither what runs nor what it does may be left out of a rule.
  const inside = insideHarmless(program.text, rest);
  const [inner] = command.inner;
  return inside !== undefined && inner !== undefined && coversWords(pattern, inner, inside, scope);
}

/** How many words of a command the rule names, so that whoever wrote it has seen them. */
function namedWords(pattern: ShellPattern): number {
  switch (pattern.kind) {
    case "exact":
      return Number.POSITIVE_INFINITY;
    case "prefix":
      return pattern.words.length;
    case "glob":
      // Only whole words before the first star.
      return (pattern.pieces[0] ?? "").split(" ").length - 1;
  }
}

function fits(pattern: ShellPattern, words: readonly Argument[]): boolean {
  const texts = words.map(({ text }) => text);
  switch (pattern.kind) {
    case "exact":
      return words.every(isFixed) && sameWords(pattern.words, texts) && texts.length === pattern.words.length;
    case "prefix":
      return (
        words.every(isKnown) &&
        words.slice(0, pattern.words.length).every(isFixed) &&
        sameWords(pattern.words, texts)
      );
    case "glob":
      return words.every(isKnown) && matchesGlob(pattern, joinedWords(texts));
  }
}

const isFixed = ({ kind }: Argument): boolean => kind === "fixed";
/** Its own value is known, or is a name of files. */
const isKnown = ({ kind, isProcess }: Argument): boolean => kind !== "unknown" || isProcess;

const sameWords = (rule: readonly string[], words: readonly string[]): boolean =>
  rule.every((word, at) => words[at] === word);

/** Whether a deny or ask rule touches a command: `maybe` where only the run knows. */
export function touchesCommand(pattern: ShellPattern, command: NamedCommand): Touch {
  const { words } = command.step;
  const program = words[0];
  if (!program) return mayHide(pattern, command.step) ? "maybe" : "no";
  let isUnsure = command.hides;
  if (mayStart(pattern, program))
    for (const spelling of spellingsOf(program, words.slice(1))) {
      const found = touch(pattern, spelling);
      if (found === "yes") return "yes";
      isUnsure ||= found === "maybe";
    }
  for (const part of command.inner) {
    const found = touchesCommand(pattern, part);
    if (found === "yes") return "yes";
    isUnsure ||= found === "maybe";
  }
  return isUnsure || mayHide(pattern, command.step) ? "maybe" : "no";
}

/** Most commands and rules are about different programs: then no spelling of the words has to be tried. */
const mayStart = (pattern: ShellPattern, program: Argument): boolean =>
  pattern.kind === "glob" ||
  !isFixed(program) ||
  program.text === pattern.words[0] ||
  programName(program) === pattern.words[0];

/** As it stands, and as somebody would write it who means the same. */
function spellingsOf(program: Argument, rest: readonly Argument[]): (readonly Argument[])[] {
  const name = programName(program);
  const named = { ...program, text: name };
  return [[program, ...rest], ...plainSpellings(name, rest).map((spelled) => [named, ...spelled])];
}

function touch(pattern: ShellPattern, words: readonly Argument[]): Touch {
  if (pattern.kind === "glob") {
    if (matchesGlob(pattern, joinedWords(words.map(({ text }) => text)))) return "yes";
    const unknown = words.findIndex((word) => !isFixed(word));
    if (unknown < 0) return "no";
    // As far as it is known, it could become what the rule names.
    const known = joinedWords(words.slice(0, unknown).map(({ text }) => text));
    const [first = ""] = pattern.pieces;
    return first.startsWith(known) || known.startsWith(first) ? "maybe" : "no";
  }
  for (const [at, word] of pattern.words.entries()) {
    const given = words[at];
    if (!given) return "no";
    if (!isFixed(given)) return "maybe";
    if (given.text !== word) return "no";
  }
  if (pattern.kind === "prefix") return "yes";
  return words.length === pattern.words.length
    ? "yes"
    : words.slice(pattern.words.length).some((word) => !isFixed(word))
      ? "maybe"
      : "no";
}
