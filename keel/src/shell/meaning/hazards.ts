/**
 * What a rule about first words does not cover, since whoever wrote it did not see it: options that run programs or
 * code, files written outside, shells and wrappers whose inner program the rule does not name.
 */

import { isInside } from "../../kernel/path.ts";
import { gitDirectories } from "../programs/git.ts";
import { gitWords } from "../programs/git-words.ts";
import { hazardousOption } from "../programs/hazardous-options.ts";
import { readerOf } from "../programs/readers.ts";
import { interpreters, isRunner, shells, wrappers } from "../programs/wrappers.ts";
import { type Argument, withText } from "./arguments.ts";
import type { NamedCommand } from "./commands.ts";
import { writesOutside } from "./effects.ts";
import { programName, programOf } from "./inside.ts";
import { pathScope, type ShellScope } from "./path-scope.ts";
import type { Directories } from "./walk.ts";

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
export const takesCode = ({ step }: NamedCommand): boolean => {
  const { name, rest } = programOf(step);
  return readsCode(name, rest);
};

/** A shell or an interpreter without a script. */
const readsCode = (name: string, rest: readonly Argument[]): boolean =>
  (shells.has(name) || Object.hasOwn(interpreters, name) || name === "xargs" || name === "parallel") &&
  rest.every(({ text }) => text.startsWith("-")) &&
  !rest.some(({ text }) => isVersion(text));

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
  if (isOnlyVersion(rest)) return false;
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

/**
 * Options that a rule about first words did not name, of programs that nobody has a table for: judged by what their
 * names say. One that starts a program, and one whose value is a place outside, are not covered.
 */
type Unseen = {
  /** The words behind those that the rule names. */
  readonly words: readonly Argument[];
  readonly directories: Directories;
  readonly world: ShellScope;
};

function hasOutwardOption(program: string, { words, directories, world }: Unseen): boolean {
  return words.some((word, at) => {
    const { text } = word;
    if (!text.startsWith("-") || text === "-" || text === "--") return false;
    if (startsProgram.test(text)) return true;
    const [, name = "", value] = /^--?([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/.exec(text) ?? [];
    const isPlace = placing.test(name);
    if (value !== undefined)
      return (isPlace || program !== "git") && leadsOut(withText(word, value), directories, world);
    const next = words[at + 1];
    return (isPlace || outputLetter.test(text)) && next !== undefined && leadsOut(next, directories, world);
  });
}

const startsProgram =
  /^--?(?:[\w-]+-)?(?:exec|exec-batch|toolexec|command|cmd|pager|editor|shell|rsh|plugins?|plugin-dir|loader|require|preload|eval|askpass|hook|pre-invoke|post-invoke|rulesdir|compress-program|smtp-server|globalSetup|globalTeardown|setupFiles\w*)(?:=|$)/;

/** Names of options whose value is a file or a folder that is written, or that says what is run. */
const placing =
  /(?:^|[-_.])(?:out|output|outfile|outdir|dest|destination|dir|directory|path|file|files|folder|root|prefix|config|settings|volume|mount|target|home|cache|store|log|logfile|report|reports|profile|coverprofile|cpuprofile|memprofile|blockprofile|outputdir|save|write|trace|dump|junit|junitxml|xml|basetemp|userconfig|kubeconfig|chdir|cwd|project|tsconfig|jar|cookies|hsts|svc)$|(?:Dir|File|Path|Root|Folder|Config)$|^(?:save|write|dump|log|report)[-_]|[-_](?:save|write|dump|log)(?:[-_]|$)/i;
const outputLetter = /^-(?:o|O|[a-zA-Z]{1,3}o)$/;

/** A word that names a place which is not inside. What names no place at all leads nowhere. */
function leadsOut(word: Argument, directories: Directories, scope: ShellScope): boolean {
  const isPath = /^[/~]/.test(word.text) || word.text.split(/[/:]/).includes("..");
  if (word.kind !== "fixed") return isPath;
  const place = pathScope(word, directories, scope);
  return isPath && place.kind !== "inside" && place.kind !== "harmless";
}
