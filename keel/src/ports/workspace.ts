/**
 * The place where a session works, and the files in it. Every function that waits takes a signal and settles soon after
 * it fires.
 */
import type { Refused } from "../kernel/result.ts";
import type { Diagnostics, Formatter } from "./diagnostics.ts";
import type { CommandSandbox } from "./sandbox.ts";
import type { Search } from "./search.ts";
import type { CommandJudging, Shell } from "./shell.ts";

/** What a path is, decided on the opened object and not on its name. */
export type PathFacts = {
  /** Absolute, every link resolved as far as the path exists. */
  readonly path: string;
  readonly exists: boolean;
  readonly kind: "file" | "directory" | "other" | "missing";
  /** The workspace root that it lies in, if any. */
  readonly root: string | undefined;
  readonly links: boolean;
  /** The links that lead to it, each as it stands in its directory. */
  readonly passed?: readonly string[] | undefined;
  /** It is one of Keel's own files, wherever they are kept: it lies in no root, unless this session was given it by name. */
  readonly own?: boolean | undefined;
  /** The setting that names it as a program, as a person reads it. */
  readonly named?: string | undefined;
  /** The same for something below a directory. */
  readonly namedBelow?: string | undefined;
  /** It is the settings file of a folder that git may take for a repository, since a HEAD stands beside it. */
  readonly besideHead?: boolean | undefined;
  /** Why nothing can be done with it at all (a NUL byte, a loop of links, /proc …). Such a path lies in no root. */
  readonly problem?: string | undefined;
};

/** One name that a pattern finds. */
export type FoundName = {
  /** Absolute; links in it are not resolved. */
  readonly path: string;
  /** No link leads to it, it is none itself and none of Keel's own files: there is nothing more to find out about it. */
  readonly isPlain: boolean;
};

export type FileContent = { readonly bytes: Uint8Array; readonly stamp: string; readonly path: string };

export interface Files {
  describe(path: string): Promise<PathFacts>;
  /**
   * What bash would make of a pattern at this moment, in any of its usual locales: every name that it may find, and
   * itself where a file has that very name. Absolute, with a backslash before signs that stand for themselves. Undefined
   * when that cannot be told surely: there is too much to look at, or a folder cannot be read.
   */
  expand(pattern: string): Promise<readonly FoundName[] | undefined>;
  /** Expected failures are values with a sentence for the model. */
  read(path: string, limits: { maxBytes: number }): Promise<{ ok: true; file: FileContent } | Refused>;
  /**
   * Atomic: a temporary file and a rename in the same directory. Keeps the mode of an existing file and makes missing
   * directories. Takes a path that `describe` gave: one that passes a link by now is refused. With a basis it is
   * also refused unless the file still has that stamp (null: unless it is still missing).
   */
  write(
    path: string,
    bytes: Uint8Array,
    basis?: { stamp: string | null },
  ): Promise<{ ok: true; stamp: string; path: string } | Refused>;
}

/** The text of documents that are not text themselves. */
export interface Documents {
  /** Pages count from 1; `last` may lie behind the end. Bounded in time and memory, whatever the file is made to do. */
  pdfText(
    request: { bytes: Uint8Array; first: number; last: number },
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly totalPages: number; readonly pages: readonly string[] } | Refused>;
}

/** The place where a session works. */
export interface Workspace {
  readonly cwd: string;
  readonly roots: readonly string[];
  /** Keel's own folders, which are outside whatever the roots are. */
  readonly own?: readonly string[] | undefined;
  readonly files: Files;
  readonly search: Search;
  readonly documents: Documents;
  readonly shell: Shell;
  /** Where it is left out commands are not confined. */
  readonly sandbox?: CommandSandbox | undefined;
  /** Where it is left out nobody looks at what was changed. */
  readonly diagnostics?: Diagnostics | undefined;
  /** Absent where no setting names one. */
  readonly formatter?: Formatter | undefined;
  /** What commands are judged by. Where it is left out no command goes without a question. */
  readonly commands?: CommandJudging | undefined;
}
