/**
 * Programs that only read, each with the options that are known to keep it so. What is not listed is asked about: the
 * option that a new version adds as much as the one that runs a program.
 */
import { systemReaders } from "./system-readers.ts";
import { textReaders } from "./text-readers.ts";

export type Reader = {
  readonly options: string;
  /** What its operands are: files whose contents it shows, files that it only names, or plain text. */
  readonly operands: "contents" | "names" | "text" | "none";
  /** Leading operands that are text, unless one of these options was given. */
  readonly first?: { readonly count: number; readonly unless: readonly string[] };
  readonly most?: number;
  /** One of these options must be given, or it does something else than to read. */
  readonly needs?: readonly string[];
  /** None of its options does harm, so that names which the run finds may be any. */
  readonly isOpen?: boolean;
};

export function readerOf(program: string): Reader | undefined {
  if (Object.hasOwn(textReaders, program)) return textReaders[program];
  return Object.hasOwn(systemReaders, program) ? systemReaders[program] : undefined;
}
