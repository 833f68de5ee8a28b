/** What is kept of runs that have ended: the last of them, and all of the last days. */
import type { ScheduledRun } from "../../protocol/schedule.ts";

export const keptRuns = 50;
const keptMs = 2 * 24 * 3_600_000;

/** Whoever decided before a run of such an age, and acts only now, has slept for days between two lines. */
export const oldEnough = ({ claimedAt }: ScheduledRun, now: number): boolean => now - claimedAt > keptMs;
