/** A program that only reads, as long as it is given no other options than these. */
export type ReadOnlyProgram = {
  readonly options: string;
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

const version = "--help --version";

/** Makes rows of programs that have something in common; each also says what it is and how it is used. */
export const rowOf =
  (operands: ReadOnlyProgram["operands"], common: Partial<ReadOnlyProgram> = {}) =>
  (options = "", more: Partial<ReadOnlyProgram> = {}): ReadOnlyProgram => ({
    options: `${options} ${version}`,
    operands,
    ...common,
    ...more,
  });
