/** A command that runs, as the engine holds it in its hand: followed or not, moved to the background, or stopped. */
import { setTimeout as pause } from "node:timers/promises";
import type { LeftBehind, ShellChunk, ShellOutcome, ShellRun } from "../../ports/shell.ts";
import type { ShellJob } from "./job.ts";
import type { OutputRecorder } from "./recorder.ts";

/** At most twenty chunks a second: a screen can follow no more. */
const betweenChunksMs = 50;
/** The longest time that a timer of Node can measure; whoever has longer has no limit. */
const longestTimerMs = 2 ** 31 - 1;

export class Running implements ShellRun {
  readonly over: Promise<ShellOutcome>;
  readonly #job: ShellJob;
  readonly #recorder: OutputRecorder;
  readonly #bell = new Bell();
  #deadline: NodeJS.Timeout | undefined;

  constructor(job: ShellJob, { recorder, timeoutMs }: { recorder: OutputRecorder; timeoutMs: number }) {
    this.#job = job;
    this.#recorder = recorder;
    recorder.onNews = () => this.#bell.ring();
    if (timeoutMs <= longestTimerMs) this.#deadline = setTimeout(() => void job.stop("timeout"), timeoutMs);
    this.over = this.#finish();
  }

  async *follow(): AsyncGenerator<ShellChunk, void> {
    while (!this.#job.isOver) {
      await this.#bell.rung();
      if (!this.#job.isOver) await Promise.race([this.#job.over, pause(betweenChunksMs)]);
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

  stop(): Promise<void> {
    return this.#job.stop("interrupt");
  }

  left(): LeftBehind | undefined {
    return this.#job.left;
  }

  async #finish(): Promise<ShellOutcome> {
    await this.#job.over;
    clearTimeout(this.#deadline);
    this.#bell.ring();
    this.#recorder.close();
    const { exit, cause } = this.#job;
    return {
      exitCode: exit.code,
      signal: exit.signal,
      timedOut: cause === "timeout",
      interrupted: cause === "interrupt",
      ...this.#recorder.soFar(),
    };
  }
}

/** What could not be started is over. */
export function neverRan(outcome: ShellOutcome): ShellRun {
  return {
    over: Promise.resolve(outcome),
    follow: async function* () {
      // Nothing ever comes.
    },
    output: () => outcome.output,
    saveTo: () => undefined,
    goOn: () => undefined,
    stop: async () => undefined,
    left: () => undefined,
  };
}

/** Wakes one waiter; a ring that nobody waits for is heard by the next. */
class Bell {
  #wake: () => void = () => undefined;
  #next = new Promise<void>((resolve) => {
    this.#wake = resolve;
  });

  ring(): void {
    this.#wake();
  }

  async rung(): Promise<void> {
    await this.#next;
    this.#next = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
