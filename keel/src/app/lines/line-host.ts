/**
 * A process that a host program drives over lines: it reads little more than its own output is read, notices when nobody
 * reads any more, and ends in one order whatever ends it.
 */
import type { Readable } from "node:stream";
import { type Fault, toFault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { type LineRead, lineReader } from "../../transport/lines.ts";
import { readInput } from "../../transport/node/input.ts";
import { nodeClock } from "../node-ports.ts";
import type { OpenOptions } from "../options.ts";

export type LineOutput = {
  readonly waitingBytes: number;
  line(text: string): void;
};

/** What the command line gives such a host: read once, and passed on. */
export type LineContext = {
  readonly version: string;
  readonly env: OpenOptions["env"];
  readonly cwd: string;
  readonly input: Readable;
  readonly out: LineOutput & {
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

export type LineEnding = { readonly reason: string; readonly code: number };

export type LineHost = {
  /** Resolves when everything is to end, and says why. */
  readonly ended: Promise<LineEnding>;
  /** Never throws. */
  read(line: LineRead): void;
  /** No line comes any more. */
  inputEnded(): Promise<void>;
  /** What takes a while at the start. Throws what keeps it from starting. */
  open(): Promise<void>;
  /** A fault that ends everything, told once. */
  tellFatal(found: Fault): void;
  stop(ending: LineEnding): void;
  close(ending: LineEnding): Promise<void>;
};

/** Far above any prompt with its images; a longer line is refused while it comes. */
const maxLineBytes = 16 * 1024 * 1024;
/** From here on little more is read: whoever does not read our answers gets no more of them. */
const maxWaitingBytes = 8 * 1024 * 1024;
/** What is read all the same until then: to stop the work must be possible for a host that lags, and take no time. */
const maxReadBehind = 1024 * 1024;
/** An ending that hangs must not keep the host waiting. */
const maxEndingMs = 20_000;
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Serves until the end. Returns the exit code. */
export async function serveLines(host: LineHost, lines: Lines, context: LineContext): Promise<number> {
  const release = [
    context.signals.take((signal) => host.stop({ reason: signal, code: signalCodes[signal] })),
    context.crashes.take((thrown) => {
      host.tellFatal(toFault(thrown));
      host.stop({ reason: "error", code: 1 });
    }),
    context.out.watch(),
  ];
  void context.out.closed.then(() => host.stop({ reason: "nobody reads", code: exitCodes.outputClosed }));
  lines.listen({
    line: (read) => host.read(read),
    end: () => void host.inputEnded(),
  });
  host.open().catch((thrown: unknown) => {
    const failure = toFault(thrown);
    host.tellFatal(failure);
    host.stop({ reason: "error", code: failure.exitCode });
  });
  const ending = await host.ended;
  const late = new AbortController();
  void nodeClock()
    .sleep(maxEndingMs, late.signal)
    .then(() => late.signal.aborted || process.exit(ending.code || 1));
  await host.close(ending);
  late.abort();
  for (const give of release) give();
  await context.out.drained();
  return ending.code;
}

export type Lines = {
  /** The next line, for the one who starts. Undefined at the end. */
  next(): Promise<LineRead | undefined>;
  /** From now on all lines go to this listener, those that wait first. */
  listen(listener: { line(read: LineRead): void; end(): void }): void;
};

export function inputLines({ input, out }: Pick<LineContext, "input" | "out">): Lines {
  const reader = lineReader({ maxBytes: maxLineBytes });
  const waiting: LineRead[] = [];
  let listener: Parameters<Lines["listen"]>[0] | undefined;
  let hasEnded = false;
  let wake: () => void = () => undefined;
  let readBehind = 0;
  const give = (reads: readonly LineRead[]): void => {
    for (const read of reads) {
      if (listener) listener.line(read);
      else waiting.push(read);
    }
    wake();
  };
  const source = readInput(0, () => input, {
    chunk(bytes) {
      give(reader.push(bytes));
      readBehind = out.waitingBytes <= maxWaitingBytes ? 0 : readBehind + bytes.length;
      if (readBehind <= maxReadBehind) return;
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
