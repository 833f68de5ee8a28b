/** Schedules: prompts that are due by the clock, and what became of each due time. */
import * as z from "zod/mini";
import { jsonSchema } from "./message.ts";

const text = z.string();
const ms = z.number().check(z.int(), z.minimum(0));
const opt = z.optional;

export const overlapPolicies = ["skip", "queue", "replace"] as const;
export const missedPolicies = ["skip", "latest", "all"] as const;

export const whenSchema = z.discriminatedUnion("kind", [
  /** `zone` is the name of a time zone: what summer time makes of it is found out for each due time. */
  z.object({ kind: z.literal("cron"), expression: text, zone: text }),
  z.object({ kind: z.literal("every"), ms: z.number().check(z.int(), z.minimum(1_000)), from: z.number() }),
  z.object({ kind: z.literal("once"), at: z.number() }),
]);
export type When = z.infer<typeof whenSchema>;

export const scheduleSchema = z.object({
  id: text.check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/)),
  when: whenSchema,
  prompt: text.check(z.minLength(1)),
  cwd: text,
  /** The session that is told; one of its own for each due time when left out. */
  session: opt(text),
  /** The chat group whose agent is told, and whose people are answered. */
  group: opt(text),
  /** Of sessions of its own: mode, model, budget, as a first line in JSON has them. */
  options: z.record(text, jsonSchema),
  /** What becomes of a due time while an earlier one is still at work. */
  overlap: z.enum(overlapPolicies),
  /** What becomes of due times at which nobody was there to start them. */
  missed: z.enum(missedPolicies),
  /** How late a start still counts as in time. */
  lateMs: ms,
  /** Up to so much later, by a number that every process finds the same for a due time. */
  jitterMs: ms,
  /** How often a run that failed is tried again. */
  retries: z.number().check(z.int(), z.minimum(0), z.maximum(10)),
  /** After so long a run is ended. */
  endsAfterMs: ms,
  /** Nothing is due after it. */
  until: opt(z.number()),
  /** Due times up to it do not count: when it was made, or last went on after a pause. */
  from: z.number(),
  createdAt: z.number(),
  paused: opt(z.boolean()),
  /** The session whose model made it; left out for a person. */
  by: opt(text),
});
export type Schedule = z.infer<typeof scheduleSchema>;

/** What became of one due time. It is made once, by whoever claims the due time, and is open until it has an end. */
export const scheduledRunSchema = z.object({
  schedule: text,
  due: z.number(),
  claimedAt: z.number(),
  /** The session that is told, and the ids of the inputs, the last of them of the try that counts. */
  session: text,
  inputs: z.array(text),
  startedAt: opt(z.number()),
  /** A later due time wants it to end. */
  replaced: opt(z.boolean()),
  end: opt(
    z.object({
      at: z.number(),
      /** `skipped`: nothing was started. */
      how: z.enum(["done", "failed", "skipped"]),
      /** The reason of its turn, or why it was not started. */
      why: text,
      costUsd: opt(z.number()),
    }),
  ),
});
export type ScheduledRun = z.infer<typeof scheduledRunSchema>;

/** A schedule as somebody who looks at it sees it. */
export const scheduleEntrySchema = z.object({
  schedule: scheduleSchema,
  /** The next starts; none where it is paused or over. */
  next: z.readonly(z.array(z.number())),
  /** The last of its runs, the newest last, and how many are open. */
  runs: z.readonly(z.array(scheduledRunSchema)),
  open: z.number(),
});
export type ScheduleEntry = z.infer<typeof scheduleEntrySchema>;
