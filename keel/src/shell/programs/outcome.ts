/** What is found out about a program that no plain list of options describes. */
import type { Argument } from "../meaning/arguments.ts";
import type { ShellScope } from "../meaning/path-scope.ts";
import type { Directories } from "../meaning/walk.ts";

/** A path that a command reads, in words that still have to be placed. */
export type Use = { readonly path: Argument; readonly shows: "contents" | "names" };

/** Something that the proof of a command rests on, and that only a look at the place can tell. */
export type PlaceDemand =
  /** None of these names stands in the folder, or, reaching up, in any folder above it. */
  | {
      readonly kind: "absent";
      readonly folder: string;
      readonly names: readonly string[];
      readonly reach: "here" | "up";
      readonly because: string;
    }
  /** The repository that git finds from this folder is the one of the project, or there is none. */
  | { readonly kind: "repository"; readonly folder: string };

export type ProgramOutcome =
  | {
      readonly kind: "reads";
      readonly uses?: readonly Use[];
      /** The commands that it runs, and that must only read as well. */
      readonly runs?: readonly (readonly Argument[])[];
      /** Why it should be asked about although it only reads. */
      readonly concerns?: readonly string[];
      /** What must hold of the place: otherwise somebody else's programs or settings would act. */
      readonly place?: readonly PlaceDemand[];
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
