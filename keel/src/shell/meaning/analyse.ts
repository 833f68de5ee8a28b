/**
 * A shell text, understood as far as it can be: the programs that it names, what those run in turn, what it may do,
 * and whether it is proved to only read. Pure, total and linear; whatever is in doubt makes the answer stricter.
 */

import { failed, type Result } from "../../kernel/result.ts";
import { hiddenCharacters } from "../../kernel/text.ts";
import type { SyntaxNode } from "../../ports/shell.ts";
import { shells } from "../programs/wrappers.ts";
import { readScript } from "../read/read-script.ts";
import type { ParsedScript } from "../read/syntax.ts";
import { allSteps, commandsOf, type NamedCommand, withInner } from "./commands.ts";
import { changedDirectory } from "./directory.ts";
import { type Effects, effectsOf } from "./effects.ts";
import type { ShellScope } from "./path-scope.ts";
import { type Proof, prove, provedByItself } from "./prove.ts";
import { differenceOf } from "./second-opinion.ts";
import { type Doubt, type ShellStep, walk } from "./walk.ts";

export type Analysis =
  /** It could not be read: nothing is known, and nothing is assumed. */
  | { readonly kind: "unread"; readonly because: string }
  | {
      readonly kind: "read";
      readonly commands: readonly NamedCommand[];
      /** Every step, also those without a program. */
      readonly steps: readonly ShellStep[];
      /** These with all that they run, each once. */
      readonly allSteps: readonly ShellStep[];
      /** Why the text as a whole cannot be approved by what its commands are. */
      readonly doubts: readonly Doubt[];
      effects(): Effects;
      /** One for each step, in their order. */
      readonly proofs: readonly Proof[];
      readonly functions: readonly string[];
    };

export type ShellContext = ShellScope & {
  /** Where the command starts. */
  readonly cwd: string;
};

/** A text longer than this is never approved by what it is made of. */
export const maxApproved = 10_000;
/** Neither is one of more commands in a row: nobody writes so many so short ones. */
const maxCommands = 1_000;
/** A text longer than this is not even looked at. */
export const maxRead = 1_000_000;

/** A text as our own reader takes it. */
export type ScriptReading = { readonly text: string; readonly script: Result<ParsedScript, string> };

export const read = (text: string): ScriptReading => ({ text, script: scriptOf(text) });

function scriptOf(text: string): ScriptReading["script"] {
  if (text.length > maxRead) return failed(`it is longer than ${maxRead} characters`);
  if (text.includes("\0") || !text.isWellFormed()) return failed("it is not valid text");
  return readScript(text);
}

/**
 * What the first reader cannot read or what is too long is never approved, so the second is not asked: there are such
 * texts that it would need seconds for.
 */
export const wantsSecondReader = ({ text, script }: ScriptReading): boolean =>
  script.ok && text.length <= maxApproved && script.value.items.length <= maxCommands;

/** The tree is a second reader's opinion of the same text: without it nothing is approved. */
export const analyse = (text: string, context: ShellContext, tree: SyntaxNode | undefined): Analysis =>
  analyseReading(read(text), context, tree);

export function analyseReading(
  { text, script }: ScriptReading,
  context: ShellContext,
  tree: SyntaxNode | undefined,
): Analysis {
  if (!script.ok) return { kind: "unread", because: script.error };
  const known = { home: context.home, variables: knownVariables(text, context) };
  const walked = walk(script.value, { directories: [context.cwd], known });
  const commands = commandsOf(walked, known);
  const all = allSteps(walked.steps, commands);
  const doubts: Doubt[] = [...textDoubts(text), ...walked.doubts];
  if (script.value.items.length > maxCommands)
    doubts.push({ kind: "caution", text: `it has more than ${maxCommands} commands in a row` });
  else if (text.length <= maxApproved) {
    const difference = tree
      ? differenceOf(tree, { text, steps: walked.steps })
      : "no second reader has seen it";
    if (difference !== undefined) doubts.push({ kind: "caution", text: difference });
  }
  return {
    kind: "read",
    commands,
    steps: walked.steps,
    allSteps: all,
    doubts,
    // Only screens want to know them.
    effects: () => withForkBomb(text, effectsOf(all, commands, context)),
    proofs: provedAll(walked.steps, commands, context),
    functions: walked.functions,
  };
}

function textDoubts(text: string): Doubt[] {
  const hidden = hiddenCharacters(text);
  const shown = hidden.slice(0, 5).join(" ");
  return [
    ...(text.length > maxApproved ? [`it is longer than ${maxApproved} characters`] : []),
    // In some character sets the last byte of such a letter and the sign behind it are one letter.
    ...(/[^\0-\x7f][\\`|]/.test(text)
      ? ["a sign of the shell stands behind a letter that is not ASCII"]
      : []),
    ...(hidden.length > 0 ? [`it holds characters that do not show as they are: ${shown}`] : []),
  ].map((doubt) => ({ kind: "caution", text: doubt }));
}

/** Values that the harness itself gives, unless the text names the variable as something to set. */
function knownVariables(text: string, { home, cwd }: ShellContext): Map<string, string> {
  return new Map([
    ...(setsHome.test(text) ? [] : [["HOME", home] as const]),
    ...(setsFolder.test(text) ? [] : [["PWD", cwd] as const]),
  ]);
}

const setsHome = /(?<![$\w{])HOME(?!\w)/;
const setsFolder = /(?<![$\w{])PWD(?!\w)/;

/** A text of more commands is not proved: nobody asks for so many to be read without a question. */
const maxProved = 500;

function provedAll(
  steps: readonly ShellStep[],
  commands: readonly NamedCommand[],
  scope: ShellScope,
): Proof[] {
  if (steps.length > maxProved) {
    const unproved: Proof = { ok: false, because: `it has more than ${maxProved} commands` };
    return steps.map(() => unproved);
  }
  const bySteps = new Map(commands.map((command) => [command.step, command]));
  return steps.map((step) => {
    const command = bySteps.get(step);
    return command && isShellWithText(command) ? proveShell(command, scope) : prove(step, scope);
  });
}

const isShellWithText = ({ step, inner, hides }: NamedCommand): boolean =>
  step.words[0] !== undefined &&
  step.words[0].kind === "fixed" &&
  shells.has(step.words[0].text) &&
  inner.length > 0 &&
  // A script that it finds by its name may be anything.
  inner.every(({ step: { words } }) => words.every((word) => !step.words.includes(word))) &&
  !hides;

/** `bash -c '…'` only reads if everything in it does; but it is another shell, so it is asked about. */
function proveShell(command: NamedCommand, scope: ShellScope): Proof {
  const own = prove({ ...command.step, words: [] }, scope);
  const proofs = [own, ...command.inner.map(({ step }) => prove(step, scope))];
  const unproved = proofs.find(({ ok }) => !ok);
  return unproved ?? { ...provedByItself, concerns: ["it runs in another shell"] };
}

/** A function that calls itself twice, for ever. */
const withForkBomb = (text: string, effects: Effects): Effects =>
  text.includes("()") &&
  /([^\s(){}|&;]{1,64})\s{0,8}\(\)\s{0,8}\{[^}]{0,64}?\1\s{0,8}\|\s{0,8}\1/.test(text.slice(0, maxApproved))
    ? { ...effects, destructive: true }
    : effects;

/** The names of the programs in the text, one for each simple command. */
export const programsOf = (analysis: Analysis): string[] =>
  analysis.kind === "read" ? analysis.commands.map(({ name }) => name) : [];

/** The names of the programs that those run in turn. */
export const wrappedOf = (analysis: Analysis): string[] =>
  analysis.kind === "read"
    ? analysis.commands.flatMap(({ inner }) => inner.flatMap(withInner).map(({ name }) => name))
    : [];

/** It changes nothing, whatever it reads. */
export const onlyReads = (analysis: Analysis): boolean =>
  analysis.kind === "read" &&
  analysis.steps.length > 0 &&
  analysis.proofs.every(({ ok }) => ok) &&
  analysis.doubts.every(({ kind }) => kind !== "meaning");

/**
 * Whether a text only reads as far as one reader tells: enough to run it beside others if the shell stays where it is,
 * not to run it unasked.
 */
export function looksReadOnly(text: string): "stays" | "moves" | false {
  if (text.length > maxApproved || text.includes("\0") || !text.isWellFormed()) return false;
  const script = readScript(text);
  if (!script.ok || hiddenCharacters(text).length > 0) return false;
  const context = { home: "/", roots: ["/"], isTrusted: true };
  const { steps, doubts } = walk(script.value, {
    directories: ["/"],
    known: { home: "/", variables: new Map() },
  });
  const reads = steps.length > 0 && doubts.length === 0 && steps.every((step) => prove(step, context).ok);
  return (
    reads && (steps.some(({ words }) => changedDirectory(words, ["/"], "/") !== "stays") ? "moves" : "stays")
  );
}
