/** Small programs that a model writes: they have no file and no network, and call what they are given. */
import type { Json } from "../kernel/json.ts";

export type ProgramCall = (name: string, input: Json) => Promise<InnerOutcome>;

/** What a program gets of a call. */
export type InnerOutcome = { readonly text: string; readonly failed: boolean };

export type ProgramResult = {
  readonly failed: boolean;
  /** What it gave back, or why it did not. */
  readonly words: string;
  /** What it printed. */
  readonly printed: string;
};

export interface Programs {
  /** Settles soon after the signal fires; nothing of the program is left then. Never throws. */
  run(
    program: { readonly code: string; readonly call: ProgramCall },
    signal: AbortSignal,
  ): Promise<ProgramResult>;
}
