/**
 * Starts harmless calls while their reply still streams: read-only, replay-safe, concurrent, and allowed without a
 * question. Their events wait until the reply is on record, and are dropped if the reply fails.
 */

import { traitsOf } from "../../core/define-tool.ts";
import type { ToolCall } from "../../core/state/call-state.ts";
import { toolFor } from "../../core/toolbox.ts";
import type { DurableEvent } from "../../protocol/event.ts";
import type { ToolUse } from "../../protocol/message.ts";
import { needsAsking, type StepContext } from "../step-context.ts";
import { runCall } from "./call.ts";

export function earlyStarter(work: StepContext): { consider(use: ToolUse): void } {
  // Nobody overtakes: after the first call that has to wait, all others wait too.
  let open = !work.parts.hooks.watchTools;
  let started = 0;
  return {
    consider(use) {
      open &&= started < work.parts.limits.concurrentCalls && isHarmless(work, use);
      if (!open) return;
      started++;
      const events: DurableEvent[] = [];
      const call: ToolCall = { use, status: "requested", context: [] };
      const done = runCall(heldBack(work, events), call);
      done.catch(() => undefined); // Whoever takes the result over learns of it.
      work.early.set(use.id, { done, events });
    },
  };
}

function isHarmless(work: StepContext, use: ToolUse): boolean {
  const tool = toolFor(work, use.name);
  if (!tool || use.broken !== undefined || work.isKnownCall(use.id) || work.early.has(use.id)) return false;
  const traits = traitsOf(tool, use.input);
  return traits?.readOnly === true && traits.concurrent && traits.replay === "safe";
}

/** The same work, but nothing it records leaves before the reply does, and nothing is asked. */
function heldBack(work: StepContext, events: DurableEvent[]): StepContext {
  return {
    parts: work.parts,
    signal: work.signal,
    early: work.early,
    tasks: work.tasks,
    interrupt: work.interrupt,
    isKnownCall: work.isKnownCall,
    get state() {
      return work.state;
    },
    record: (event) => void events.push(event),
    saved: async () => undefined,
    show: () => undefined,
    ask: () => {
      throw needsAsking;
    },
    answer: work.answer,
  };
}
