/**
 * A log whose texts were changed has sums that fit no request any more. The requests that would be sent as they were
 * before the change get the sums of what would be sent after it; what differed before has none.
 */

import type { Durable } from "../../protocol/event/durable.ts";
import type { RequestSums } from "../../protocol/usage.ts";
import type { ReplayWorld } from "./ports-of-log.ts";
import { replayLog } from "./replay.ts";

export type SummedAgain = {
  readonly events: readonly Durable[];
  /** From this event on today's Keel goes another way, and requests have no sums. */
  readonly differsFrom: number | undefined;
};

export async function sumAgain(
  original: readonly Durable[],
  changed: readonly Durable[],
  world: ReplayWorld,
): Promise<SummedAgain> {
  const { prepare } = world.model;
  const asBefore: boolean[] = [];
  const before = await replayLog(
    original,
    withPrepare(world, async (request, recorded) => {
      const sums = await prepare?.(request, recorded);
      asBefore.push(recorded !== undefined && sums?.body.digest === recorded.body.digest);
      return sums;
    }),
  );
  const fresh = new Map<string, RequestSums>();
  let asked = 0;
  const after = await replayLog(
    changed,
    withPrepare(world, async (request, recorded) => {
      const sums = await prepare?.(request, undefined);
      if (!asBefore[asked++] || !recorded) return sums;
      if (sums) fresh.set(recorded.body.digest, sums);
      return recorded;
    }),
  );
  const ends = [before, after].flatMap(({ difference }) => difference?.seq ?? []);
  const differsFrom = ends.length > 0 ? Math.min(...ends) : undefined;
  const events = changed.map((event) => {
    if (event.type !== "model.started" || !event.sums) return event;
    const { sums: old, ...rest } = event;
    const sums =
      differsFrom !== undefined && event.seq >= differsFrom ? undefined : fresh.get(old.body.digest);
    return sums ? { ...rest, sums } : rest;
  });
  return { events, differsFrom };
}

const withPrepare = (
  world: ReplayWorld,
  prepare: NonNullable<ReplayWorld["model"]["prepare"]>,
): ReplayWorld => ({ ...world, model: { info: (name) => world.model.info(name), prepare } });
