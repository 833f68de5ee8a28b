/** The sessions behind the bridges of a server, with the copies of their logs. */
import type { Clock, Ids } from "../../ports/clock.ts";
import type { SessionInfo, Store } from "../../ports/store.ts";
import { jsonlStore } from "../../store/jsonl/store.ts";
import { BridgedSession, type BridgedSessionOptions } from "./bridged-session.ts";

export type BridgedSessionsOptions = {
  /** A home of its own: nobody opens a copy as a session of this machine. */
  readonly home: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sendMessage: BridgedSessionOptions["sendMessage"];
};

export class BridgedSessions {
  readonly #options: BridgedSessionsOptions;
  readonly #logs: Store;
  readonly #open = new Map<string, BridgedSession>();

  constructor(options: BridgedSessionsOptions) {
    this.#options = options;
    this.#logs = jsonlStore(options);
  }

  open(id: string, cwd: string): BridgedSession {
    const known = this.#open.get(id);
    if (known) return known;
    const { clock, ids, sendMessage } = this.#options;
    const session = new BridgedSession({ id, cwd, store: this.#logs, clock, ids, sendMessage });
    this.#open.set(id, session);
    return session;
  }

  get(id: string): BridgedSession | undefined {
    return this.#open.get(id);
  }

  async stored(): Promise<ReadonlyMap<string, SessionInfo>> {
    return new Map((await this.#logs.list()).map((info) => [info.id, info]));
  }

  async close(id: string): Promise<void> {
    await this.#open.get(id)?.close();
    this.#open.delete(id);
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map((session) => session.close()));
  }

  /** With the copy of its log. */
  async forget(id: string): Promise<void> {
    await this.close(id);
    if (this.#logs.location(id) !== undefined) await this.#logs.delete(id);
  }
}
