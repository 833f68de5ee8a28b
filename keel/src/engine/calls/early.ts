/**
 * Starts harmless calls while their reply still streams: read-only, replay-safe, concurrent, and allowed without a
 * question. Their events wait until the reply is on record, and are dropped if the reply fails.
 */

import type { DurableEvent } from "../../protocol/event/durable.ts";
import type { ToolUse } from "../../protocol/message.ts";
import { ledgerOf, takeSnapshot } from "../checkpoint.ts";
import { needsAsking, type StepContext } from "../step-context.ts";
import { runCall } from "./call.ts";
import { contextFor, prepareCall } from "./context.ts";
import { type PreparedCall, traitsOf } from "./prepared.ts";

export function earlyStarter(work: StepContext): { consider(use: ToolUse): void } {
  const { hooks, limits } = work.parts;
  // Nobody overtakes: after the first call that has to wait, all others wait too.
  let open = Promise.resolve(!hooks.watchTools);
  let started = 0;
  let considered = 0;
  return {
    consider(use) {
      if (++considered > limits.callsPerReply) return;
      const isNew = !work.isKnownCall(use.id) && !work.early.has(use.id);
      const prepared = prepareCall(work, { use, status: "requested", context: [] });
      // What it lacks is said when it is its turn.
      takeSnapshotFor(work, prepared).catch(() => undefined);
      open = open.then(
        async (before) => before && isNew && started < limits.concurrentCalls && isHarmless(await prepared),
      );
      if (!isNew) return;
      const events: DurableEvent[] = [];
      const done = open.then(async (mayStart) => {
        if (!mayStart) throw needsAsking;
        started++;
        return runCall(heldBack(work, events), await prepared);
      });
      done.catch(() => undefined); // Whoever takes the result over learns of it.
      work.early.set(use.id, { prepared, done, events });
    },
  };
}

function isHarmless(prepared: PreparedCall): boolean {
  const traits = traitsOf(prepared);
  return traits?.readOnly === true && traits.concurrent && traits.replay === "safe";
}

/** The same work, but nothing it records leaves before the reply does, and nothing is asked. */
function heldBack(work: StepContext, events: DurableEvent[]): StepContext {
  return {
    ...work,
    get state() {
      return work.state;
    },
    record: (event) => void events.push(event),
    saved: async () => undefined,
    show: () => undefined,
    ask: () => {
      throw needsAsking;
    },
  };
}

/** For a call that has just streamed in. Whatever is wrong with it is said when it is its turn. */
async function takeSnapshotFor(work: StepContext, prepared: Promise<PreparedCall>): Promise<void> {
  if (!ledgerOf(work)) return;
  const { call, tool, input } = await prepared;
  if (typeof tool !== "object" || !input?.parse().ok) return;
  await takeSnapshot(work, { tool, context: contextFor(work, call, tool), input });
}
