/** Which events a step records itself, and which come from outside at any moment. */

import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { AddedWhy } from "../../protocol/reasons.ts";

/** Words that a step adds before its request. The words of servers and of hooks are the world's: they are taken as they stand. */
const toldBeforeRequest: readonly AddedWhy[] = [
  "output_limit",
  "refusal",
  "empty_reply",
  "structured_output",
  "stuck",
  "tools_added",
  "instructions",
  "skills",
  "agents",
  "editor",
  "memory",
  "reminder",
  "plan",
  "todos",
  "moved",
];

/** A step that asks the model records it before its request. */
export const isTold = (event: Durable): boolean =>
  event.type === "prompt.fixed" ||
  (event.type === "context.added" && toldBeforeRequest.includes(event.why)) ||
  (event.type === "settings.changed" && event.why === "fallback");

/** Comes from hosts, tasks, agents and people, whatever the loop does at the time. */
export const isOutside = (event: Durable): boolean => handle(outside, event) ?? false;

const always = (): boolean => true;
const outside: EventHandlers<Durable, [], boolean> = {
  "input.accepted": always,
  "input.dropped": always,
  "turn.interrupted": always,
  "model.consulted": always,
  "ask.opened": always,
  "ask.closed": always,
  "compaction.requested": always,
  "files.saved": always,
  "task.changed": always,
  "memory.forgotten": always,
  "settings.changed": ({ why }) => why !== "fallback",
  "context.added": ({ why }) => why === "servers",
};

/** After it a new step has begun. */
export const isAnchor = (event: Durable): boolean =>
  event.type !== "model.started" && !isTold(event) && !isOutside(event);
