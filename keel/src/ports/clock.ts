/** Time, ids and chance. */

/** Time. `now` is the wall clock for people; waits and durations use `monotonicMs`, which never jumps. */
export interface Clock {
  now(): number;
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when the signal fires. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Ids {
  /** A UUID of version 7. */
  uuid(): string;
  /** A number in [0, 1), for jitter only. */
  random(): number;
}
