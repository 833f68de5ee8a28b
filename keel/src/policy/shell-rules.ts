/**
 * Rules about commands, laid over what a text was found to be made of. An allow rule has to cover a simple command with
 * all that it runs; a deny rule touches it wherever it stands, however it is quoted, wrapped or spelled.
 */

import { oneLine, shorten } from "../kernel/text.ts";
import type { Argument } from "../shell/meaning/arguments.ts";
import { type NamedCommand, withInner } from "../shell/meaning/commands.ts";
import { isHazardous } from "../shell/meaning/hazards.ts";
import { programName } from "../shell/meaning/inside.ts";
import type { ShellScope } from "../shell/meaning/path-scope.ts";
import { isHarmlessAssignment } from "../shell/meaning/prove.ts";
import { viewsOf } from "../shell/programs/command-views.ts";
import { insideHarmless } from "../shell/programs/harmless-wrappers.ts";
import { valuesOf } from "../shell/programs/option-programs.ts";
import type { Touch } from "./command-judge.ts";
import { type DeniedCommand, levelOf } from "./denied-command.ts";
import type { Level } from "./denied-option.ts";
import { feeds, mayHide } from "./hidden-command.ts";
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
export function touchesCommand(denied: DeniedCommand, command: NamedCommand, marks?: Marks): Touch {
  const own = ownLevel(denied, command, marks);
  if (own === 2) return "yes";
  let isUnsure = own === 1 || command.hides;
  const inner = feeds(command) ? marksOf(command) : undefined;
  for (const part of command.inner) {
    const found = touchesCommand(denied, part, inner);
    if (found === "yes") return "yes";
    isUnsure ||= found === "maybe";
  }
  return isUnsure || mayHide(denied, command.step) ? "maybe" : "no";
}

/** Where more words come from an input: what stands for them among those that the text shows. */
type Marks = readonly string[];

/** `{}` and its kind, and what `xargs -I` names. */
const marksOf = ({ step: { words } }: NamedCommand): Marks => [
  "{",
  ...valuesOf(words, "-I", "-J", "-i", "--replace").filter((mark) => mark !== ""),
];

/** The command that a rule is surely about although its words are others: how a person is told. */
export function otherSpelling(denied: DeniedCommand, commands: readonly NamedCommand[]): string | undefined {
  const found = commands.flatMap(withInner).find((command) => ownLevel(denied, command) === 2);
  if (!found || denied.pattern.kind === "glob") return undefined;
  const texts = found.step.words.map(({ text }) => text);
  if (sameWords(denied.pattern.words, texts)) return undefined;
  return shorten(oneLine(texts.slice(0, maxShown).join(" ")), maxShown);
}

/** Characters of a command that are shown. */
const maxShown = 120;

/** What the command itself is to a rule, whatever it runs beside. */
function ownLevel({ pattern, spellings }: DeniedCommand, { step }: NamedCommand, marks?: Marks): Level {
  const { words } = step;
  const program = words[0];
  if (!program) return 0;
  let found: Level = pattern.kind === "glob" ? globLevel(pattern, words) : 0;
  const takesMore = marks !== undefined;
  const open = marks ? words.map((word) => replaced(word, marks)) : words;
  for (const view of viewsOf(open))
    for (const spelling of spellings) {
      if (found === 2) return 2;
      const level = levelOf(spelling, view, { from: "first", takesMore });
      if (level > found) found = level;
    }
  return found;
}

/** A word of which a part comes from the input. */
function replaced(word: Argument, marks: Marks): Argument {
  const places = marks.map((mark) => word.text.indexOf(mark)).filter((at) => at >= 0);
  if (places.length === 0) return word;
  return { ...word, kind: "unknown", prefix: word.text.slice(0, Math.min(...places)) };
}

function globLevel(pattern: ShellPattern & { kind: "glob" }, words: readonly Argument[]): Level {
  const [program, ...rest] = words;
  const named = program && [{ ...program, text: programName(program) }, ...rest];
  const isThere = [words, named ?? words].some((each) =>
    matchesGlob(pattern, joinedWords(each.map(({ text }) => text))),
  );
  if (isThere) return 2;
  const unknown = words.findIndex((word) => !isFixed(word));
  if (unknown < 0) return 0;
  // As far as it is known, it could become what the rule names.
  const known = joinedWords(words.slice(0, unknown).map(({ text }) => text));
  const [first = ""] = pattern.pieces;
  return first.startsWith(known) || known.startsWith(first) ? 1 : 0;
}
