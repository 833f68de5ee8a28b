/** What is found out about a program that no plain list of options describes. */
import type { Argument } from "../meaning/arguments.ts";
import type { ShellScope } from "../meaning/path-scope.ts";
import type { Directories } from "../meaning/walk.ts";

/** A path that a command reads, in words that still have to be placed. */
export type Use = { readonly path: Argument; readonly shows: "contents" | "names" };

export type ProgramOutcome =
  | {
      readonly kind: "reads";
      readonly uses?: readonly Use[];
      /** The commands that it runs, and that must only read as well. */
      readonly runs?: readonly (readonly Argument[])[];
      /** Why it should be asked about although it only reads. */
      readonly concerns?: readonly string[];
      /** What must not be there: with it, somebody else's settings would act. */
      readonly absent?: readonly string[];
    }
  | { readonly kind: "unproved"; readonly because: string };

export type ProgramContext = { readonly directories: Directories; readonly world: ShellScope };
export type Special = (words: readonly Argument[], surroundings: ProgramContext) => ProgramOutcome;

export const unproved = (because: string): ProgramOutcome => ({ kind: "unproved", because });
export const reads = (uses: readonly Use[]): ProgramOutcome => ({ kind: "reads", uses });
export const contents = (paths: readonly Argument[]): Use[] =>
  paths.map((path) => ({ path, shows: "contents" }));
export const names = (paths: readonly Argument[]): Use[] => paths.map((path) => ({ path, shows: "names" }));

/** A word of which nothing is known. */
export const anything: Argument = {
  kind: "unknown",
  text: "its input",
  prefix: "",
  name: "",
  mayDivide: true,
  isProcess: false,
  variables: [],
  isOpaque: false,
};

/** Words that are known to the last sign; undefined when one is not. */
export function fixedTexts(words: readonly Argument[]): string[] | undefined {
  return words.every(({ kind }) => kind === "fixed") ? words.map(({ text }) => text) : undefined;
}
