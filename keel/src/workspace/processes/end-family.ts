/** Ends a family of processes: asked first, then killed, and looked for until nobody is found any more. */
import { setTimeout as pause } from "node:timers/promises";
import type { ProcessTree } from "./process-tree.ts";

/** Most end at once, so the first looks follow each other closely; who takes longer is looked for less often. */
const firstPauseMs = 1;
const longestPauseMs = 20;
/** Rounds of SIGKILL: a process that forks while it is looked for is found in the next one. */
const maxRounds = 100;

/** Settles when all are gone, or when those who are left do not die: in an uninterruptible wait nobody does. */
export async function endFamily(
  tree: ProcessTree,
  { graceMs }: { graceMs: number },
): Promise<"gone" | "left"> {
  if (!tree.signal("SIGTERM")) return "gone";
  const endsAt = performance.now() + graceMs;
  // Those whom we know are asked for one by one; only when they are gone, everyone is looked at for others.
  while ((await knownEnd(tree, endsAt - performance.now())) === "ended") if (!tree.isAlive) return "gone";
  for (let round = 0; round < maxRounds; round++) {
    if (!tree.signal("SIGKILL")) return "gone";
    await knownEnd(tree, longestPauseMs);
  }
  return "left";
}

async function knownEnd(tree: ProcessTree, maxMs: number): Promise<"ended" | "late"> {
  const endsAt = performance.now() + maxMs;
  for (
    let pauseMs = firstPauseMs;
    performance.now() < endsAt;
    pauseMs = Math.min(2 * pauseMs, longestPauseMs)
  ) {
    await pause(Math.min(pauseMs, endsAt - performance.now()));
    if (!tree.hasKnownAlive) return "ended";
  }
  return "late";
}
