/** What is recorded of the end of a task that nobody holds: it never began, its process is gone, or its log was broken. Pure. */

import type { Task, TaskEnd } from "../ports/tasks.ts";
import { billSince } from "../protocol/bill.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import type { TaskData } from "../protocol/task.ts";
import { noBill } from "../protocol/usage.ts";

/** One that should have gone on has ended as it had before; its bill was brought then. */
export function notStarted(id: string, data: TaskData, before: Task | undefined): DurableEvent {
  const summary = `${data.description ?? id}: could not be started`;
  const { bill: _, ...rest } = before?.data ?? data;
  return {
    type: "task.changed",
    taskId: id,
    status: before?.status ?? "failed",
    data: { ...rest, ...(before ? {} : { summary }), told: true },
  };
}

/** A task of a process that has ended, and what is known of it. */
export function lostEvent({ id, data }: Task, end: TaskEnd | undefined): DurableEvent {
  const summary = `${data.description ?? id}: lost, since the process that ran it has ended`;
  const { status = "stopped", ...rest } = end ?? { summary };
  const by = status === "stopped" ? "lost" : "itself";
  return { type: "task.changed", taskId: id, status, data: { ...data, ...rest, by } };
}

/** What is known now. A good end that was not known before is news; otherwise all has been said. */
export function settledLate({ id, status, data, isTold }: Task, end: TaskEnd | undefined): DurableEvent[] {
  if (!end || end.unsettled) return [];
  // What is below may have cost more than was known above.
  const bill = end.bill ? { bill: billSince(end.bill, data.bill ?? noBill) } : {};
  const isNews = end.status === "completed" && status !== "completed";
  const { report, summary, toolUses } = end;
  const said = data.report === undefined || isNews ? { report, toolUses } : {};
  const known = { ...said, ...(isNews ? { summary, error: undefined, by: "itself" as const } : {}) };
  const told = { told: isTold && !isNews };
  return [
    {
      type: "task.changed",
      taskId: id,
      status: isNews ? "completed" : status,
      data: { ...known, ...bill, ...told, unsettled: false },
    },
  ];
}
