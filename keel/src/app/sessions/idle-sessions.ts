/** Lets sessions rest that nobody has used for a while: what their logs can tell again need not be in memory. */
import type { Clock } from "../../ports/clock.ts";
import type { OpenSession } from "../open-session.ts";

/** Long enough for somebody who reads and thinks. */
export const idleMinutes = 10;

export type IdleOptions = {
  readonly clock: Clock;
  readonly idleMs?: number | undefined;
  /** Told when one is unloaded. */
  tell(session: string): void;
};

/** Until the session is closed. Whatever happens in it is use of it; nothing is looked at while nothing happens. */
export async function unloadWhenIdle(
  session: Pick<OpenSession, "id" | "onEvent" | "isLoaded" | "unload" | "closed">,
  { clock, idleMs = idleMinutes * 60_000, tell }: IdleOptions,
): Promise<void> {
  const closed = new AbortController();
  void session.closed.finally(() => closed.abort());
  let usedAt = clock.monotonicMs();
  let uses = 0;
  let wake: (() => void) | undefined;
  const use = (): void => {
    usedAt = clock.monotonicMs();
    uses++;
    wake?.();
    wake = undefined;
  };
  const stop = session.onEvent(use);
  closed.signal.addEventListener("abort", use);
  while (!closed.signal.aborted) {
    const before = uses;
    const leftMs = usedAt + idleMs - clock.monotonicMs();
    if (leftMs > 0) await clock.sleep(leftMs, closed.signal);
    else if (session.isLoaded() && (await session.unload().catch(() => false))) tell(session.id);
    // At work without a word, or at rest: the next event says that there is something to look at again.
    else if (before === uses)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
  stop();
}
