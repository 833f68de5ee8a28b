// The board of background tasks on a log in memory, for tests of tools without a session around them.
import path from "node:path";
import { nodeClock } from "../../keel/src/app/node-ports.ts";
import { fold } from "../../keel/src/core/fold.ts";
import { emptyState, type SessionState } from "../../keel/src/core/state/state.ts";
import type { DurableEvent } from "../../keel/src/protocol/event/durable.ts";
import { TaskBoard } from "../../keel/src/tasks/board.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";

export type RealTasks = {
  readonly board: TaskBoard;
  /** What was recorded so far. */
  readonly events: readonly DurableEvent[];
  readonly state: SessionState;
};

/** `folder` says where the files of tasks are. Waits are real ones. */
export function realTasks(folder: () => string): RealTasks {
  const events: DurableEvent[] = [];
  let state = emptyState;
  const board = new TaskBoard({
    ids: countingIds(),
    clock: nodeClock(),
    taskFile: async (name) => path.join(folder(), name),
    state: () => state,
    record(event) {
      events.push(event);
      state = fold(state, { seq: state.seq + 1, at: Date.now(), session: "session-1", ...event });
    },
    saved: async () => undefined,
    wake: () => undefined,
  });
  return {
    board,
    events,
    get state() {
      return state;
    },
  };
}
