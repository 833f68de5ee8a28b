/**
 * What the browser keeps: the durable events of sessions by their seq, so that a reload paints before anybody answers,
 * and inputs that have no receipt yet. It is a copy: it can be deleted at any moment, and is when the person signs out.
 */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Command, Durable } from "keel/protocol";

/** What is kept of a session without a gap: from its first event to `seq`. */
type KeptSession = { readonly id: string; readonly seq: number; readonly usedAt: number };

export type UnsentInput = {
  /** The id of the input: a session takes it once, however often it is sent. */
  readonly id: string;
  readonly session: string;
  readonly at: number;
  readonly command: Extract<Command, { type: "input" }>;
};

interface Schema extends DBSchema {
  events: { key: [session: string, seq: number]; value: Durable };
  sessions: { key: string; value: KeptSession; indexes: { usedAt: number } };
  unsent: { key: string; value: UnsentInput };
}

export type KeptEvents = {
  /** The last seq that is kept; 0 where there is none. */
  lastSeq(session: string): Promise<number>;
  /** Those after `after` up to `upTo`. */
  read(session: string, after: number, upTo: number): Promise<readonly Durable[]>;
  event(session: string, seq: number): Promise<Durable | undefined>;
  /** Written behind the page's back, several at once; what cannot be written is asked for again next time. */
  keep(event: Durable): void;
  unsent(): Promise<readonly UnsentInput[]>;
  putUnsent(input: UnsentInput): Promise<void>;
  removeUnsent(id: string): Promise<void>;
  forget(session: string): Promise<void>;
  /** Everything of this browser. */
  clear(): Promise<void>;
};

const databaseName = "keel";
const writeAfterMs = 200;
/** Beyond it the sessions that were not looked at for the longest time go. */
const maxBytes = 600 * 1024 * 1024;

/** Where the browser lets nothing be kept (a private window), nothing is, and the page works all the same. */
export async function openKeptEvents(): Promise<KeptEvents> {
  try {
    const database = await openDB<Schema>(databaseName, 1, {
      upgrade(fresh) {
        fresh.createObjectStore("events", { keyPath: ["session", "seq"] });
        fresh.createObjectStore("sessions", { keyPath: "id" }).createIndex("usedAt", "usedAt");
        fresh.createObjectStore("unsent", { keyPath: "id" });
      },
    });
    return keptIn(database);
  } catch {
    return keptNowhere();
  }
}

function keptIn(database: IDBPDatabase<Schema>): KeptEvents {
  let waiting: Durable[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function write(): Promise<void> {
    timer = undefined;
    const events = waiting;
    waiting = [];
    const transaction = database.transaction(["events", "sessions"], "readwrite", { durability: "relaxed" });
    const last = new Map<string, number>();
    for (const event of events) {
      last.set(event.session, Math.max(event.seq, last.get(event.session) ?? 0));
      void transaction.objectStore("events").put(event);
    }
    const sessions = transaction.objectStore("sessions");
    for (const [id, seq] of last) {
      const before = (await sessions.get(id))?.seq ?? 0;
      void sessions.put({ id, seq: Math.max(seq, before), usedAt: Date.now() });
    }
    await transaction.done;
    await makeRoom(database, [...last.keys()]);
  }

  return {
    async lastSeq(session) {
      const known = await database.get("sessions", session);
      if (known) void database.put("sessions", { ...known, usedAt: Date.now() }).catch(() => undefined);
      return known?.seq ?? 0;
    },
    read: (session, after, upTo) =>
      database.getAll("events", IDBKeyRange.bound([session, after], [session, upTo], true, false)),
    event: (session, seq) => database.get("events", [session, seq]),
    keep(event) {
      waiting.push(event);
      // A full disk, a closed database: the server has it all.
      timer ??= setTimeout(() => void write().catch(() => undefined), writeAfterMs);
    },
    unsent: () => database.getAll("unsent"),
    putUnsent: async (input) => void (await database.put("unsent", input)),
    removeUnsent: (id) => database.delete("unsent", id),
    forget: (session) => forget(database, session),
    async clear() {
      clearTimeout(timer);
      timer = undefined;
      waiting = [];
      await Promise.all([database.clear("events"), database.clear("sessions"), database.clear("unsent")]);
    },
  };
}

async function forget(database: IDBPDatabase<Schema>, session: string): Promise<void> {
  const transaction = database.transaction(["events", "sessions"], "readwrite");
  void transaction.objectStore("events").delete(IDBKeyRange.bound([session, 0], [session, Infinity]));
  void transaction.objectStore("sessions").delete(session);
  await transaction.done;
}

async function makeRoom(database: IDBPDatabase<Schema>, inUse: readonly string[]): Promise<void> {
  const { usage = 0 } = await navigator.storage.estimate();
  if (usage < maxBytes) return;
  const oldest = (await database.getAllFromIndex("sessions", "usedAt")).find(({ id }) => !inUse.includes(id));
  if (oldest) await forget(database, oldest.id);
}

export function keptNowhere(): KeptEvents {
  const unsent = new Map<string, UnsentInput>();
  return {
    lastSeq: async () => 0,
    read: async () => [],
    event: async () => undefined,
    keep: () => undefined,
    unsent: async () => [...unsent.values()],
    putUnsent: async (input) => void unsent.set(input.id, input),
    removeUnsent: async (id) => void unsent.delete(id),
    forget: async () => undefined,
    clear: async () => unsent.clear(),
  };
}
