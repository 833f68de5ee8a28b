/** Every wait has a deadline and a signal: this joins the two. */
import { childOf, LightStop, type StopSignal } from "./abort.ts";

/** How long something may take to settle after it was told to stop, before it is left behind. */
export const graceMs = 2_000;

/** What can wait: the clock of a session. */
type Sleeping = { sleep(ms: number, signal: StopSignal): Promise<void> };

export type Timed<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "late" }
  | { readonly kind: "aborted" };

/**
 * Runs `task` with a signal that fires at the deadline or with `signal`. A task that does not settle within the grace
 * time after that is left behind. What the task throws is thrown.
 */
export async function within<T>(
  { clock, ms, signal }: { clock: Sleeping; ms: number; signal: AbortSignal },
  task: (signal: AbortSignal) => Promise<T>,
): Promise<Timed<T>> {
  const { controller, release } = childOf(signal);
  const ended = new LightStop();
  const running = task(controller.signal).then((value): Timed<T> => ({ kind: "done", value }));
  // Somebody else may have given up on it first.
  running.catch(() => undefined);
  const timer = clock.sleep(ms, ended).then(async (): Promise<Timed<T>> => {
    // It was done before: nothing is late.
    if (ended.aborted) return { kind: "late" };
    controller.abort();
    await clock.sleep(graceMs, ended);
    return { kind: "late" };
  });
  // Taken off by hand: a listener that leaves by a signal keeps alive whatever else listens there, were it never over.
  const stopped = Promise.withResolvers<Timed<T>>();
  const give = () => void clock.sleep(graceMs, ended).then(() => stopped.resolve({ kind: "aborted" }));
  if (signal.aborted) give();
  else signal.addEventListener("abort", give, { once: true });
  try {
    return await Promise.race([running, timer, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", give);
    release();
    ended.fire();
  }
}

/** A signal that fires when the time is up, unless whoever made it has left before. */
export function lateSignal(clock: Sleeping, ms: number): Disposable & { readonly signal: AbortSignal } {
  const late = new AbortController();
  const left = new LightStop();
  void clock.sleep(ms, left).then(() => left.aborted || late.abort());
  return { signal: late.signal, [Symbol.dispose]: () => left.fire() };
}
