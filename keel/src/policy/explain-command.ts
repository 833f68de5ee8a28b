/**
 * A command word by word, as the policy reads it: which words are programs, what is known of each, where the paths lead
 * that it names. For whoever is asked whether it may run; nothing is decided here, and nothing is looked at.
 */
import type { Analysis, ShellContext } from "../shell/meaning/analyse.ts";
import type { Argument } from "../shell/meaning/arguments.ts";
import { innerOf, type NamedCommand } from "../shell/meaning/commands.ts";
import { effectsOf, writingRedirections } from "../shell/meaning/effects.ts";
import { isSecret, pathScope } from "../shell/meaning/path-scope.ts";
import type { ShellStep } from "../shell/meaning/walk.ts";
import { namedPaths, writtenWords } from "./named-paths.ts";

/** `open`: only the run knows what it is. `pattern`: the files that are there decide. */
export type WordRole = "program" | "option" | "reads" | "writes" | "word" | "pattern" | "open";

export type ExplainedWord = {
  readonly text: string;
  readonly role: WordRole;
  /** Of a path, by its text: out of the workspace, or under a name that secrets are kept by. */
  readonly outside?: boolean;
  readonly secret?: boolean;
};

export type ExplainedCommand = {
  readonly words: readonly ExplainedWord[];
  /** It is proved to only read; else why it is not. */
  readonly readOnly: boolean;
  readonly because?: string;
  readonly network: boolean;
  readonly destructive: boolean;
  readonly writesOutside: boolean;
  /** Programs that it starts in turn, and whether it runs code that the text does not show. */
  readonly runs: readonly string[];
  readonly hides: boolean;
  /** Programs whose output it gets. */
  readonly pipedFrom: readonly string[];
};

/** Who reads more than so many asks somebody else. */
const maxCommands = 20;
const maxWords = 40;
const maxText = 200;

export function explainCommand(analysis: Analysis | undefined, context: ShellContext): ExplainedCommand[] {
  if (analysis?.kind !== "read") return [];
  const named = namedPaths(analysis, context, { paths: new Map() });
  const possible = new Set(named.reads);
  const commands = new Map(analysis.commands.map((command) => [command.step, command]));
  return analysis.steps.slice(0, maxCommands).map((step, index) => {
    const command = commands.get(step);
    const proof = analysis.proofs[index];
    const { network, destructive, writesOutside } = effectsOf([step], command ? [command] : [], context);
    const readOnly = proof?.ok ?? false;
    return {
      words: wordsOf(step, { proved: new Set(proof?.ok ? proof.reads : []), possible, context }),
      readOnly,
      ...(proof && !proof.ok ? { because: proof.because } : {}),
      network: !readOnly && network,
      destructive: !readOnly && destructive,
      writesOutside: !readOnly && writesOutside,
      runs: command ? programsIn(command) : [],
      hides: command?.hides ?? false,
      pipedFrom: step.pipedFrom.flatMap(({ words }) => words[0]?.name ?? []),
    };
  });
}

const programsIn = (command: NamedCommand): string[] => [
  ...new Set(innerOf(command).map(({ name }) => name)),
];

type WordFacts = {
  /** What it reads for sure, and what it might. */
  readonly proved: ReadonlySet<string>;
  readonly possible: ReadonlySet<string>;
  readonly context: ShellContext;
};

function wordsOf(step: ShellStep, { proved, possible, context }: WordFacts): ExplainedWord[] {
  const written = new Set(writtenWords(step));
  const explain = (word: Argument, role: WordRole): ExplainedWord => {
    const scope = pathScope(word, step.directories, context);
    const paths = scope.kind === "inside" || scope.kind === "outside" ? scope.paths : [];
    const isPath = role === "reads" || role === "writes" || /^[~/]|\//.test(word.text);
    return {
      text: word.name.slice(0, maxText),
      role,
      ...(isPath && scope.kind === "outside" ? { outside: true } : {}),
      ...(role !== "option" && paths.some(isSecret) ? { secret: true } : {}),
    };
  };
  const roleOf = (word: Argument, index: number): WordRole => {
    if (word.kind === "unknown") return "open";
    if (index === 0) return "program";
    if (written.has(word)) return "writes";
    if (word.kind === "glob") return "pattern";
    if (/^--?\w/.test(word.text)) return "option";
    const scope = pathScope(word, step.directories, context);
    const paths = scope.kind === "inside" || scope.kind === "outside" ? scope.paths : [];
    // Rules take every word for a name that might be read; a person is told of those that look like one.
    const looksLikeName = /[/.]/.test(word.text);
    const isRead = (path: string): boolean => proved.has(path) || (looksLikeName && possible.has(path));
    return paths.some(isRead) ? "reads" : "word";
  };
  const writing = new Set(writingRedirections(step));
  return [
    ...step.assignments.map(
      ({ name, value }): ExplainedWord => ({ text: `${name}=${value.name}`.slice(0, maxText), role: "word" }),
    ),
    ...step.words.map((word, index) => explain(word, roleOf(word, index))),
    ...step.redirections.map((redirection): ExplainedWord => {
      const { operator, descriptor, target } = redirection;
      const isRead = operator === "<" || operator === "<>";
      const role = writing.has(redirection) ? "writes" : isRead ? "reads" : "word";
      const explained = explain(target, role);
      return { ...explained, text: `${descriptor}${operator} ${explained.text}`.slice(0, maxText) };
    }),
  ].slice(0, maxWords);
}
