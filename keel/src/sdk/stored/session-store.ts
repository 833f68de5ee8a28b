/** A store of the program's own that a session is mirrored to, and can be brought back from. */
import type { Json } from "../../kernel/json.ts";

export type SessionKey = { projectKey: string; sessionId: string; subpath?: string };

/** One record. A store keeps entries as they are and gives them back in order. */
export type SessionStoreEntry = { type: string; uuid: string; timestamp: string } & Record<string, Json>;

export interface SessionStore {
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>;
  /** Null when it knows nothing of the session. */
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>;
  listSessions?(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  delete?(key: SessionKey): Promise<void>;
  /** What a store may have beside; Keel asks for neither. */
  listSessionSummaries?(projectKey: string): Promise<unknown[]>;
  listSubkeys?(key: SessionKey): Promise<string[]>;
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

  async delete(key: SessionKey): Promise<void> {
    this.#logs.delete(nameOf(key));
  }
}

const nameOf = ({ projectKey, sessionId, subpath = "" }: SessionKey): string =>
  JSON.stringify([projectKey, sessionId, subpath]);
