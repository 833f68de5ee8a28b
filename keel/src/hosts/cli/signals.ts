/** The signals that end a command. Whoever has something open takes them over; otherwise the process ends at once. */
import { constants } from "node:os";
import { exitCodes } from "../../kernel/faults.ts";
import type { Output } from "./output.ts";

export type EndingSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Something that one at a time may take over: from now on this handler decides; the returned function gives it back. */
export type Takeable<T> = { take(handler: (value: T) => void): () => void };

export function takeable<T>(otherwise: (value: T) => void): Takeable<T> & { give(value: T): void } {
  let current = otherwise;
  return {
    give: (value) => current(value),
    take(handler) {
      const before = current;
      current = handler;
      return () => {
        current = before;
      };
    },
  };
}

/** As shells report it: 130 for an interrupt, 143 for a termination. */
export const exitCodeOf = (signal: EndingSignal): number => 128 + constants.signals[signal];

export function catchSignals(): Takeable<EndingSignal> {
  const signals = takeable<EndingSignal>((signal) => process.exit(exitCodeOf(signal)));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => signals.give(signal));
  return signals;
}

/**
 * The exit code with which somebody stops the work, or with which it ends when nobody reads any more. What `stop` does
 * not end by itself is over with its code; asked once more, the process ends at once.
 */
export function untilStopped(
  { signals, out }: { readonly signals: Takeable<EndingSignal>; readonly out: Output },
  stop: (signal: EndingSignal) => "goes on" | Promise<number>,
): { code: Promise<number>; release(): void } {
  const { promise, resolve } = Promise.withResolvers<number>();
  let ending = false;
  const release = signals.take((signal) => {
    const code = stop(signal);
    if (code === "goes on") return;
    if (ending) process.exit(exitCodeOf(signal));
    ending = true;
    void code.then(resolve);
  });
  void out.closed.then(() => resolve(exitCodes.outputClosed));
  const stopWatching = out.watch();
  return {
    code: promise,
    release() {
      stopWatching();
      release();
    },
  };
}
