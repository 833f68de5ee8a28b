/** `keel runner`: one process for one conversation of a host application. Reads lines, writes lines, and nothing else. */
import { appendFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { openHome } from "../../app/home.ts";
import type { OpenOptions } from "../../app/options.ts";
import { type Fault, fault, toFault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { type LineRead, lineReader } from "../../transport/lines.ts";
import { readInput } from "../../transport/node/input.ts";
import { Runner, type RunnerOutput } from "./runner.ts";
import { openOptionsOf, type RunnerStart, readStart } from "./start.ts";
import { unaskedWorkspaceTools, workspaceTools } from "./tools/tools.ts";

/** What the command line gives a host: read once, and passed on. */
export type RunnerContext = {
  readonly version: string;
  readonly env: OpenOptions["env"];
  readonly cwd: string;
  readonly input: Readable;
  readonly out: RunnerOutput & {
    readonly isClosed: boolean;
    readonly closed: Promise<void>;
    drained(): Promise<void>;
    watch(): () => void;
  };
  readonly err: { line(text: string): void };
  readonly signals: { take(handler: (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => void): () => void };
  /** Whoever takes it hears of what nobody caught. */
  readonly crashes: { take(handler: (thrown: unknown) => void): () => void };
};

export type RunnerFlags = {
  readonly start: RunnerStart;
  /** The first line says how to start; flags count where it says nothing. */
  readonly fromInput: boolean;
};

/** Far above any prompt with its images; a longer line is refused while it comes. */
const maxLineBytes = 16 * 1024 * 1024;
/** From here on nothing more is read: whoever does not read our answers gets no more of them. */
const maxWaitingBytes = 8 * 1024 * 1024;
/** An ending that hangs must not keep the host waiting. */
const maxEndingMs = 20_000;
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Returns the exit code. */
export async function run(flags: RunnerFlags, context: RunnerContext): Promise<number> {
  const lines = inputLines(context);
  const start = flags.fromInput ? { ...flags.start, ...(await firstLine(lines, context)) } : flags.start;
  const options = openOptionsOf(start, context);
  const { linearIssue, targetBranch } = start;
  const ownTools = workspaceTools({
    cwd: options.cwd,
    env: options.env,
    linearIssue,
    targetBranch,
    history: () => runner.history(),
  });
  const allowedTools = [...(options.allowedTools ?? []), ...unaskedWorkspaceTools];
  const runner = new Runner({
    start,
    home: openHome(options),
    options: { ...options, ownTools, allowedTools },
    out: context.out,
    debug: debugOf(start, context),
  });
  const release = [
    context.signals.take((signal) => runner.stop({ reason: signal, code: signalCodes[signal] })),
    context.crashes.take((thrown) => {
      runner.tellFatal(toFault(thrown));
      runner.stop({ reason: "error", code: 1 });
    }),
    context.out.watch(),
  ];
  void context.out.closed.then(() => runner.stop({ reason: "nobody reads", code: exitCodes.outputClosed }));
  runner.emit({ type: "ready", version: context.version, protocol: 1 });
  lines.listen({
    line: (read) => runner.read(read),
    end: () => void runner.inputEnded(),
  });
  let failure: Fault | undefined;
  runner.open().catch((thrown: unknown) => {
    failure = toFault(thrown);
    runner.tellFatal(failure);
    runner.stop({ reason: "error", code: failure.exitCode });
  });
  const ending = await runner.ended;
  const late = setTimeout(() => process.exit(ending.code || 1), maxEndingMs).unref();
  await runner.close(ending);
  clearTimeout(late);
  for (const give of release) give();
  await context.out.drained();
  return ending.code;
}

type Lines = {
  /** The next line, for the one who starts. Undefined at the end. */
  next(): Promise<LineRead | undefined>;
  /** From now on all lines go to this listener, those that wait first. */
  listen(listener: { line(read: LineRead): void; end(): void }): void;
};

/** Reads no faster than our own output is read. */
function inputLines(context: Pick<RunnerContext, "input" | "out">): Lines {
  const { out } = context;
  const reader = lineReader({ maxBytes: maxLineBytes });
  const waiting: LineRead[] = [];
  let listener: Parameters<Lines["listen"]>[0] | undefined;
  let hasEnded = false;
  let wake: () => void = () => undefined;
  const give = (reads: readonly LineRead[]): void => {
    for (const read of reads) {
      if (listener) listener.line(read);
      else waiting.push(read);
    }
    wake();
  };
  const source = readInput(0, () => context.input, {
    chunk(bytes) {
      give(reader.push(bytes));
      if (out.waitingBytes <= maxWaitingBytes) return;
      source.pause();
      void out.drained().then(() => source.resume());
    },
    end() {
      hasEnded = true;
      give(reader.end());
      listener?.end();
    },
  });
  return {
    async next() {
      while (waiting.length === 0 && !hasEnded)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return waiting.shift();
    },
    listen(heard) {
      listener = heard;
      for (const read of waiting.splice(0)) heard.line(read);
      if (hasEnded) heard.end();
    },
  };
}

async function firstLine(lines: Lines, { out }: Pick<RunnerContext, "out">): Promise<RunnerStart> {
  for (;;) {
    const read = await lines.next();
    if (!read) throw fault("usage", { reason: "The input ended before a line of the type start." });
    const start = readStart(read);
    if (!start) continue;
    if (start.ok) return start.value;
    out.line(JSON.stringify({ type: "error", conversationId: "default", fatal: false, ...start.error }));
  }
}

/** Lines as they go out, for whoever looks for a mistake: on standard error, or in a file for this user alone. */
function debugOf(
  { debug, debugFile }: RunnerStart,
  { err }: Pick<RunnerContext, "err">,
): ((line: string) => void) | undefined {
  if (debugFile !== undefined) return (line) => appendFileSync(debugFile, `${line}\n`, { mode: 0o600 });
  return debug ? (line) => err.line(line) : undefined;
}
