/** A store whose logs fail where a test says so: what cannot be written or read is a fault of the log. */
import { fault } from "../../keel/src/kernel/fault.ts";
import type { Log, Store } from "../../keel/src/ports/store.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";

export type Wrongs = {
  /** Whether these events cannot be written. */
  append?: (session: string, events: readonly Durable[]) => boolean;
  /** Whether the log cannot be read now. */
  read?: (session: string) => boolean;
  /** What a write waits for. */
  hold?: (session: string, events: readonly Durable[]) => Promise<void> | undefined;
};

/** What goes wrong may change while it is used. */
export function faultyStore(store: Store, wrongs: Wrongs): Store {
  const wrap = (log: Log): Log => ({
    session: log.session,
    get lastSeq() {
      return log.lastSeq;
    },
    get notices() {
      return log.notices;
    },
    async append(events) {
      if (wrongs.append?.(log.session, events))
        throw fault("log_unwritable", { path: "log", reason: "no space left" });
      await wrongs.hold?.(log.session, events);
      await log.append(events);
    },
    async *read(after) {
      mustBeReadable(log.session);
      yield* log.read(after);
    },
    close: () => log.close(),
  });
  const mustBeReadable = (session: string): void => {
    if (wrongs.read?.(session)) throw fault("log_unreadable", { path: "log", reason: "input/output error" });
  };
  return {
    create: async (id, place) => wrap(await store.create(id, place)),
    open: async (id) => wrap(await store.open(id)),
    async *read(id, after, tell) {
      mustBeReadable(id);
      yield* store.read(id, after, tell);
    },
    list: (filter) => store.list(filter),
    fork: (id, copy) => store.fork(id, copy),
    delete: (id) => store.delete(id),
    location: (id) => store.location(id),
    leases: store.leases,
    artifacts: store.artifacts,
  };
}
