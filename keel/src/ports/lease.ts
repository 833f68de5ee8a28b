/** Who works on what: one holder at a time, over all processes that share a store. */

export type HeldLease = { release(): Promise<void> };

/** Whoever holds leases, by a name of its own: two that have the same one are held by the same process. */
export type LeaseHolder = { readonly id: string; readonly pid?: number | undefined };

export interface Leases {
  /** Throws `session_busy` while another, here or in another process, holds it. It is free when its holder's process ends. */
  take(name: string): Promise<HeldLease>;
  /** Whether somebody seems to hold it. One that was killed may still seem to; only `take` knows. */
  isHeld(name: string): Promise<boolean>;
  /** Who holds which of them now; what a killed process left is held by nobody. */
  holders(names: readonly string[]): Promise<ReadonlyMap<string, LeaseHolder>>;
}
