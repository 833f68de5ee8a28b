/** Interactive programs on terminals of their own, for a model that types and reads the screen. */

export interface LiveTerminals {
  /** Throws what keeps it from starting. */
  start(command: LiveCommand): Promise<LiveTerminal>;
  find(id: string): LiveTerminal | undefined;
  list(): readonly LiveTerminal[];
  /** Ends all of them, with all that they started. */
  close(): Promise<void>;
}

export type LiveCommand = {
  readonly text: string;
  readonly cwd: string;
  readonly columns: number;
  readonly rows: number;
};

export interface LiveTerminal {
  readonly id: string;
  readonly command: string;
  /** Typed since the last line end: what a shell would read as one line. */
  readonly line: string;
  /** False where there is no program that could read them. */
  type(keys: string): boolean;
  /** As it is when all that was printed so far has been read. */
  screen(): Promise<LiveScreen>;
  /** Settles when something was printed, when it has ended, or when the signal is given. */
  changed(signal: AbortSignal): Promise<void>;
  /** How it ended; undefined while it runs. */
  exit(): { readonly code: number; readonly signal: string | null } | undefined;
  /** Ends it with all that it started. */
  end(): Promise<void>;
}

export type LiveScreen = {
  /** From the top, without blanks at their ends. */
  readonly rows: readonly string[];
  /** From 1. */
  readonly cursor: { readonly row: number; readonly column: number };
  /** A program that draws the whole screen, such as an editor or a pager. */
  readonly isFull: boolean;
};
