/** Ends a family of processes: asked first, then killed, and looked for until nobody is found any more. */
import { setTimeout as pause } from "node:timers/promises";
import type { ProcessTree } from "./process-tree.ts";

const lookEveryMs = 20;
/** Rounds of SIGKILL: a process that forks while it is looked for is found in the next one. */
const mostRounds = 100;

/** Settles when all are gone, or when those who are left do not die: in an uninterruptible wait nobody does. */
export async function endFamily(tree: ProcessTree, { graceMs }: { graceMs: number }): Promise<void> {
  tree.signal("SIGTERM");
  const endsAt = performance.now() + graceMs;
  while (performance.now() < endsAt && tree.isAlive) await pause(lookEveryMs);
  for (let round = 0; round < mostRounds && tree.signal("SIGKILL"); round++) await pause(lookEveryMs);
}
