/** Adds an event to the log of a session that nobody has open. */
import { fault } from "../../kernel/fault.ts";
import type { Store } from "../../ports/store.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";

/** Throws `session_unknown`, `session_busy` while it is open, and `session_moved` for one that is elsewhere. */
export async function appendTo(store: Store, id: string, event: DurableEvent, at: number): Promise<void> {
  const log = await store.open(id);
  try {
    // The highest number is known once the log was read.
    let moved: Extract<Durable, { type: "session.moved" }> | undefined;
    for await (const read of log.read()) moved = read.type === "session.moved" ? read : undefined;
    if (moved?.of === id) throw fault("session_moved", { session: id, to: moved.to.name });
    await log.append([{ ...event, seq: log.lastSeq + 1, at, session: id }]);
  } finally {
    await log.close();
  }
}
