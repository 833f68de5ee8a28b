/** A store of the program's own that a session is mirrored to, and can be brought back from. */
import { present } from "../../kernel/json.ts";

export type SessionKey = { projectKey: string; sessionId: string; subpath?: string };

/** One record. A store keeps entries as they are and gives them back in order. */
export type SessionStoreEntry = { type: string; uuid?: string; timestamp?: string; [name: string]: unknown };

/** What a store says of a session without its entries: what `foldSessionSummary` made of them. */
export type SessionSummaryEntry = { sessionId: string; mtime: number; data: Record<string, unknown> };
export type SessionStoreFlush = "batched" | "eager";

export interface SessionStore {
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>;
  /** Null when it knows nothing of the session. */
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>;
  listSessions?(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  delete?(key: SessionKey): Promise<void>;
  /** What a store may have beside; Keel asks for neither. */
  listSessionSummaries?(projectKey: string): Promise<SessionSummaryEntry[]>;
  listSubkeys?(key: Omit<SessionKey, "subpath">): Promise<string[]>;
}

export class InMemorySessionStore implements SessionStore {
  readonly #logs = new Map<string, { key: SessionKey; entries: SessionStoreEntry[]; mtime: number }>();

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const log = this.#logs.get(nameOf(key)) ?? { key, entries: [], mtime: 0 };
    log.entries.push(...structuredClone(entries));
    log.mtime = Date.parse(entries.at(-1)?.timestamp ?? "") || log.mtime;
    this.#logs.set(nameOf(key), log);
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const log = this.#logs.get(nameOf(key));
    return log ? structuredClone(log.entries) : null;
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    return [...this.#logs.values()]
      .filter(({ key }) => key.projectKey === projectKey && key.subpath === undefined)
      .map(({ key, mtime }) => ({ sessionId: key.sessionId, mtime }));
  }

  async listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const kept = [...this.#logs.values()].filter(({ key }) => key.projectKey === projectKey && !key.subpath);
    return kept.map(({ key, entries, mtime }) => foldSessionSummary(undefined, key, entries, { mtime }));
  }

  async listSubkeys({ projectKey, sessionId }: Omit<SessionKey, "subpath">): Promise<string[]> {
    const kept = [...this.#logs.values()].map(({ key }) => key);
    return kept.flatMap((key) =>
      key.projectKey === projectKey && key.sessionId === sessionId && key.subpath ? [key.subpath] : [],
    );
  }

  async delete(key: SessionKey): Promise<void> {
    this.#logs.delete(nameOf(key));
  }

  getEntries(key: SessionKey): SessionStoreEntry[] {
    return structuredClone(this.#logs.get(nameOf(key))?.entries ?? []);
  }

  get size(): number {
    return this.#logs.size;
  }

  clear(): void {
    this.#logs.clear();
  }
}

/** For a store that keeps a summary beside each session: when it began, and how many entries it has. */
export function foldSessionSummary(
  before: SessionSummaryEntry | undefined,
  { sessionId }: SessionKey,
  entries: SessionStoreEntry[],
  { mtime = before?.mtime ?? 0 }: { mtime?: number } = {},
): SessionSummaryEntry {
  const began = entries.map(({ timestamp = "" }) => Date.parse(timestamp)).find((at) => !Number.isNaN(at));
  const count = Number(before?.data["entries"] ?? 0) + entries.length;
  const createdAt = before?.data["createdAt"] ?? began;
  return { sessionId, mtime, data: { ...before?.data, entries: count, ...present({ createdAt }) } };
}

const nameOf = ({ projectKey, sessionId, subpath = "" }: SessionKey): string =>
  JSON.stringify([projectKey, sessionId, subpath]);
