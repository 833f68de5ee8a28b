/**
 * Programs that only read, each with the options that are known to keep it so. What is not listed is asked about: the
 * option that a new version adds as much as the one that runs a program.
 */
import type { ReadOnlyProgram } from "./reader.ts";
import { systemReaders } from "./system-readers.ts";
import { textReaders } from "./text-readers.ts";

export function readerOf(program: string): ReadOnlyProgram | undefined {
  if (Object.hasOwn(textReaders, program)) return textReaders[program];
  return Object.hasOwn(systemReaders, program) ? systemReaders[program] : undefined;
}
