/** Time, ids and chance. */
import type { StopSignal } from "../kernel/abort.ts";

/** Time. `now` is the wall clock for people; waits and durations use `monotonicMs`, which never jumps. */
export interface Clock {
  now(): number;
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when the signal fires. Never rejects. */
  sleep(ms: number, signal: StopSignal): Promise<void>;
}

export interface Ids {
  /** A UUID of version 7. */
  uuid(): string;
  /** A number in [0, 1), for jitter only. */
  random(): number;
}
