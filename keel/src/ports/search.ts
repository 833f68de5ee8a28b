/** Looking for files and for text in them. */
import type { Refused } from "../kernel/result.ts";

/** Why a search came to its end: it had seen everything, or it was stopped and knows only a part. */
export type SearchEnd = "complete" | "time" | "size";

export type FileMatch = { readonly path: string; readonly modifiedMs: number };

export type FileSearchResult =
  | {
      readonly ok: true;
      /** Newest first. */
      readonly paths: readonly string[];
      readonly end: SearchEnd;
      /** What could not be looked into, as the search program says it. */
      readonly problems: readonly string[];
    }
  | Refused;

export type LineMatch = { readonly number: number; readonly text: string; readonly isMatch: boolean };
/** `matches` is the number of matching lines that are known of. */
export type TextMatch = FileMatch & { readonly matches: number; readonly lines: readonly LineMatch[] };

export type TextSearchResult =
  | {
      readonly ok: true;
      /** Sorted by path. */
      readonly files: readonly TextMatch[];
      readonly end: SearchEnd;
      readonly problems: readonly string[];
    }
  | Refused;

export type TextSearchRequest = {
  /** A directory or a file, as `describe` gave it. */
  readonly target: string;
  /** A regular expression of Rust's kind, whose time is linear in the text. */
  readonly pattern: string;
  /** Lines with what surrounds them, names only, or the number of matching lines in each file. */
  readonly mode: "lines" | "files" | "counts";
  readonly before: number;
  readonly after: number;
  readonly letterCase: "exact" | "any";
  /** `across`: a match may go over several lines, and a dot matches their ends. */
  readonly lines: "each" | "across";
  /** `match`: of a matching line only what matched. */
  readonly show: "line" | "match";
  /** Only files whose path fits this glob; with `!` in front, only those that do not. */
  readonly glob?: string | undefined;
  /** Only files of a type that the search program knows, such as `ts`. */
  readonly type?: string | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
};

/**
 * Looks for files and for text in them. Links are not followed, repositories' own files (`.git`) and what ignore files
 * name are left out, unless the search starts inside of them. Paths that come back are absolute.
 */
export interface Search {
  /** Files below `directory` whose path from there fits one of the `rests` of a glob. */
  files(
    request: { directory: string; rests: readonly string[]; timeoutMs: number },
    signal: AbortSignal,
  ): Promise<FileSearchResult>;
  text(request: TextSearchRequest, signal: AbortSignal): Promise<TextSearchResult>;
}
