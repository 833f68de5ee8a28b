/** The signals that end a command. Whoever has something open takes them over; otherwise the process ends at once. */
import { constants } from "node:os";

export type EndingSignal = "SIGINT" | "SIGTERM" | "SIGHUP";
export type SignalHandler = (signal: EndingSignal) => void;

export type Signals = {
  /** From now on this handler decides; the returned function gives the word back. */
  take(handler: SignalHandler): () => void;
};

/** As shells report it: 130 for an interrupt, 143 for a termination. */
export const exitCodeOf = (signal: EndingSignal): number => 128 + constants.signals[signal];

export function catchSignals(): Signals {
  let current: SignalHandler | undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (current) current(signal);
      else process.exit(exitCodeOf(signal));
    });
  }
  return {
    take(handler) {
      const before = current;
      current = handler;
      return () => {
        current = before;
      };
    },
  };
}
