/**
 * What the engine needs from the world. Adapters implement these; the engine knows nothing else of the outside.
 * Every function that waits takes a signal and settles soon after it fires.
 */

import type { FaultCode } from "../kernel/faults.ts";
import type { Stream } from "../kernel/one-by-one.ts";
import type { Durable, Stop } from "../protocol/event.ts";
import type { Block, Message } from "../protocol/message.ts";
import type { ThinkingMode } from "../protocol/settings.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import type { ModelInfo, Usage } from "../protocol/usage.ts";
import type { Diagnostics } from "./diagnostics.ts";

/** Time. `now` is the wall clock for people; waits and durations use `monotonicMs`, which never jumps. */
export interface Clock {
  now(): number;
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when the signal fires. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Ids {
  /** A UUID of version 7. */
  uuid(): string;
  /** A number in [0, 1), for jitter only. */
  random(): number;
}

/** A whole request to a model: a pure projection of the log. */
export type ModelRequest = {
  readonly model: string;
  readonly system: readonly string[];
  readonly tools: readonly ToolSpec[];
  /** Alternation of roles is not promised here: neighbours of one role are joined by the adapter. */
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number;
  readonly thinking: ThinkingMode;
  readonly effort?: string | undefined;
  /** Requests of one session share this, so that a provider can route them to the same cache. */
  readonly session: string;
  /** In place of `session`, where a request starts like those of another one. */
  readonly cacheKey?: string | undefined;
};

/**
 * What a model sends. Exactly one `end` comes last, or the stream throws a Fault; never both, and nothing after.
 * Keep-alives are not events: silence counts although bytes flow.
 */
export type ModelEvent =
  | { type: "start"; providerId?: string | undefined; model: string; usage?: Usage | undefined }
  | { type: "block.start"; index: number; block: Block }
  | { type: "text"; index: number; text: string }
  | { type: "thinking"; index: number; text: string }
  | { type: "signature"; index: number; text: string }
  | { type: "call"; index: number; json: string }
  | { type: "block.end"; index: number; block: Block }
  | { type: "end"; stop: Stop; usage: Usage; content: Block[]; providerId?: string | undefined };

export type ModelStream = Stream<ModelEvent>;

export interface Model {
  /** What is known about a model, from data only. An unknown one gets careful defaults and no prices. */
  info(model: string): ModelInfo;
  /** Writes down what the next `stream` will be given, while there is time for it. Never throws. */
  prepare?(request: ModelRequest): void;
  /**
   * Streams one reply. Throws a Fault from the table: `retryable(code)` says which may be tried again; its detail may
   * hold `retryAfterMs` and `status`. An aborted signal ends it with the fault `aborted`.
   */
  stream(request: ModelRequest, signal: AbortSignal): ModelStream;
}

/** Something about a log that a person should know. It has the shape of a `notice.raised` event. */
export type LogNotice = {
  readonly level: "info" | "warning";
  readonly text: string;
  readonly code?: FaultCode;
};

/** Work that may be done while the disk works; where nobody calls it, nothing is lost. Never throws. */
export type Meanwhile = () => void;

/** What the events up to `seq` folded to. Missing at any doubt that it was by this code and of these bytes. */
export type KeptFold = { readonly seq: number; readonly texts: readonly string[] };
export type WriteTexts = () => readonly string[] | Promise<readonly string[]>;

/** The open log of one session, held by one writer. */
export interface Log {
  readonly session: string;
  /** The highest seq on disk, also of a record that this version does not know. The next append goes on from it. */
  readonly lastSeq: number;
  /** At most one warning about damage and one about saving. Complete once `read` has run from the start. */
  readonly notices: readonly LogNotice[];
  /**
   * On disk when it resolves; all or, after a crash, a prefix. Throws `log_unwritable` with nothing acknowledged;
   * what was waiting behind a failed append is refused with it, and a later append may work again.
   */
  append(events: readonly Durable[], meanwhile?: Meanwhile): Promise<void>;
  /** The events after `seq` (0: all), in order. */
  read(after?: number): Stream<Durable>;
  /**
   * Lets go of all but the lease until it is read or appended to. False, and nothing is changed, while it is in use.
   * Absent where nothing would be gained.
   */
  rest?(): Promise<boolean>;
  /** What was kept of an earlier fold of it; told once. */
  kept?(): KeptFold | undefined;
  /** Keeps what all of it folds to, where that is worth its room. Never throws. */
  keep?(write: WriteTexts): Promise<void>;
  /** Gives the lease back. */
  close(): Promise<void>;
}

export type SessionInfo = {
  readonly id: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly bytes: number;
  readonly title?: string | undefined;
  readonly tag?: string | undefined;
  readonly archived?: boolean | undefined;
  /** The start of the first thing a person said. */
  readonly firstInput?: string | undefined;
  readonly forkedFrom?: { readonly session: string; readonly seq: number } | undefined;
  readonly parent?: { readonly session: string; readonly callId: string } | undefined;
};

/** Where logs live. One conformance suite (`testing/store-suite`) holds for every store. */
export interface Store {
  /** Makes a new session's log; that of an agent stands with what belongs to its parent. Throws `session_busy` when the id is taken. */
  create(id: string, place: { cwd: string; parent?: string | undefined }): Promise<Log>;
  /** Opens for writing. Throws `session_unknown`, or `session_busy` while another process holds it. */
  open(id: string): Promise<Log>;
  /**
   * Reads without a lease and rewrites nothing; nothing runs because a session is only read. Throws `session_unknown`.
   * `tell` hears of damage once, at the end.
   */
  read(id: string, after?: number, tell?: (notice: LogNotice) => void): AsyncIterable<Durable>;
  /**
   * Newest change first. Needs no full read. Agents are listed only when their `parent` is named. `only`: one session,
   * and nothing else is looked at.
   */
  list(filter?: {
    only?: string | undefined;
    cwd?: string | undefined;
    limit?: number | undefined;
    parent?: string | undefined;
  }): Promise<SessionInfo[]>;
  /** A copy of the log up to and with `seq` (all when absent), under a new id. */
  fork(id: string, copy: { id: string; upTo?: number | undefined }): Promise<void>;
  /** With all that belongs to it, its agents included. */
  delete(id: string): Promise<void>;
  /** Where a person finds the log, if it is somewhere. */
  location(id: string): string | undefined;
  /** Keeps an output that is too long for the model, beside the log. */
  spill(id: string, name: string, text: string): Promise<{ path: string; bytes: number }>;
}

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
  /** It is one of Keel's own files, wherever they are kept. */
  readonly own?: boolean | undefined;
  /** Why nothing can be done with it at all (a NUL byte, a loop of links, /proc …). Such a path lies in no root. */
  readonly problem?: string | undefined;
};

export type FileContent = { readonly bytes: Uint8Array; readonly stamp: string; readonly path: string };

export interface Files {
  describe(path: string): Promise<PathFacts>;
  /** Expected failures are values with a sentence for the model. */
  read(
    path: string,
    limits: { mostBytes: number },
  ): Promise<{ ok: true; file: FileContent } | { ok: false; why: string }>;
  /**
   * Atomic: a temporary file and a rename in the same directory. Keeps the mode of an existing file and makes missing
   * directories. Takes a path that `describe` gave: one that passes a link by now is refused. With a basis it is
   * also refused unless the file still has that stamp (null: unless it is still missing).
   */
  write(
    path: string,
    bytes: Uint8Array,
    basis?: { stamp: string | null },
  ): Promise<{ ok: true; stamp: string; path: string } | { ok: false; why: string }>;
}

export type ShellChunk = { readonly text: string };
export type ShellOutcome = {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly interrupted: boolean;
  /** Head and tail of both streams in their order, bounded. */
  readonly output: string;
  /** Bytes that did not fit into `output`. */
  readonly omittedBytes: number;
};

export type ShellCommand = {
  readonly text: string;
  readonly cwd: string;
  /** `Infinity`: until it ends by itself or is stopped. */
  readonly timeoutMs: number;
  readonly mostBytes: number;
};

export interface Shell {
  /**
   * Yields output as it comes and returns when the main process has ended, even if a child holds the pipe. Whoever
   * stops listening ends the command.
   */
  run(command: ShellCommand, signal: AbortSignal): AsyncGenerator<ShellChunk, ShellOutcome>;
  /** Starts a command that nobody needs to listen to. One that cannot be started is over at once. */
  start(command: ShellCommand): Promise<ShellRun>;
}

/** A command that was started, and lives until it ends or is stopped. */
export interface ShellRun {
  /** Settles when the main process has ended and what it wrote was read. Never rejects. */
  readonly over: Promise<ShellOutcome>;
  /** Output as it comes, until it is over. Whoever stops listening ends nothing. */
  follow(): AsyncGenerator<ShellChunk, void>;
  /** Head and tail of what came so far. */
  output(): string;
  /** From now on the file gets all that came and will come. */
  saveTo(file: string): void;
  /** From now on there is no time limit. */
  goOn(): void;
  /** Ends it and all that it started; the outcome says `interrupted`, unless it was over before. */
  stop(): Promise<void>;
  /** What it left running. Known when it is over. */
  left(): LeftBehind | undefined;
}

/** Processes that a command left running when it ended. */
export interface LeftBehind {
  /** How many there were when the command ended. */
  readonly processes: number;
  /** Settles when the last one has ended, with what kept the file from being whole, if anything did. Never rejects. */
  readonly over: Promise<string | undefined>;
  output(): string;
  saveTo(file: string): void;
  stop(): Promise<void>;
}

/** Why a search came to its end: it had seen everything, or it was stopped and knows only a part. */
export type SearchEnd = "complete" | "time" | "size";

export type FoundFile = { readonly path: string; readonly modifiedMs: number };

export type FilesFound =
  | {
      readonly ok: true;
      /** Newest first. */
      readonly paths: readonly string[];
      readonly end: SearchEnd;
      /** What could not be looked into, as the search program says it. */
      readonly problems: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

export type FoundLine = { readonly number: number; readonly text: string; readonly isMatch: boolean };

export type TextFound =
  | {
      readonly ok: true;
      /** Sorted by path. `matches` is the number of matching lines that are known of. */
      readonly files: readonly (FoundFile & {
        readonly matches: number;
        readonly lines: readonly FoundLine[];
      })[];
      readonly end: SearchEnd;
      readonly problems: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

export type TextWish = {
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
  readonly mostBytes: number;
};

/**
 * Looks for files and for text in them. Links are not followed, repositories' own files (`.git`) and what ignore files
 * name are left out, unless the search starts inside of them. Paths that come back are absolute.
 */
export interface Search {
  /** Files below `directory` whose path from there fits one of the `rests` of a glob. */
  files(
    wish: { directory: string; rests: readonly string[]; timeoutMs: number },
    signal: AbortSignal,
  ): Promise<FilesFound>;
  text(wish: TextWish, signal: AbortSignal): Promise<TextFound>;
}

/** The text of documents that are not text themselves. */
export interface Documents {
  /** Pages count from 1; `last` may lie behind the end. Bounded in time and memory, whatever the file is made to do. */
  pdfText(
    wish: { bytes: Uint8Array; first: number; last: number },
    signal: AbortSignal,
  ): Promise<
    | { readonly ok: true; readonly totalPages: number; readonly pages: readonly string[] }
    | { readonly ok: false; readonly why: string }
  >;
}

/** A piece of a shell text as a grammar sees it: plain data. Only named pieces, and what is missing. */
export type SyntaxNode = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  /** The grammar does not fit here. */
  readonly isBroken: boolean;
  readonly children: readonly SyntaxNode[];
};

/** A second reader of shell texts, independent of the engine's own. Loads what it needs at the first call. */
export interface Grammar {
  /** Undefined when the text is too long or too large a tree: then it counts as not understood. Never throws. */
  parse(text: string): Promise<SyntaxNode | undefined>;
}

/** The place where a session works. */
export interface Workspace {
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly files: Files;
  readonly search: Search;
  readonly documents: Documents;
  readonly shell: Shell;
  /** Where it is left out nobody looks at what was changed. */
  readonly diagnostics?: Diagnostics | undefined;
  /** What commands are judged by. Where it is left out no command goes without a question. */
  readonly commands?: CommandGround | undefined;
}

export type CommandGround = {
  readonly grammar: Grammar;
  /** What `~` and `$HOME` are for commands. */
  readonly home: string;
  /** Whether the settings of the repository may act: git runs programs that they name. */
  readonly isTrusted: boolean;
};

/** A file as it was: its content by name, null where there was none, or lost where it cannot be kept, and why. */
export type KeptFile =
  | { readonly path: string; readonly blob: string | null }
  | { readonly path: string; readonly lost: true; readonly why?: string | undefined };

export type WantedFile = { readonly path: string; readonly blob: string | null };
export type FileChange = { readonly path: string; readonly insertions: number; readonly deletions: number };

/** Keeps the contents of files, so that what a turn changed can be taken back. Never throws. */
export interface Checkpoints {
  /** Keeps one file as it is now. */
  keep(path: string): Promise<KeptFile>;
  /** Takes stock of the workspace before commands change it. Once for each key; a second call joins the first. */
  prepare(key: string, signal: AbortSignal): Promise<void>;
  /** What changed since the last stock-taking, as it was before. */
  changes(signal: AbortSignal): Promise<readonly KeptFile[]>;
  /** The stamp of a file as it is now, null where there is none. */
  stamp(path: string): Promise<string | null>;
  /** What restoring would change. */
  preview(files: readonly WantedFile[]): Promise<FileChange[]>;
  /** Puts a file back, or removes it. Returns why not, or nothing when it is done. Follows no link. */
  restore(file: WantedFile): Promise<string | undefined>;
  close(): Promise<void>;
}
