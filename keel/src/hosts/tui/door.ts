/** What the screen is given by the command that opens it. Types only. */
import type { ScreenEnvironment } from "./screen/host.ts";
import type { PrintLine } from "./text/styled.ts";
import type { TerminalPorts } from "./writer/terminal.ts";

/** What the command gives: its streams, its signals, and how it tells what nobody caught. */
export type ScreenDoor = {
  readonly version: string;
  readonly env: ScreenEnvironment;
  readonly cwd: string;
  readonly terminal: TerminalPorts;
  /** Words that stay, before and after the screen. */
  say(line: string): void;
  /** Aborted by a signal, or when the terminal went away; then its code counts. */
  readonly stopped: { readonly signal: AbortSignal; code(): number };
  /** Called with the terminal's way back; whatever ends the process walks it. */
  guard(restore: () => void): () => void;
};

export type ScreenWishes = {
  readonly prompt?: string | undefined;
  /** Which session is chosen from a list. */
  readonly pick?: boolean | undefined;
  /** Said at the start: the rehearsal's tour. */
  readonly welcome?: readonly PrintLine[] | undefined;
  readonly draft?: string | undefined;
  /** It works in a temporary folder of its own: nothing of it is asked about. Says how to find it again. */
  readonly rehearsal?: ((session: string) => readonly string[]) | undefined;
};
