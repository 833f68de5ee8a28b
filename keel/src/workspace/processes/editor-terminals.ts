/**
 * Commands in the terminals of an editor: it shows them, and it owns them. What is said to the model is what the editor
 * tells of them, as plain text. Who runs there is not under our guard: a command that is stopped is killed by the
 * editor, and what it leaves behind nobody here can see. Where the editor makes no terminal, our own shell runs it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { plainTerminal } from "../../kernel/text.ts";
import type { Shell, ShellChunk, ShellCommand, ShellOutcome, ShellRun } from "../../ports/shell.ts";
import { type EndFolder, endFolderFile } from "./end-folder.ts";
import { commandEnvironment, environmentOver, type ProcessEnvironment } from "./environment.ts";
import { OutputRecorder } from "./recorder.ts";
import { runCommand } from "./run-command.ts";

export type TerminalExit = { readonly exitCode: number | null; readonly signal: string | null };

export type EditorTerminal = {
  readonly id: string;
  /** What it shows, from its start unless `truncated`. Undefined where the editor does not say. Never throws. */
  output(): Promise<{ readonly text: string; readonly truncated: boolean } | undefined>;
  /** Settles when the command has ended; undefined where the editor does not say how. Never rejects. */
  readonly ended: Promise<TerminalExit | undefined>;
  /** Ends the command; the terminal stays. Never throws. */
  kill(): Promise<void>;
  /** Nothing is asked of it any more. */
  release(): void;
};

export type EditorTerminals = {
  /** Undefined where the editor makes none. Never throws. */
  create(wanted: {
    readonly command: string;
    readonly args: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly maxBytes: number;
  }): Promise<EditorTerminal | undefined>;
};

type Environments = { readonly env: ProcessEnvironment; readonly hostEnv: ProcessEnvironment };

export function withTerminals(
  shell: Shell,
  { terminals, env, hostEnv }: Environments & { readonly terminals: EditorTerminals },
): Shell {
  const over = environmentOver(env, hostEnv);
  const start: Shell["start"] = async (command) => {
    if (command.terminal !== "welcome" || !over) return shell.start(command);
    const end = command.endFolder ? await endFolderFile(commandEnvironment(env)) : undefined;
    const dressed = end?.dress("bash", command.text) ?? { text: command.text, env: {} };
    const terminal = await terminals.create({
      command: "bash",
      args: ["-c", dressed.text],
      cwd: command.cwd,
      env: { ...over, ...dressed.env },
      maxBytes: command.maxBytes,
    });
    if (terminal) return new EditorTerminalRun(terminal, { command, end });
    await end?.drop();
    return shell.start(command);
  };
  return { start, run: (command, signal) => runCommand(start, command, signal) };
}

/** The editor shows it itself: this is for those who watch elsewhere. */
const betweenLooksMs = 500;
/** An editor that was told to kill and does not say that it did is not waited for. */
const maxWaitForDeathMs = 1_000;
/** The longest time that a timer of Node can measure; whoever has longer has no limit. */
const longestTimerMs = 2 ** 31 - 1;

class EditorTerminalRun implements ShellRun {
  readonly terminal: string;
  readonly over: Promise<ShellOutcome>;
  readonly #terminal: EditorTerminal;
  readonly #recorder: OutputRecorder;
  readonly #end: EndFolder | undefined;
  readonly #stopped = Promise.withResolvers<void>();
  #shown = "";
  #cause: "timeout" | "interrupt" | undefined;
  #isOver = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(
    terminal: EditorTerminal,
    { command, end }: { command: ShellCommand; end: EndFolder | undefined },
  ) {
    const { timeoutMs, maxBytes } = command;
    this.terminal = terminal.id;
    this.#terminal = terminal;
    this.#recorder = new OutputRecorder({ maxBytes });
    this.#end = end;
    if (timeoutMs <= longestTimerMs) this.#deadline = setTimeout(() => void this.#stop("timeout"), timeoutMs);
    this.over = this.#finish();
  }

  async *follow(): AsyncGenerator<ShellChunk, void> {
    while (!this.#isOver) {
      await Promise.race([this.over, pause(betweenLooksMs)]);
      if (!this.#isOver) await this.#look();
      const text = this.#recorder.news();
      if (text !== "") yield { text };
    }
  }

  output(): string {
    return this.#recorder.soFar().output;
  }

  saveTo(file: string): void {
    this.#recorder.saveTo(file);
  }

  goOn(): void {
    clearTimeout(this.#deadline);
  }

  async stop(): Promise<void> {
    await this.#stop("interrupt");
  }

  left(): undefined {
    return undefined;
  }

  async #stop(cause: "timeout" | "interrupt"): Promise<void> {
    if (this.#isOver) return;
    this.#cause ??= cause;
    await Promise.race([this.#terminal.kill(), pause(maxWaitForDeathMs)]);
    await Promise.race([this.#terminal.ended, pause(maxWaitForDeathMs)]);
    this.#stopped.resolve();
    await this.over;
  }

  async #finish(): Promise<ShellOutcome> {
    const exit = await Promise.race([this.#terminal.ended, this.#stopped.promise.then(() => undefined)]);
    clearTimeout(this.#deadline);
    await Promise.race([this.#look(), pause(maxWaitForDeathMs)]);
    this.#isOver = true;
    this.#terminal.release();
    this.#recorder.close();
    const endFolder = this.#cause === undefined ? await this.#end?.read() : undefined;
    await this.#end?.drop();
    return {
      exitCode: exit?.exitCode ?? null,
      signal: exit?.signal ?? null,
      timedOut: this.#cause === "timeout",
      interrupted: this.#cause === "interrupt",
      ...this.#recorder.soFar(),
      ...(endFolder === undefined ? {} : { endFolder }),
    };
  }

  async #look(): Promise<void> {
    const found = await this.#terminal.output();
    if (!found || this.#isOver) return;
    const text = plainTerminal(found.text);
    const more = newIn(text, this.#shown);
    this.#shown = text;
    if (more !== "") this.#recorder.add(Buffer.from(more));
  }
}

/** What follows on what was shown before; of a terminal that forgot its start, or was drawn anew, all that it shows. */
function newIn(now: string, before: string): string {
  if (now.startsWith(before)) return now.slice(before.length);
  const end = before.slice(-200);
  const at = end === "" ? -1 : now.lastIndexOf(end);
  return at < 0 ? `\n[…]\n${now}` : now.slice(at + end.length);
}
