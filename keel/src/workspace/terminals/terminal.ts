/**
 * A terminal with its program, for any number of watchers at their own pace. What the program says is read into a screen
 * and kept for a while by position; each watcher is told what follows its position, a window's worth at a time. One that
 * falls behind what is kept is told the screen as it is, in place of all that it missed. The program waits for the
 * fastest of them, for a moment, and for nobody else.
 */
import { randomBytes } from "node:crypto";
import { byteLength } from "../../kernel/text.ts";
import { EscapeScanner } from "./escape-scan.ts";
import { KeptOutput, type TerminalSize } from "./kept-output.ts";
import type { ProgramExit, PtyProgram } from "./pty-program.ts";
import { type ScreenShot, TerminalScreen } from "./screen.ts";
import { type TerminalFeed, type TerminalPosition, TerminalWatcher } from "./terminal-watcher.ts";

export type KeptScreen = ScreenShot & { readonly epoch: string; readonly exit?: ProgramExit | undefined };

/** Starts the program; it tells what it hears from its first word on. */
export type StartPty = (size: TerminalSize, heard: (text: string) => void) => Promise<PtyProgram>;

export type TerminalOptions = {
  readonly size: TerminalSize;
  /** What an earlier server kept. */
  readonly kept?: KeptScreen | undefined;
  /** Something has begun, ended, become busy or quiet. */
  readonly changed: () => void;
  /** Its screen is another one. */
  readonly drawn: () => void;
};

/** Kept for those who come back, and for those who are slower than others. */
const keptBytes = 1024 * 1024;
/** The program waits when this much was not read into the screen yet, until less than the second is left. */
const unparsedMost = 64 * 1024;
const unparsedLeast = 16 * 1024;
/** And when the fastest watcher is this far behind, until it is within the second; without progress not longer than so. */
const behindMost = 96 * 1024;
const behindLeast = 32 * 1024;
const heldMs = 150;
/** Who has said nothing for this long is not at work. */
const quietMs = 1_500;

const bounds = { columns: { least: 2, most: 1_000 }, rows: { least: 1, most: 500 } } as const;

type TerminalRun = {
  readonly epoch: string;
  readonly kept: KeptOutput;
  readonly screen: TerminalScreen | undefined;
  readonly scanner: EscapeScanner;
  program: PtyProgram | undefined;
  exit: ProgramExit | undefined;
  /** The screen as an earlier server kept it; it has no program and gets none. */
  readonly shown: ScreenShot | undefined;
};

export class Terminal {
  readonly #options: TerminalOptions;
  readonly #watchers = new Set<TerminalWatcher>();
  #size: TerminalSize;
  #run: TerminalRun | undefined;
  #isHeld = false;
  /** Nobody kept up: the program is not held again until somebody has caught up. */
  #isLetGo = false;
  #holding: ReturnType<typeof setTimeout> | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #isPaused = false;

  constructor(options: TerminalOptions) {
    this.#options = options;
    const { kept } = options;
    this.#size = bounded(kept ?? options.size);
    if (kept)
      this.#run = {
        epoch: kept.epoch,
        kept: new KeptOutput({ most: keptBytes, from: kept.at }),
        screen: undefined,
        scanner: new EscapeScanner(),
        program: undefined,
        // A terminal whose server is gone hangs up.
        exit: kept.exit ?? { code: 0, signal: "SIGHUP" },
        shown: kept,
      };
  }

  get exit(): ProgramExit | undefined {
    return this.#run?.exit;
  }

  get isRunning(): boolean {
    return this.#run?.program !== undefined;
  }

  /** Whether it has said something a moment ago. */
  get isTalking(): boolean {
    return this.#quiet !== undefined;
  }

  /** The program that has the terminal now, by its name. */
  foreground(): string | undefined {
    return this.#run?.program?.foreground();
  }

  /** Begins a run of its own, with an empty screen. Throws what keeps it from starting. */
  async start(start: StartPty): Promise<void> {
    await this.end();
    const run: TerminalRun = {
      epoch: randomBytes(6).toString("hex"),
      kept: new KeptOutput({ most: keptBytes }),
      screen: new TerminalScreen({ ...this.#size, at: 0, reply: (keys) => run.program?.write(keys) }),
      scanner: new EscapeScanner(),
      program: undefined,
      exit: undefined,
      shown: undefined,
    };
    const program = await start(this.#size, (text) => this.#hear(run, text));
    this.#run?.screen?.close();
    run.program = program;
    this.#run = run;
    this.#isPaused = this.#isHeld = this.#isLetGo = false;
    void program.exit.then((exit) => this.#ended(run, exit));
    this.#rouse();
    this.#options.changed();
  }

  /** Nothing of the program runs any more. What it showed stays. */
  async end(): Promise<void> {
    const { program } = this.#run ?? {};
    await program?.end();
    await program?.exit;
  }

  /** False where there is no program that could read them. */
  type(keys: string): boolean {
    const { program } = this.#run ?? {};
    program?.write(keys);
    return program !== undefined;
  }

  resize(wanted: TerminalSize): void {
    const size = bounded(wanted);
    if (size.columns === this.#size.columns && size.rows === this.#size.rows) return;
    this.#size = size;
    const run = this.#run;
    if (!run?.screen) return;
    run.program?.resize(size);
    run.screen.resize(size, run.kept.resized(size));
    this.#rouse();
  }

  get size(): TerminalSize {
    return this.#size;
  }

  /** What is to be kept over an end of the server. */
  async shot(): Promise<KeptScreen | undefined> {
    const run = this.#run;
    if (!run) return undefined;
    const shot = run.shown ?? (await run.screen?.shot());
    return shot && { ...shot, epoch: run.epoch, exit: run.exit };
  }

  watch(from: TerminalPosition, signal: AbortSignal): TerminalFeed {
    const watcher = new TerminalWatcher({
      from,
      source: () => this.#run,
      drawn: () => this.#look(),
      left: () => this.#watchers.delete(watcher),
    });
    this.#watchers.add(watcher);
    return { updates: watcher.updates(signal), drew: (at) => watcher.drew(at) };
  }

  close(): void {
    clearTimeout(this.#holding);
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    this.#run?.screen?.close();
  }

  #hear(run: TerminalRun, text: string): void {
    this.#take(run, run.scanner.push(text));
    this.#talk();
  }

  #take(run: TerminalRun, { whole, shown }: { whole: string; shown: string }): void {
    if (whole === "") return;
    run.kept.append(shown);
    run.screen?.write(whole, byteLength(shown), () => this.#look());
    this.#look();
    this.#rouse();
    this.#options.drawn();
  }

  #ended(run: TerminalRun, exit: ProgramExit): void {
    this.#take(run, run.scanner.end());
    run.exit = exit;
    // What it left running nobody would ever see again.
    void run.program?.end();
    run.program = undefined;
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    this.#rouse();
    this.#options.changed();
  }

  #talk(): void {
    const wasQuiet = this.#quiet === undefined;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      this.#options.changed();
    }, quietMs);
    this.#quiet.unref();
    if (wasQuiet) this.#options.changed();
  }

  #rouse(): void {
    for (const watcher of this.#watchers) watcher.rouse();
  }

  /** Whether the program has to wait now. */
  #look(): void {
    const run = this.#run;
    if (!run?.program) return;
    const behind = this.#behind(run);
    if (behind <= behindLeast) this.#isLetGo = false;
    if (this.#isHeld ? behind <= behindLeast : behind > behindMost && !this.#isLetGo)
      this.#hold(!this.#isHeld);
    const unparsed = run.screen?.unparsed ?? 0;
    const mustWait = this.#isHeld || unparsed > (this.#isPaused ? unparsedLeast : unparsedMost);
    if (mustWait === this.#isPaused) return;
    this.#isPaused = mustWait;
    if (mustWait) run.program.pause();
    else run.program.resume();
  }

  /** Of the fastest; nobody is behind where nobody looks on. */
  #behind({ kept, epoch }: TerminalRun): number {
    const drawn = [...this.#watchers].flatMap((watcher) => watcher.drawnOf(epoch) ?? []);
    return drawn.length === 0 ? 0 : kept.end - Math.max(...drawn);
  }

  #hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    clearTimeout(this.#holding);
    if (!isHeld) return;
    const fastest = (): number => Math.max(0, ...[...this.#watchers].map(({ drawnAt }) => drawnAt));
    const wait = (before: number): void => {
      this.#holding = setTimeout(() => {
        if (!this.#isHeld) return;
        const now = fastest();
        if (now > before) return wait(now);
        // They do not draw at all, or are gone and nobody knows yet: the program does not stand still for them.
        this.#isHeld = false;
        this.#isLetGo = true;
        this.#look();
      }, heldMs);
      this.#holding.unref();
    };
    wait(fastest());
  }
}

function bounded({ columns, rows }: TerminalSize): TerminalSize {
  const within = (value: number, { least, most }: { least: number; most: number }): number =>
    Math.max(least, Math.min(most, Math.trunc(value) || least));
  return { columns: within(columns, bounds.columns), rows: within(rows, bounds.rows) };
}
