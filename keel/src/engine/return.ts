/** Goes on from an earlier message: looks it up in the log, and records what the conversation was then. */
import { fold } from "../core/fold.ts";
import { OddRecords } from "../core/odd-records.ts";
import { lastMessageOf, type ReturnPoint, returnTo } from "../core/return-point.ts";
import { emptyState } from "../core/state/state.ts";
import { UsedIds } from "../core/used-ids.ts";
import { fault } from "../kernel/fault.ts";
import { each } from "../kernel/one-by-one.ts";
import type { Log } from "../ports/store.ts";
import type { Command } from "../protocol/command.ts";
import type { Input } from "../protocol/event/durable.ts";
import type { StepContext } from "./step-context.ts";

type ReturnCommand = Extract<Command, { type: "return" }>;

/** Throws `usage` where no message is at that event or before it; then nothing has changed. */
export async function returnToMessage(
  work: StepContext,
  { to, block }: ReturnCommand,
  pending: readonly Input[],
): Promise<void> {
  // What waits was said to the conversation that is left; the end of a task is the session's.
  const waiting = pending.filter(({ from }) => from.kind !== "task");
  await work.saved();
  const point = await pointAt(work.parts.log, to, block);
  if (!point) throw fault("usage", { reason: `There is no message at event ${to} or before it.` });
  for (const { id } of waiting) work.record({ type: "input.dropped", inputId: id, why: "cancelled" });
  const event = returnTo(work.state, point);
  if (event) work.record(event);
  await work.saved();
}

/** The newest message up to an event. */
async function pointAt(log: Log, to: number, block: number | undefined): Promise<ReturnPoint | undefined> {
  const used = new UsedIds();
  const odd = new OddRecords(used);
  let state = emptyState;
  let point: ReturnPoint | undefined;
  await each(log.read(), (logged) => {
    if (logged.seq > to) return;
    const event = odd.read(logged, state);
    used.take(event);
    const last = lastMessageOf(event, state, event.seq === to ? block : undefined);
    state = fold(state, event);
    if (last) point = { event, state, last };
  });
  return point;
}
