/**
 * What the browser keeps: the durable events of sessions by their seq, so that a reload paints before anybody answers,
 * and inputs that have no receipt yet. It is a copy: it can be deleted at any moment, and is when the person signs out.
 * What a page does not hold in memory stands apart, or a long session could not be read in a moment.
 */
import type { Command, Durable } from "keel/protocol";
import { answerOf, endOf, openDatabase } from "./indexed-db.ts";
import { type Light, lightened } from "./lighten.ts";

/** What is kept of a session without a gap: from its first event to `seq`. */
type KeptSession = { readonly id: string; readonly seq: number; readonly usedAt: number };

export type UnsentInput = {
  /** The id of the input: a session takes it once, however often it is sent. */
  readonly id: string;
  readonly session: string;
  readonly at: number;
  readonly command: Extract<Command, { type: "input" }>;
};

/** An event as it was told, by the id of its call or its input. */
type HeavyEvent = { readonly session: string; readonly id: string; readonly event: Durable };

/** What stands in each of the stores; the key of a light event is its session and its seq. */
type Stores = {
  readonly events: Durable;
  readonly heavy: HeavyEvent;
  readonly sessions: KeptSession;
  readonly unsent: UnsentInput;
};
type StoreName = keyof Stores;
const copied = ["events", "heavy", "sessions"] as const satisfies readonly StoreName[];

export type KeptEvents = {
  /** The last seq that is kept; 0 where there is none. */
  lastSeq(session: string): Promise<number>;
  /** Those after `after` up to `upTo`, light. */
  read(session: string, after: number, upTo: number): Promise<readonly Durable[]>;
  /** By the id of a call or an input; undefined where nothing of its event was left out. */
  whole(session: string, id: string): Promise<Durable | undefined>;
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
    const database = await openDatabase(databaseName, 2, (fresh) => {
      const { objectStoreNames: names } = fresh;
      // What an earlier page has copied is copied again; what was not sent is nowhere else.
      for (const name of copied) if (names.contains(name)) fresh.deleteObjectStore(name);
      fresh.createObjectStore("events", { keyPath: ["session", "seq"] });
      fresh.createObjectStore("heavy", { keyPath: ["session", "id"] });
      fresh.createObjectStore("sessions", { keyPath: "id" }).createIndex("usedAt", "usedAt");
      if (!names.contains("unsent")) fresh.createObjectStore("unsent", { keyPath: "id" });
    });
    return keptIn(database);
  } catch {
    return keptNowhere();
  }
}

function keptIn(database: IDBDatabase): KeptEvents {
  const reading = (name: StoreName): IDBObjectStore => database.transaction(name).objectStore(name);
  const writing = (name: StoreName): IDBObjectStore =>
    database.transaction(name, "readwrite").objectStore(name);
  const get = <Name extends StoreName>(name: Name, key: IDBValidKey): Promise<Stores[Name] | undefined> =>
    answerOf(reading(name).get(key));
  let waiting: Durable[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function write(): Promise<void> {
    timer = undefined;
    const events = waiting;
    waiting = [];
    const transaction = database.transaction(copied, "readwrite", { durability: "relaxed" });
    const runs = new Map<string, { readonly first: number; readonly last: number }>();
    for (const event of events) {
      const { session, seq } = event;
      const run = runs.get(session) ?? { first: seq, last: seq };
      runs.set(session, { first: Math.min(seq, run.first), last: Math.max(seq, run.last) });
      const light: Light<Durable> = lightened(event);
      transaction.objectStore("events").put(light.event);
      if (light.whole !== undefined)
        transaction.objectStore("heavy").put({ session, id: light.whole, event } satisfies HeavyEvent);
    }
    const sessions = transaction.objectStore("sessions");
    const ended = endOf(transaction);
    for (const [id, { first, last }] of runs) {
      const before = (await answerOf<KeptSession | undefined>(sessions.get(id)))?.seq ?? 0;
      // Another page has made room, and what came before these is gone: they count once that is here again.
      if (first > before + 1) continue;
      sessions.put({ id, seq: Math.max(last, before), usedAt: Date.now() });
    }
    await ended;
    await makeRoom(database, [...runs.keys()]);
  }

  return {
    async lastSeq(session) {
      const known = await get("sessions", session);
      if (known) writing("sessions").put({ ...known, usedAt: Date.now() });
      return known?.seq ?? 0;
    },
    read: (session, after, upTo) =>
      answerOf(reading("events").getAll(IDBKeyRange.bound([session, after], [session, upTo], true, false))),
    whole: async (session, id) => (await get("heavy", [session, id]))?.event,
    keep(event) {
      waiting.push(event);
      // A full disk, a closed database: the server has it all.
      timer ??= setTimeout(() => void write().catch(() => undefined), writeAfterMs);
    },
    unsent: () => answerOf(reading("unsent").getAll()),
    putUnsent: async (input) => void (await answerOf(writing("unsent").put(input))),
    removeUnsent: (id) => answerOf(writing("unsent").delete(id)),
    forget: (session) => forget(database, session),
    async clear() {
      clearTimeout(timer);
      timer = undefined;
      waiting = [];
      await Promise.all([...copied, "unsent" as const].map((name) => answerOf(writing(name).clear())));
    },
  };
}

async function forget(database: IDBDatabase, session: string): Promise<void> {
  const transaction = database.transaction(copied, "readwrite");
  transaction.objectStore("events").delete(IDBKeyRange.bound([session, 0], [session, Infinity]));
  transaction.objectStore("heavy").delete(IDBKeyRange.bound([session, ""], [session, []]));
  transaction.objectStore("sessions").delete(session);
  await endOf(transaction);
}

async function makeRoom(database: IDBDatabase, inUse: readonly string[]): Promise<void> {
  const { usage = 0 } = await navigator.storage.estimate();
  if (usage < maxBytes) return;
  const byUse = database.transaction("sessions").objectStore("sessions").index("usedAt");
  const oldest = (await answerOf<KeptSession[]>(byUse.getAll())).find(({ id }) => !inUse.includes(id));
  if (oldest) await forget(database, oldest.id);
}

export function keptNowhere(): KeptEvents {
  const unsent = new Map<string, UnsentInput>();
  return {
    lastSeq: async () => 0,
    read: async () => [],
    whole: async () => undefined,
    keep: () => undefined,
    unsent: async () => [...unsent.values()],
    putUnsent: async (input) => void unsent.set(input.id, input),
    removeUnsent: async (id) => void unsent.delete(id),
    forget: async () => undefined,
    clear: async () => unsent.clear(),
  };
}
