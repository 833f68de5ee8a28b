/**
 * Workers that are a program in a terminal: a person's shell, or an agent of another vendor by its own command. The
 * program ends with the server; what it showed last is kept, and painted for whoever looks after a restart.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { fault, reasonOf } from "../../kernel/fault.ts";
import type { PtyCommand } from "../../workspace/terminals/pty-program.ts";
import { type KeptScreen, Terminal } from "../../workspace/terminals/terminal.ts";
import { ownCommand } from "./known-agents.ts";
import type { StartWorker, Worker, WorkerContext, WorkerState, WorkerTerminal } from "./worker.ts";

const usualSize = { columns: 80, rows: 24 };
/** So long after something was drawn the screen is kept, and at most so often. */
const keptAfterMs = 3_000;

export const startPtyAgent: StartWorker = (context) => {
  const { command } = context.record();
  if (command === undefined || command.length === 0)
    throw fault("work_refused", { reason: "An agent in a terminal needs a command." });
  return TerminalWorker.open(context, command, (terminal) => (terminal.isTalking ? "active" : "idle"));
};

export const startShell: StartWorker = (context) => {
  const command = context.record().command ?? [context.env["SHELL"] || "/bin/sh"];
  const own = path.basename(command[0] ?? "");
  return TerminalWorker.open(context, command, (terminal) =>
    path.basename(terminal.foreground() ?? own) === own ? "idle" : "active",
  );
};

type ReadActivity = (terminal: Terminal) => "active" | "idle";

class TerminalWorker implements Worker {
  readonly terminal: WorkerTerminal;
  readonly #context: WorkerContext;
  readonly #command: readonly string[];
  readonly #activity: ReadActivity;
  readonly #terminal: Terminal;
  readonly #stop = new AbortController();
  #failure: string | undefined;
  #keeping: Promise<void> | undefined;
  #written: Promise<void> = Promise.resolve();

  /** One that was just asked for starts at once; after a restart of the server it waits until somebody starts it. */
  static async open(
    context: WorkerContext,
    command: readonly string[],
    activity: ReadActivity,
  ): Promise<Worker> {
    const worker = new TerminalWorker(context, { command, activity, kept: await readKept(context) });
    if (context.asked) await worker.restart();
    return worker;
  }

  constructor(
    context: WorkerContext,
    {
      command,
      activity,
      kept,
    }: { command: readonly string[]; activity: ReadActivity; kept: KeptScreen | undefined },
  ) {
    const { columns = usualSize.columns, rows = usualSize.rows } = context.record();
    this.#context = context;
    this.#command = command;
    this.#activity = activity;
    this.#terminal = new Terminal({
      size: { columns, rows },
      kept,
      changed: context.changed,
      drawn: () => this.#keepSoon(),
    });
    this.terminal = {
      type: (keys) => {
        if (!this.#terminal.type(keys))
          throw fault("work_refused", { reason: "No program runs in this terminal." });
      },
      resize: (size) => {
        this.#terminal.resize(size);
        void context.keep({ ...this.#terminal.size });
      },
      watch: (from, signal) => this.#terminal.watch(from, signal),
    };
  }

  state(): WorkerState {
    const { exit, isRunning } = this.#terminal;
    if (this.#failure !== undefined) return { activity: "failed", failure: this.#failure };
    if (isRunning) return { activity: this.#activity(this.#terminal) };
    return exit ? { activity: "ended", exit } : { activity: "ended" };
  }

  /** As a person would: the words, and Enter. */
  async tell(words: string): Promise<void> {
    this.terminal.type(`${words}\r`);
  }

  async interrupt(): Promise<void> {
    this.terminal.type("\u0003");
  }

  async restart(): Promise<void> {
    const { startInPty } = await import("../../workspace/terminals/pty-program.ts");
    const guard = await this.#context.guard();
    this.#failure = undefined;
    try {
      await this.#terminal.start((size, heard) =>
        startInPty({ ...this.#program(), ...size }, { guard, heard }),
      );
    } catch (thrown) {
      this.#failure = reasonOf(thrown);
      this.#context.changed();
      throw fault("work_refused", { reason: `It could not be started: ${this.#failure}`, cause: thrown });
    }
  }

  async rest(): Promise<void> {
    await this.#terminal.end();
    await this.#keep();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#terminal.end();
    await this.#keeping;
    await this.#written;
    this.#terminal.close();
  }

  #program(): Omit<PtyCommand, "columns" | "rows"> {
    const [named = "", ...args] = this.#command;
    const { env, cwd } = this.#context;
    const isKeel = path.basename(named) === "keel";
    // By its name alone it is the Keel that serves, wherever that is installed.
    const file = named === "keel" ? ownCommand() : named;
    return { file, args, cwd, env, keys: isKeel || this.#context.record().keys ? "own" : "withheld" };
  }

  #keepSoon(): void {
    if (this.#keeping || this.#stop.signal.aborted) return;
    this.#keeping = this.#context.clock.sleep(keptAfterMs, this.#stop.signal).then(async () => {
      this.#keeping = undefined;
      if (!this.#stop.signal.aborted) await this.#keep();
    });
  }

  #keep(): Promise<void> {
    this.#written = this.#written.then(() => this.#write());
    return this.#written;
  }

  /** It is there to be looked at only: where it cannot be kept, nothing else suffers. */
  async #write(): Promise<void> {
    const shot = await this.#terminal.shot();
    if (!shot || this.#stop.signal.aborted) return;
    const file = keptFile(this.#context);
    try {
      await mkdir(this.#context.folder, { recursive: true, mode: 0o700 });
      await writeFile(`${file}.new`, `${JSON.stringify(shot)}\n`, { mode: 0o600 });
      await rename(`${file}.new`, file);
    } catch {
      // Said above.
    }
  }
}

const keptSchema = z.object({
  epoch: z.string(),
  at: z.number(),
  columns: z.number(),
  rows: z.number(),
  paint: z.string(),
  exit: z.optional(z.object({ code: z.number(), signal: z.nullable(z.string()) })),
});

const keptFile = ({ folder }: WorkerContext): string => path.join(folder, "screen.json");

async function readKept(context: WorkerContext): Promise<KeptScreen | undefined> {
  try {
    const kept = keptSchema.parse(JSON.parse(await readFile(keptFile(context), "utf8")));
    return { ...kept, sizeNumber: 0 };
  } catch {
    return undefined;
  }
}
