/** One who looks after some files: what a language server and a check command have in common. */
import type { Found } from "./found.ts";

export type Hand = {
  /** Before a change: what is wrong by now, or nothing when that can be found out later. */
  prepare(file: string, within: AbortSignal): Promise<void>;
  look(change: { file: string; before: string | null; after: string }, within: AbortSignal): Promise<Looked>;
  close(): Promise<void>;
};

export type Looked =
  | { readonly ok: true; readonly before: readonly Found[]; readonly after: readonly Found[] }
  | { readonly ok: false; readonly why: string };

/** The errors of one text, or why nobody says them. */
export type Outcome =
  | { readonly ok: true; readonly errors: readonly Found[] }
  | { readonly ok: false; readonly why: string };
