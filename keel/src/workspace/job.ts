/**
 * One running command, from its start to the moment when nothing of it is owed any more: the main process has ended,
 * what it wrote has been read, and, if it had to be stopped, its whole family is gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { Intake } from "./intake.ts";
import type { Launched } from "./launch.ts";
import { ProcessTree } from "./process-tree.ts";

export type Exit = { readonly code: number | null; readonly signal: string | null };
export type Cause = "timeout" | "interrupt";

/**
 * How long a family may tidy up after SIGTERM. A timeout is nobody's wish, so the command gets time; after an
 * interrupt a person waits, and the word that it is done is due within 300 ms.
 */
const graceMs: Readonly<Record<Cause, number>> = { timeout: 2_000, interrupt: 150 };
const lookEveryMs = 20;
/** Rounds of SIGKILL: a process that forks while it is looked for is found in the next one. */
const mostRounds = 20;
/** A process in an uninterruptible wait does not die of SIGKILL: it is left behind. */
const mostWaitForDeathMs = 1_000;

export class Job {
  /** Settles when the job is over; never rejects. */
  readonly over: Promise<void>;
  isOver = false;
  exit: Exit = { code: null, signal: null };
  /** Why it was stopped, if it was. */
  cause: Cause | undefined;
  readonly #tree: ProcessTree;
  readonly #intake: Intake;
  /** Resolved when the main process has ended, or when it is given up. */
  readonly #gone = Promise.withResolvers<void>();
  #hasExited = false;
  #stopped: Promise<void> | undefined;

  constructor(child: ChildProcess & { pid: number }, { mark, intake }: { mark: string; intake: Intake }) {
    this.#tree = new ProcessTree({ pid: child.pid, mark });
    this.#intake = intake;
    child.once("exit", (code, signal) => {
      this.#hasExited = true;
      this.exit = { code, signal };
      this.#gone.resolve();
    });
    this.over = this.#finish();
  }

  /** Ends the command and all that it started; settles when that is done. The first cause counts. */
  stop(cause: Cause): Promise<void> {
    if (this.#hasExited) return this.over;
    this.cause ??= cause;
    this.#stopped ??= this.#end(graceMs[cause]);
    return this.over;
  }

  async #finish(): Promise<void> {
    await this.#gone.promise;
    await this.#stopped;
    await this.#intake.drain();
    this.#intake.leave();
    this.isOver = true;
  }

  async #end(graceMs: number): Promise<void> {
    this.#tree.signal("SIGTERM");
    const endsAt = performance.now() + graceMs;
    while (performance.now() < endsAt && !(this.#hasExited && !this.#tree.isGroupAlive))
      await pause(lookEveryMs);
    for (let round = 0; round < mostRounds && this.#tree.signal("SIGKILL"); round++) await pause(lookEveryMs);
    await Promise.race([this.#gone.promise, pause(mostWaitForDeathMs, undefined, { ref: false })]);
    this.#gone.resolve();
  }
}

/** A process that is really there, or why there is none. Both streams are connected before it can write. */
export async function startJob(
  launched: Launched,
  { mark, intake }: { mark: string; intake: Intake },
): Promise<{ job: Job } | { error: NodeJS.ErrnoException }> {
  const child = spawnSafely(launched, intake);
  if (child instanceof Error) {
    intake.attach(undefined);
    return { error: child };
  }
  intake.attach(child);
  if (hasPid(child)) return { job: new Job(child, { mark, intake }) };
  return { error: await new Promise((resolve) => child.once("error", resolve)) };
}

function spawnSafely({ file, args, options }: Launched, intake: Intake): ChildProcess | Error {
  try {
    const child = spawn(file, args, { ...options, stdio: intake.stdio });
    child.on("error", () => undefined); // Whoever awaits the start hears of it; later ones change nothing.
    return child;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

const hasPid = (child: ChildProcess): child is ChildProcess & { pid: number } => child.pid !== undefined;
