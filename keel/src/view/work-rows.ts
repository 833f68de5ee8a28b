/** Agents and commands in the background as rows, from what their events say. */

import type { Origin } from "../protocol/ask.ts";
import type { Durable } from "../protocol/event/durable.ts";
import type { TaskData } from "../protocol/task.ts";
import type { AgentRow, TaskRow } from "./rows.ts";
import { chargeAgent, noTotals } from "./totals.ts";

/** What of such an event makes a row. */
export type TaskChangedEvent = Pick<
  Extract<Durable, { type: "task.changed" }>,
  "taskId" | "status" | "data" | "at"
>;

export const agentKey = (agentId: string): string => `agent:${agentId}`;

/** The row of an agent as an event leaves it; the same row where it changes nothing that is shown. */
export function agentRow(before: AgentRow | undefined, event: TaskChangedEvent): AgentRow {
  const { taskId, data = {} } = event;
  const work = workOf(before, event);
  return sameOr(before, {
    kind: "agent",
    id: agentKey(taskId),
    ...work,
    agent: work.data.agent ?? "agent",
    depth: work.data.depth ?? before?.depth ?? 1,
    totals: data.bill ? chargeAgent(before?.totals ?? noTotals, data.bill) : (before?.totals ?? noTotals),
  });
}

/** An agent of which nobody was told that it began, as when a host comes late to the session. */
export function agentRowOf(origin: Origin, at: number): AgentRow {
  const { agentId, parentCallId: callId, kind: agent, depth, description } = origin;
  const about = { agent, depth, callId, ...(description === undefined ? {} : { description }) };
  return agentRow(undefined, { at, taskId: agentId, status: "running", data: about });
}

/** With it, the events of the agent's own log can be folded into the transcript in which its row stands. */
export function originOf({ taskId: agentId, agent: kind, depth, data }: AgentRow): Origin {
  const { callId: parentCallId = "", description } = data;
  return { agentId, parentCallId, kind, depth, ...(description === undefined ? {} : { description }) };
}

/** `display`: what the call that started it shows. */
export function taskRow(
  before: TaskRow | undefined,
  event: TaskChangedEvent,
  { id, display }: Pick<TaskRow, "id" | "display">,
): TaskRow {
  return sameOr(before, { kind: "task", id, ...workOf(before, event), display });
}

function workOf(before: AgentRow | TaskRow | undefined, { taskId, status, at, data = {} }: TaskChangedEvent) {
  const facts: TaskData = {
    ...before?.data,
    ...(status === "running" ? noEnd : {}),
    ...data,
    ...notShown,
  };
  return {
    at: before?.at ?? at,
    taskId,
    status,
    title: facts.description ?? facts.command ?? facts.name ?? taskId,
    endedAt: status === "running" ? null : (before?.endedAt ?? at),
    data: sameOr(before?.data, facts),
  };
}

/** What was true of an end is not true of work that goes on. */
const noEnd = {
  report: undefined,
  toolUses: undefined,
  summary: undefined,
  error: undefined,
  exitCode: undefined,
  signal: undefined,
  by: undefined,
} satisfies TaskData;

/** Between the engine and its log, or summed up in the row. */
const notShown = {
  bill: undefined,
  told: undefined,
  unsettled: undefined,
  since: undefined,
} satisfies TaskData;

const sameOr = <T extends object>(before: T | undefined, after: T): T =>
  before && isSame(before, after) ? before : after;

function isSame(left: object, right: object): boolean {
  const entries = Object.entries(right);
  const known = new Map(Object.entries(left));
  return entries.length === known.size && entries.every(([name, value]) => known.get(name) === value);
}
