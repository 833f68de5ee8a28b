/** What a command runs beside itself. */
import type { Argument } from "../meaning/arguments.ts";

/** Either a list of words, or a text for a shell to read. */
export type Inner = { readonly words: readonly Argument[] } | { readonly script: string };

export type Inside = {
  readonly inner: readonly Inner[];
  /** It runs more than its words show. */
  readonly hides: boolean;
};
