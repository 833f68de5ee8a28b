/** The bridges that a server knows, with what is kept of them and of their work, and the way to each that is there now. */
import { createHash, timingSafeEqual } from "node:crypto";
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import { type BridgeEntry, bridgeVersion, type WorkLine, type WorkSecret } from "../../protocol/bridge.ts";
import { type BridgeRecord, BridgeStore, type WorkRecord } from "./bridge-store.ts";

export type EnvironmentChannel = { send(line: WorkLine): void; close(reason: string): void };

export type KnownBridge = {
  record: BridgeRecord;
  channel?: EnvironmentChannel | undefined;
  seenAt?: number | undefined;
};

export class KnownBridges {
  readonly #store: BridgeStore;
  readonly #changed: (bridge: BridgeEntry) => void;
  readonly #known = new Map<string, KnownBridge>();
  #loading: Promise<void> | undefined;
  #isClosed = false;

  /** `changed`: something that is shown of a bridge is another. */
  constructor(folder: string, changed: (bridge: BridgeEntry) => void) {
    this.#store = new BridgeStore(folder);
    this.#changed = changed;
  }

  load(): Promise<void> {
    this.#loading ??= this.#store.load().then((records) => {
      for (const record of records) this.#known.set(record.config.environmentId, { record });
    });
    return this.#loading;
  }

  all(): readonly KnownBridge[] {
    return [...this.#known.values()];
  }

  get(environment: string): KnownBridge | undefined {
    return this.#known.get(environment);
  }

  /** Throws `bridge_unknown`. */
  async must(environment: string): Promise<KnownBridge> {
    await this.load();
    const known = this.#known.get(environment);
    if (!known) throw fault("bridge_unknown", { bridge: environment });
    return known;
  }

  /** The one that has this session. */
  holderOf(session: string): KnownBridge | undefined {
    return this.#known.values().find((known) => workOf(known, session) !== undefined);
  }

  /** Throws `link_lost` when nothing is kept any more. */
  mustBeOpen(): void {
    if (this.#isClosed) throw fault("link_lost", { reason: "the server is about to end" });
  }

  async keep(record: BridgeRecord): Promise<void> {
    const known = this.#known.get(record.config.environmentId);
    if (known) known.record = record;
    else this.#known.set(record.config.environmentId, { record });
    await this.#store.keep(record);
  }

  async change(known: KnownBridge, facts: Partial<BridgeRecord>): Promise<void> {
    this.mustBeOpen();
    known.record = { ...known.record, ...facts };
    await this.#store.keep(known.record);
    this.tell(known.record.config.environmentId);
  }

  async changeWork(known: KnownBridge, id: string, change: (work: WorkRecord) => WorkRecord): Promise<void> {
    const works = known.record.works.map((work) => (work.session === id ? change(work) : work));
    await this.change(known, { works });
  }

  tell(environment: string): void {
    const known = this.#known.get(environment);
    if (known) this.#changed(entryOf(known));
  }

  async forget(environment: string): Promise<void> {
    this.#known.delete(environment);
    await this.#store.forget(environment);
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when all that was to be kept is. */
  settled(): Promise<void> {
    return this.#store.settled();
  }

  /** A token lets in once, with the key that is the session's from then on. */
  async admits(
    known: KnownBridge,
    work: WorkRecord,
    { key, token }: { readonly key: string; readonly token?: string | undefined },
  ): Promise<boolean> {
    const keySum = sumOf(key);
    if (work.keySum !== undefined) return isSame(work.keySum, keySum);
    if (token === undefined || work.tokenSum === undefined || !isSame(work.tokenSum, sumOf(token)))
      return false;
    await this.changeWork(known, work.session, (before) => ({
      ...before,
      state: "taken",
      keySum,
      tokenSum: undefined,
    }));
    return true;
  }
}

export const workOf = ({ record }: KnownBridge, session: string): WorkRecord | undefined =>
  record.works.find((work) => work.session === session);

export const isActive = (work: Pick<WorkRecord, "state"> | undefined): boolean =>
  work?.state === "given" || work?.state === "taken";

const maxEarlier = 50;

/** The starts of a bridge that another one, by this id, has taken the place of. */
export const earlierStarts = (before: BridgeRecord | undefined, bridgeId: string): string[] =>
  before === undefined || before.config.bridgeId === bridgeId
    ? (before?.earlier ?? [])
    : [...before.earlier, before.config.bridgeId].slice(-maxEarlier);

/** Says why before it ends it. */
export function endChannel<Reason extends string>(
  channel: { send(line: { type: "end"; reason: Reason }): void; close(reason: string): void },
  reason: Reason,
): void {
  channel.send({ type: "end", reason });
  channel.close(reason);
}

/** The way to a bridge is ended, if there is one. */
export function cutOff(known: KnownBridge, reason: string): void {
  const { channel } = known;
  known.channel = undefined;
  if (channel) endChannel(channel, reason);
}

export function entryOf({ record, channel, seenAt }: KnownBridge): BridgeEntry {
  const { environmentId, machineName, dir, branch, spawnMode, maxSessions } = record.config;
  return {
    id: environmentId,
    machineName,
    dir,
    branch,
    spawnMode,
    maxSessions,
    sessions: record.works.filter(isActive).map(({ session }) => session),
    connected: channel !== undefined,
    createdAt: record.createdAt,
    ...present({ seenAt }),
  };
}

/** As it goes over the wire. */
export function workSecret(session_ingress_token: string, api_base_url: string): string {
  const secret: WorkSecret = { version: bridgeVersion, session_ingress_token, api_base_url, auth: [] };
  return Buffer.from(JSON.stringify(secret)).toString("base64url");
}

export const sumOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

const isSame = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
