/**
 * One running command, from its start to the moment when nothing of it is owed any more: the main process has ended,
 * what it wrote has been read, and, if it had to be stopped, its whole family is gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { LeftBehind } from "../../ports/shell.ts";
import type { Intake } from "./intake.ts";
import type { Launched, Post } from "./launch.ts";
import { countLeft, watchLeft } from "./left-behind.ts";
import { bornOf } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";

export type JobExit = { readonly code: number | null; readonly signal: string | null };
export type Cause = "timeout" | "interrupt";

/**
 * How long a family may tidy up after SIGTERM. A timeout is nobody's wish, so the command gets time; after an
 * interrupt a person waits, and the word that it is done is due within 300 ms.
 */
const graceMs: Readonly<Record<Cause, number>> = { timeout: 2_000, interrupt: 150 };
/** A process in an uninterruptible wait does not die of SIGKILL: it is left behind. */
const maxWaitForDeathMs = 1_000;

type JobContext = { readonly mark: string; readonly intake: Intake; readonly post: Post };

type StartedProcess = { readonly pid: number; readonly child: ChildProcess; readonly role: Launched["role"] };

export class ShellJob {
  /** Settles when the job is over; never rejects. */
  readonly over: Promise<void>;
  isOver = false;
  exit: JobExit = { code: null, signal: null };
  /** Why it was stopped, if it was. */
  cause: Cause | undefined;
  /** Who still runs although it is over. */
  left: LeftBehind | undefined;
  readonly #tree: ProcessTree;
  readonly #around: JobContext;
  readonly #since: number;
  /** Resolved when the main process has ended, or when it is given up. */
  readonly #gone = Promise.withResolvers<void>();
  #hasExited = false;
  #stopped: Promise<"gone" | "left"> | undefined;

  constructor({ pid, child, role }: StartedProcess, around: JobContext) {
    this.#since = bornOf(pid);
    this.#tree = new ProcessTree({ pid, role, mark: around.mark, since: this.#since });
    this.#around = around;
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
    const family = await this.#stopped;
    await this.#around.intake.drain();
    // Whose family was looked for until nobody was found has left nobody behind.
    this.left = family === "gone" ? undefined : await this.#lookBehind();
    if (!this.left) this.#around.intake.leave();
    this.isOver = true;
  }

  async #lookBehind(): Promise<LeftBehind | undefined> {
    const marked = { ...this.#around, since: this.#since };
    const processes = await countLeft(marked);
    return processes === 0 ? undefined : watchLeft(marked, { intake: this.#around.intake, processes });
  }

  async #end(graceMs: number): Promise<"gone" | "left"> {
    const family = await this.#tree.end({ graceMs });
    await Promise.race([this.#gone.promise, pause(maxWaitForDeathMs, undefined, { ref: false })]);
    this.#gone.resolve();
    return family;
  }
}

/** A process that is really there, or why there is none. Both streams are connected before it can write. */
export async function startJob(
  launched: Launched,
  around: JobContext,
): Promise<{ job: ShellJob } | { error: NodeJS.ErrnoException }> {
  const { intake } = around;
  const child = spawnSafely(launched, intake);
  if (child instanceof Error) {
    intake.attach(undefined);
    return { error: child };
  }
  intake.attach(child);
  const { pid } = child;
  if (pid !== undefined) return { job: new ShellJob({ pid, child, role: launched.role }, around) };
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
