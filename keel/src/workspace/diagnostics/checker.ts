/** One who looks after some files: what a language server and a check command have in common. */
import type { Refused } from "../../kernel/result.ts";
import type { DiagnosticFinding } from "./finding.ts";

export type Checker = {
  /** Before a change: what is wrong by now, or nothing when that can be found out later. */
  prepare(file: string, within: AbortSignal): Promise<void>;
  look(
    change: { file: string; before: string | null; after: string },
    within: AbortSignal,
  ): Promise<CheckedChange>;
  close(): Promise<void>;
};

export type CheckedChange =
  | {
      readonly ok: true;
      readonly before: readonly DiagnosticFinding[];
      readonly after: readonly DiagnosticFinding[];
    }
  | Refused;

/** The errors of one text, or why nobody says them. */
export type CheckedText = { readonly ok: true; readonly errors: readonly DiagnosticFinding[] } | Refused;
