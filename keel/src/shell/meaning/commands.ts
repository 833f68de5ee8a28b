/** The commands of a text with everything that they run in turn: a tree that is bounded in depth and number. */

import { readScript } from "../read/read-script.ts";
import type { Argument, Known } from "./arguments.ts";
import { insideOf } from "./inside.ts";
import { type ShellStep, type Walked, walk } from "./walk.ts";

export type NamedCommand = {
  /** As a list of programs shows it. */
  readonly name: string;
  readonly step: ShellStep;
  /** What it runs beside itself. */
  readonly inner: readonly NamedCommand[];
  /** Redirections and assignments that stand alone in what it runs. */
  readonly bare: readonly ShellStep[];
  /** It runs code that the text does not show. */
  readonly hides: boolean;
};

/** A shell in a shell in a wrapper … as far as anyone goes. */
const maxDepth = 6;
/** Wrapped commands that are looked at in one text. */
const maxInner = 2_000;

export function commandsOf({ steps }: Walked, known: Known): NamedCommand[] {
  const budget = { left: maxInner };
  return steps.flatMap((step) =>
    step.words.length === 0 ? [] : [commandOf(step, { known, depth: 0, budget })],
  );
}

type NestingContext = { readonly known: Known; readonly depth: number; readonly budget: { left: number } };

function commandOf(step: ShellStep, place: NestingContext): NamedCommand {
  const name = step.words[0]?.name ?? "";
  const inside = insideOf(step);
  if (place.depth >= maxDepth)
    return { name, step, inner: [], bare: [], hides: inside.inner.length > 0 || inside.hides };
  let { hides } = inside;
  const bare: ShellStep[] = [];
  const inner = inside.inner.flatMap((found): NamedCommand[] => {
    const steps =
      "words" in found ? [wordsStep(found.words, step)] : scriptSteps(found.script, step, place.known);
    // A program found in an option runs beside the one that the option belongs to.
    if (!steps || place.budget.left < steps.length) {
      hides = true;
      return [];
    }
    place.budget.left -= steps.length;
    bare.push(...steps.filter(({ words }) => words.length === 0));
    return steps
      .filter(({ words }) => words.length > 0)
      .map((part) => commandOf(part, { ...place, depth: place.depth + 1 }));
  });
  return { name, step, inner, bare, hides };
}

const wordsStep = (words: readonly Argument[], { directories }: ShellStep): ShellStep => ({
  words,
  assignments: [],
  redirections: [],
  directories,
  pipedFrom: [],
  spans: [],
});

function scriptSteps(
  script: string,
  { directories }: ShellStep,
  known: Known,
): readonly ShellStep[] | undefined {
  const read = readScript(script);
  return read.ok ? walk(read.value, { directories, known }).steps : undefined;
}

/** A command and all that it runs. */
export const withInner = (command: NamedCommand): NamedCommand[] =>
  command.inner.length === 0 ? [command] : [command, ...innerOf(command)];

/** All that a command runs. */
export const innerOf = ({ inner }: NamedCommand): NamedCommand[] =>
  inner.length === 0 ? [] : inner.flatMap(withInner);

/** Every step of a text with all that they run, each once: the command of a step of the text is that step. */
export const allSteps = (
  steps: readonly ShellStep[],
  commands: readonly NamedCommand[],
): readonly ShellStep[] =>
  commands.every(({ inner, bare }) => inner.length + bare.length === 0)
    ? steps
    : [
        ...steps,
        ...commands.flatMap(innerOf).map(({ step }) => step),
        ...commands.flatMap(withInner).flatMap(({ bare }) => bare),
      ];
