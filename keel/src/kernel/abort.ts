/** Waiting with a signal: an aborted wait settles at once; it does not vanish. */
import { fault } from "./fault.ts";

/** What can end a wait: an `AbortSignal`, or a `LightStop`. */
export type StopSignal = {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
};

/**
 * An end that only our own waits hear of. Every turn has about ten of them, and an `AbortController` does the same at
 * many times the price.
 */
export class LightStop implements StopSignal {
  aborted = false;
  #listeners: (() => void)[] = [];

  /** Everybody who waits is told once, at once; what a listener throws comes out here. */
  fire(): void {
    if (this.aborted) return;
    this.aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  addEventListener(_: "abort", listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }
}

/** Settles as `promise` does, or throws the `aborted` fault as soon as the signal fires. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw aborted(signal);
  const cancelled = Promise.withResolvers<never>();
  const stop = () => cancelled.reject(aborted(signal));
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promise, cancelled.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Resolves when the signal fires, or has. */
export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** A controller that also aborts with its parent. `release` takes it off the parent again. */
export function childOf(parent: AbortSignal): { controller: AbortController; release: () => void } {
  const controller = new AbortController();
  const stop = () => controller.abort(parent.reason);
  if (parent.aborted) stop();
  else parent.addEventListener("abort", stop, { once: true });
  return { controller, release: () => parent.removeEventListener("abort", stop) };
}

/**
 * Why a wait is given up that nobody needs any more. Without a reason of our own every `abort` would make an error with
 * a stack, which costs more than the wait itself.
 */
export const over = "over";

function aborted(signal: AbortSignal): Error {
  return fault("aborted", { cause: signal.reason });
}
