/** Contents of files, kept so that what a turn changed can be taken back. */

/** A file as it was: its content by name, null where there was none, or lost where it cannot be kept, and why. */
export type FileBackup =
  | { readonly path: string; readonly blob: string | null }
  | { readonly path: string; readonly lost: true; readonly why?: string | undefined };

export type WantedFile = { readonly path: string; readonly blob: string | null };

export type FileChange = { readonly path: string; readonly insertions: number; readonly deletions: number };

/** Keeps the contents of files, so that what a turn changed can be taken back. Never throws. */
export interface Checkpoints {
  /** Keeps one file as it is now. */
  backUp(path: string): Promise<FileBackup>;
  /** Takes stock of the workspace before commands change it. Once for each key; a second call joins the first. */
  prepare(key: string, signal: AbortSignal): Promise<void>;
  /** What changed since the last stock-taking, as it was before. */
  changes(signal: AbortSignal): Promise<readonly FileBackup[]>;
  /** The stamp of a file as it is now, null where there is none. */
  stamp(path: string): Promise<string | null>;
  /** What restoring would change. */
  preview(files: readonly WantedFile[]): Promise<FileChange[]>;
  /** Puts a file back, or removes it. Returns why not, or nothing when it is done. Follows no link. */
  restore(file: WantedFile): Promise<string | undefined>;
  close(): Promise<void>;
}
