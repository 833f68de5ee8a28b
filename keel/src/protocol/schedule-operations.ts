/** What may be asked of a server about its schedules: rows of the table of operations. */
import * as z from "zod/mini";
import { scheduleEntrySchema } from "./schedule.ts";

const ofSchedule = { schedule: z.string() };

export const scheduleOperations = {
  schedules: {
    says: "The schedules of the home, the next to start first, with their next starts and their last runs; `total` is how many there are. 200 when left out",
    method: "GET",
    path: "/api/schedules",
    access: "watch",
    question: z.object({ limit: z.optional(z.number()) }),
    answer: z.object({ schedules: z.readonly(z.array(scheduleEntrySchema)), total: z.number() }),
  },
  pauseSchedule: {
    says: "Stops a schedule, or lets it go on; of the time in between nothing is made up for",
    method: "PATCH",
    path: "/api/schedules/{schedule}",
    access: "work",
    question: z.object({ ...ofSchedule, paused: z.boolean() }),
    answer: z.object({}),
  },
  runSchedule: {
    says: "Starts a schedule now, beside the times of its clock",
    method: "POST",
    path: "/api/schedules/{schedule}/runs",
    access: "work",
    question: z.object(ofSchedule),
    answer: z.object({}),
  },
  removeSchedule: {
    says: "Ends a schedule and forgets its runs; their sessions stay",
    method: "DELETE",
    path: "/api/schedules/{schedule}",
    access: "work",
    question: z.object(ofSchedule),
    answer: z.object({}),
  },
} as const;

export type ScheduleOperation = keyof typeof scheduleOperations;
