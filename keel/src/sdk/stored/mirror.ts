/** Sends a session to a store of the program as it grows, and brings it back from there. */

import type { OpenSession } from "../../app/open-session.ts";
import type { Sessions } from "../../app/sessions/sessions.ts";
import { fault, reasonOf, toFault } from "../../kernel/fault.ts";
import { isObject, type Json, parseJson } from "../../kernel/json.ts";
import { projectKeyOf } from "../../kernel/path.ts";
import { uuidFrom } from "../../kernel/uuid.ts";
import { type Durable, durableEventSchema } from "../../protocol/event/durable.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import type { Options } from "../options/options.ts";
import type { SessionKey, SessionStore, SessionStoreEntry } from "./session-store.ts";

export function entryOf(event: Durable): SessionStoreEntry {
  return {
    type: "keel_event",
    uuid: uuidFrom(`${event.session}/${event.seq}/entry`),
    timestamp: new Date(event.at).toISOString(),
    sessionId: event.session,
    event: JSON.parse(JSON.stringify(event)) as Json,
  };
}

/** What is no record of ours is passed over. */
export function eventsIn(entries: readonly SessionStoreEntry[], session: string): Durable[] {
  const found = new Map<number, Durable>();
  for (const { event } of entries) {
    if (!isObject(event)) continue;
    const { seq, at } = event;
    const parsed = durableEventSchema.safeParse(event);
    if (parsed.success && typeof seq === "number" && typeof at === "number")
      found.set(seq, { ...parsed.data, seq, at, session });
  }
  return [...found.values()].sort((left, right) => left.seq - right.seq);
}

/** Keel's own records among those of a transcript. */
export function ownRecordsIn(lines: Iterable<string>): SessionStoreEntry[] {
  const found: SessionStoreEntry[] = [];
  for (const line of lines) {
    const parsed = parseJson(line); // Undefined: not ours, or cut.
    if (isObject(parsed) && parsed["type"] === "keel_event" && isObject(parsed["event"]))
      // A line of JSON; each event is held against its schema where it is used.
      found.push(parsed as SessionStoreEntry & { event: Json });
  }
  return found;
}

/**
 * Brings a session back whose log is missing here, or behind the store's. Returns how far the store knows it. Throws
 * `out_of_time` when the store does not answer in time.
 */
export async function restoreFrom(
  store: SessionStore,
  {
    key,
    cwd,
    sessions,
    timeoutMs,
  }: { key: SessionKey; cwd: string; sessions: Sessions; timeoutMs?: number | undefined },
): Promise<number> {
  const entries = await inTime(store.load(key), timeoutMs);
  if (!entries) return 0;
  const events = eventsIn(entries, key.sessionId);
  const known = events.at(-1)?.seq ?? 0;
  let here = 0;
  if (sessions.location(key.sessionId) !== undefined)
    for await (const { seq } of sessions.read(key.sessionId)) here = seq;
  if (known > here) await sessions.restore(key.sessionId, { cwd, events });
  return known;
}

/** A store that is this far behind gets no more: what it has stays a whole beginning, and the rest is in the log. */
export const maxUnsent = 10_000;

type MirrorOptions = {
  readonly key: SessionKey;
  readonly flush: "batched" | "eager";
  /** How far the store knows the session already. */
  readonly known: number;
  failed(why: string): void;
};

/** Sends events on in their order, several at once. A store that fails is told of once per batch; the log is not hurt. */
export class Mirror {
  readonly #store: SessionStore;
  readonly #options: MirrorOptions;
  #waiting: Durable[] = [];
  #sending: Promise<void> = Promise.resolve();
  #following: Promise<void> = Promise.resolve();
  #seen: number;
  #hasGivenUp = false;

  constructor(store: SessionStore, options: MirrorOptions) {
    this.#store = store;
    this.#options = options;
    this.#seen = options.known;
  }

  /** Adds what the session's log has and gets, until the session ends. */
  follow(session: Pick<OpenSession, "attach">): void {
    const add = async (): Promise<void> => {
      for await (const event of session.attach(this.#seen))
        if (isDurable(event) && !event.origin) this.add(event);
    };
    this.#following = add().catch((thrown: unknown) => this.#options.failed(toFault(thrown).message));
  }

  /** Settles when all that the ended session had is sent, or has failed. Never rejects. */
  async finish(): Promise<void> {
    await this.#following;
    await this.send();
  }

  add(event: Durable): void {
    if (event.seq <= this.#seen || this.#hasGivenUp) return;
    if (this.#waiting.length >= maxUnsent) {
      this.#hasGivenUp = true;
      return this.#options.failed(fault("queue_full", { limit: maxUnsent }).message);
    }
    this.#seen = event.seq;
    this.#waiting.push(event);
    if (this.#options.flush === "eager" || event.type === "turn.finished") void this.send();
  }

  /** Settles when all that was added has been sent, or has failed. Never rejects. */
  send(): Promise<void> {
    this.#sending = this.#sending.then(async () => {
      const batch = this.#waiting.splice(0);
      if (batch.length === 0) return;
      try {
        await this.#store.append(this.#options.key, batch.map(entryOf));
      } catch (thrown) {
        this.#options.failed(reasonOf(thrown));
      }
    });
    return this.#sending;
  }
}

async function inTime<T>(promise: Promise<T>, ms: number | undefined): Promise<T> {
  if (ms === undefined) return promise;
  const { nodeClock } = await import("../../app/node-ports.ts");
  const done = new AbortController();
  const late = nodeClock()
    .sleep(ms, done.signal)
    .then(() => "late" as const);
  try {
    const settled = await Promise.race([promise.then((value) => ({ value })), late]);
    if (settled === "late")
      throw fault("out_of_time", { what: "Loading a session from its store", seconds: ms / 1000 });
    return settled.value;
  } finally {
    done.abort();
  }
}

/** How far the program's own store knows the session. */
export async function restored(
  options: Options,
  { cwd, sessions }: { cwd: string; sessions: Sessions },
): Promise<number> {
  const { sessionStore, resume, forkSession } = options;
  if (!sessionStore || resume === undefined) return 0;
  const key = { projectKey: projectKeyOf(cwd), sessionId: resume };
  const known = await restoreFrom(sessionStore, { key, cwd, sessions, timeoutMs: options.loadTimeoutMs });
  return forkSession ? 0 : known;
}
