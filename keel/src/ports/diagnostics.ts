/** The port through which an edit learns what it broke: language servers, checks, or nobody. */

/** Says what a change to a file broke. Never throws; everything takes its bounded time. */
export interface Diagnostics {
  /** Before a change; `before` is null for a file that is not there yet. Undefined where nobody looks after such files. */
  watch(file: { path: string; before: string | null }, signal: AbortSignal): Promise<FileWatch | undefined>;
  close(): Promise<void>;
}

export interface FileWatch {
  /** After the change, when the file holds `after`. */
  newErrors(after: string, signal: AbortSignal): Promise<NewErrors>;
}

export type NewErrors = {
  /** Errors that were not there before, each a line. */
  readonly errors: readonly string[];
  /** How many more there are. */
  readonly omitted: number;
  /** Who could not say, and why. */
  readonly notes: readonly string[];
};

/** Brings a file into the form that a person wants, after a change of it. Never throws; takes its bounded time. */
export interface Formatter {
  /** Undefined where nobody forms such files. */
  format(path: string, signal: AbortSignal): Promise<FormatOutcome | undefined>;
}

export type FormatOutcome =
  | { readonly ok: true; readonly by: string }
  | { readonly ok: false; readonly by: string; readonly why: string };
