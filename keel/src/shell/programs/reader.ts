/**
 * What of the place in which it runs a program obeys, and how that is known. A program of which nobody has found that out
 * is no reader: it may be a shim that a file of the folder replaces, or load a plugin that such a file names.
 */
export type Obeys = {
  /**
   * Files that may configure or replace it, in its folder or above. With one of them it is no reader any more; without
   * any it is one where the folder is trusted, since no list of shims is whole.
   */
  readonly files?: readonly string[];
  /** Variables that name what it loads; they count where their value leads into the folder. */
  readonly variables?: readonly string[];
  /** Programs that it starts by their names. */
  readonly starts?: readonly string[];
  /** How that is known. */
  readonly source: string;
};

/** A program that only reads, as long as it is given no other options than these. */
export type ReadOnlyProgram = {
  readonly options: string;
  readonly obeys: Obeys;
  /** What its operands are: files whose contents it shows, files that it only names, or plain text. */
  readonly operands: "contents" | "names" | "text" | "none";
  /** Leading operands that are text, unless one of these options was given. */
  readonly first?: { readonly count: number; readonly unless: readonly string[] };
  readonly most?: number;
  /** One of these options must be given, or it does something else than to read. */
  readonly needs?: readonly string[];
  /** With one of the first options, and without one of the second, it goes where links lead. */
  readonly follows?: { readonly with: readonly string[]; readonly unless: readonly string[] };
  /** An operand that starts with `@` is a file of further words. */
  readonly takesLists?: boolean;
  /** None of its options does harm, so that names which the run finds may be any. */
  readonly isOpen?: boolean;
};

/** Nothing of the folder. */
export const nothingBy = (source: string): Obeys => ({ source });

export const coreutils = nothingBy(
  "GNU coreutils manual, environment of each program: locale, sizes, colours",
);
export const utilLinux = nothingBy("util-linux manual pages: no file is read at the start");
export const procps = nothingBy("procps-ng manual pages: only /proc is read");
export const bashBuiltin = nothingBy("bash manual, shell builtin commands");

/** Files of version managers whose shims may stand for any program. */
export const shimFiles: readonly string[] =
  ".tool-versions .mise.toml mise.toml .mise.local.toml mise.local.toml .rtx.toml .mise mise .config/mise .config/mise.toml .prototools .volta".split(
    " ",
  );
export const shimSource =
  "asdf: a version may be path:…; mise and proto: configuration; volta: .volta/hooks.json names programs";

const version = "--help --version";

/** Makes rows of programs that have something in common; each also says what it is and how it is used. */
export const rowOf =
  (operands: ReadOnlyProgram["operands"], obeys: Obeys, common: Partial<ReadOnlyProgram> = {}) =>
  (options = "", more: Partial<ReadOnlyProgram> = {}): ReadOnlyProgram => ({
    obeys,
    options: `${options} ${version}`,
    operands,
    ...common,
    ...more,
  });
