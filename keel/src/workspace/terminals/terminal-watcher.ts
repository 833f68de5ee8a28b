/** One watcher of a terminal: what it was told, what of that it has drawn, and what it is told next. */
import { byteLength } from "../../kernel/text.ts";
import type { TerminalUpdate } from "../../protocol/workspace.ts";
import type { KeptOutput } from "./kept-output.ts";
import type { ProgramExit } from "./pty-program.ts";
import type { ScreenShot } from "./screen.ts";

export type TerminalPosition = { readonly epoch?: string | undefined; readonly after?: number | undefined };

/** What one watcher is told of a terminal. Who does not say what was drawn is told no more than a window's worth. */
export type TerminalFeed = {
  readonly updates: AsyncIterable<TerminalUpdate>;
  drew(at: number): void;
};

/** A run of a program, as far as a watcher needs it. */
export type WatchedRun = {
  readonly epoch: string;
  readonly kept: KeptOutput;
  readonly screen: { shot(): Promise<ScreenShot> } | undefined;
  readonly shown: ScreenShot | undefined;
  readonly exit: ProgramExit | undefined;
};

export type WatcherOptions = {
  readonly from: TerminalPosition;
  readonly source: () => WatchedRun | undefined;
  readonly drawn: () => void;
  readonly left: () => void;
};

/** What may be on its way to be drawn: a key that ends a program is answered behind it. */
const windowBytes = 64 * 1024;
const pieceBytes = 16 * 1024;

export class TerminalWatcher {
  readonly #options: WatcherOptions;
  #epoch: string | undefined;
  #sent = 0;
  #drawn = 0;
  #sizeNumber = 0;
  #toldExit: ProgramExit | undefined;
  #wake: (() => void) | undefined;

  constructor(options: WatcherOptions) {
    this.#options = options;
    const { epoch, after } = options.from;
    const run = options.source();
    if (epoch === undefined || after === undefined || run?.epoch !== epoch || !run.kept.has(after)) return;
    this.#epoch = epoch;
    this.#sent = this.#drawn = after;
    this.#sizeNumber = run.kept.sizeNumberAt(after);
  }

  get drawnAt(): number {
    return this.#drawn;
  }

  /** Undefined while it looks at another run. */
  drawnOf(epoch: string): number | undefined {
    return this.#epoch === epoch ? this.#drawn : undefined;
  }

  drew(at: number): void {
    if (!(at > this.#drawn) || at > this.#sent) return;
    this.#drawn = at;
    this.#options.drawn();
    this.rouse();
  }

  rouse(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Ends with the signal. */
  async *updates(signal: AbortSignal): AsyncGenerator<TerminalUpdate, void> {
    const rouse = (): void => this.rouse();
    signal.addEventListener("abort", rouse);
    try {
      while (!signal.aborted) {
        const update = await this.#next();
        if (signal.aborted) return;
        if (update) yield update;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener("abort", rouse);
      this.#options.left();
      this.#options.drawn();
    }
  }

  /** Undefined where there is nothing to be told now. */
  async #next(): Promise<TerminalUpdate | undefined> {
    const run = this.#options.source();
    if (!run) return undefined;
    if (this.#epoch !== run.epoch) return this.#screen(run);
    const { kept } = run;
    const hasRoom = this.#sent - this.#drawn < windowBytes;
    if (!hasRoom) return undefined;
    if (!kept.has(this.#sent)) return this.#screen(run);
    const size = kept.sizeAfter(this.#sizeNumber);
    const until = size ? size.at : kept.end;
    if (this.#sent < until) return this.#output(kept, until);
    if (size) {
      this.#sizeNumber = size.number;
      return { kind: "size", columns: size.columns, rows: size.rows };
    }
    if (!run.exit || this.#toldExit === run.exit) return undefined;
    this.#toldExit = run.exit;
    return { kind: "exit", ...run.exit };
  }

  #output(kept: KeptOutput, until: number): TerminalUpdate {
    const at = this.#sent;
    const text = kept.read(at, Math.min(pieceBytes, until - at));
    this.#sent += byteLength(text);
    return { kind: "output", at, text };
  }

  async #screen(run: WatchedRun): Promise<TerminalUpdate | undefined> {
    const shot = run.shown ?? (await run.screen?.shot());
    if (!shot) return undefined;
    this.#epoch = run.epoch;
    this.#sent = shot.at;
    // A large screen takes its time to be drawn, as output does.
    this.#drawn = shot.at - Math.min(windowBytes - 1, shot.paint.length);
    this.#sizeNumber = shot.sizeNumber;
    const { at, columns, rows, paint } = shot;
    return { kind: "screen", epoch: run.epoch, at, columns, rows, paint };
  }
}
