/** What hooks outside of the process need from the world: a program that is run once, and an address that is told. */

export type ProgramRequest = {
  /** Looked for on the path; never put together with its arguments. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Beside what every command of the session sees. */
  readonly env: Readonly<Record<string, string>>;
  /** What it can read from its standard input; it need not. */
  readonly input: string;
  /** Of each stream; what comes after is dropped. */
  readonly maxBytes: number;
  /** Looks at what it has printed so far. A number: it is left alone and may go on for so many milliseconds. */
  readonly leaves?: (stdout: string) => number | undefined;
  /** Told now and then what it has printed so far, where that is more than before. */
  readonly heard?: (said: { readonly stdout: string; readonly stderr: string }) => void;
};

export type ProgramEnd = {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** More came than was kept. */
  readonly cut: boolean;
  /** It goes on by itself. */
  readonly left?: boolean;
};

/**
 * Settles when the main process has ended, even if another holds its streams. Throws when it cannot be started. An
 * aborted signal ends it and all that it started.
 */
export type RunProgram = (request: ProgramRequest, signal: AbortSignal) => Promise<ProgramEnd>;

export type PostRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly maxBytes: number;
};

/** Throws a sentence when the address is refused or cannot be reached; follows no redirect. */
export type PostJson = (
  request: PostRequest,
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly body: string; readonly cut: boolean }>;
