/** Commands: running them, and what they are judged by. */
import type { Violation } from "./sandbox.ts";

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
  /** Where the shell stood at its end, without links; undefined where nobody asked or it did not say so. */
  readonly endFolder?: string | undefined;
  /** It ran inside the sandbox; what it was refused there, as far as anybody saw. */
  readonly violations?: readonly Violation[] | undefined;
};

export type ShellCommand = {
  readonly text: string;
  readonly cwd: string;
  /** `Infinity`: until it ends by itself or is stopped. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Whether the outcome is to say where the shell stood at its end. */
  readonly endFolder?: "asked" | undefined;
  /** Somebody may watch it in a terminal of their own editor, where there is one. */
  readonly terminal?: "welcome" | undefined;
  /** Where commands are confined, this one is not: somebody has said so. */
  readonly sandbox?: "outside" | undefined;
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
  /** The terminal of an editor that it runs in, by the editor's own id. */
  readonly terminal?: string | undefined;
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

/** What of the environment of commands says which programs they find, and what those load. */
export type ProgramSearch = {
  /** The folders of PATH as they stand there, and where their links lead. */
  readonly folders: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
};

/** The repository that git would use in a folder. */
export type RepositoryFinding =
  | { readonly kind: "none" }
  /** That of the project in which the session works. */
  | { readonly kind: "own" }
  /** Another one, which somebody made there or cloned. */
  | { readonly kind: "other"; readonly mark: string }
  /** What git takes for a repository though no clone makes it so: a bare one, a link, a file that leads elsewhere. */
  | { readonly kind: "planted"; readonly mark: string };

/** Looks at the place where a command would run, at the moment of the decision. Follows no link; never throws. */
export interface CommandPlace {
  /** The first of these names that stands in the folder or, reaching up, above it. A link counts, wherever it leads. */
  find(folder: string, names: readonly string[], reach: "here" | "up"): Promise<string | undefined>;
  /** Found as git finds it. */
  repository(folder: string): Promise<RepositoryFinding>;
  search(): Promise<ProgramSearch>;
}

export type CommandJudging = {
  readonly grammar: Grammar;
  /** What `~` and `$HOME` are for commands. */
  readonly home: string;
  /** Whether the settings of the repository may act: git runs programs that they name. */
  readonly isTrusted: boolean;
  readonly place: CommandPlace;
};
