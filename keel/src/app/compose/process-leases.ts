/** The lease of this process in a home, which all its sessions share: a hundred of them need no hundred kernel locks. */

import type { Clock, Ids } from "../../ports/clock.ts";
import { leasesOf } from "../../store/jsonl/store.ts";

type ProcessLeases = ReturnType<typeof leasesOf>;

/** Like the guard it belongs to the process and not to a session; it holds nothing while no session is open. */
const leases = new Map<string, ProcessLeases>();

export function processLeases(options: { home: string; clock: Clock; ids: Ids }): ProcessLeases {
  const shared = leases.get(options.home) ?? leasesOf(options);
  leases.set(options.home, shared);
  return shared;
}
