/** Who works on what: one holder at a time, over all processes that share a store. */

export type HeldLease = { release(): Promise<void> };

export interface Leases {
  /** Throws `session_busy` while another, here or in another process, holds it. It is free when its holder's process ends. */
  take(name: string): Promise<HeldLease>;
  /** Whether somebody seems to hold it. One that was killed may still seem to; only `take` knows. */
  isHeld(name: string): boolean;
}
