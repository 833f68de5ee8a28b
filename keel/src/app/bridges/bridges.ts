/**
 * The bridges of a server: machines that offer a folder and take work. Each piece of work is one session, by its id, and
 * is told until it was taken; so whatever is cut or ends in between, it is done once. What they say of themselves and of
 * their sessions is other people's word: it is shown, and sets up nothing here.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { SessionInfo, Store } from "../../ports/store.ts";
import {
  type BridgeConfig,
  type BridgeEntry,
  bridgeVersion,
  type EnvironmentLine,
  type IngressLine,
  type WorkLine,
  type WorkSecret,
} from "../../protocol/bridge.ts";
import { text } from "../../protocol/message.ts";
import type { OperationQuestion } from "../../protocol/operation.ts";
import { jsonlStore } from "../../store/jsonl/store.ts";
import { type BridgeRecord, BridgeStore, type WorkRecord } from "./bridge-store.ts";
import { BridgedSession, type SessionChannel } from "./bridged-session.ts";

export type BridgesOptions = {
  /** Where they are kept, and the copies of their logs. */
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** A secret that nobody can guess. */
  newSecret(): string;
  /** Something that is shown of a bridge has changed. */
  changed?(bridge: BridgeEntry): void;
  removed?(bridge: string): void;
  /** A session behind a bridge can be followed from now on. */
  opened?(session: BridgedSession): void;
};

export type EnvironmentChannel = { send(line: WorkLine): void; close(reason: string): void };

type KnownBridge = {
  record: BridgeRecord;
  channel?: EnvironmentChannel | undefined;
  seenAt?: number | undefined;
};

/** What a channel of lines is given to. */
export type LinesReceiver<Line> = { receive(lines: readonly Line[]): void; end(): void };

export class Bridges {
  readonly #options: BridgesOptions;
  readonly #store: BridgeStore;
  readonly #logs: Store;
  readonly #known = new Map<string, KnownBridge>();
  readonly #sessions = new Map<string, BridgedSession>();
  #loading: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: BridgesOptions) {
    this.#options = options;
    this.#store = new BridgeStore(path.join(options.folder, "bridges"));
    // A home of its own: nobody opens a copy as a session of this machine.
    this.#logs = jsonlStore({
      home: path.join(options.folder, "bridged"),
      clock: options.clock,
      ids: options.ids,
    });
  }

  /** The same environment registers once. Throws `access_refused` for one that another device has. */
  async register(
    config: BridgeConfig,
    { device, calledAs }: { readonly device: string; readonly calledAs: string },
  ): Promise<{ environment_id: string; epoch: number }> {
    await this.#load();
    if (this.#isClosed) throw fault("link_lost", { reason: "the server is about to end" });
    const { environmentId, bridgeId } = config;
    const known = this.#known.get(environmentId);
    if (known && known.record.device !== device) throw fault("access_refused", { needed: "its own device" });
    const before = known?.record;
    const isSame = before?.config.bridgeId === bridgeId;
    const record: BridgeRecord = {
      config,
      device,
      calledAs,
      epoch: (before?.epoch ?? 0) + (isSame ? 0 : 1),
      createdAt: before?.createdAt ?? this.#options.clock.now(),
      works: before?.works ?? [],
    };
    if (known) known.record = record;
    else this.#known.set(environmentId, { record });
    await this.#store.keep(record);
    // Only one start of a bridge at a time is given work.
    if (known && !isSame) this.#cut(known, "another start of this bridge has come");
    this.#tell(environmentId);
    return { environment_id: environmentId, epoch: record.epoch };
  }

  async entries(): Promise<BridgeEntry[]> {
    await this.#load();
    return [...this.#known.values()].map(entryOf);
  }

  /** Returns the id of the session that it will be. Throws `bridge_unknown`, and `work_refused` where there is no room. */
  async give(
    { bridge, id, prompt, title, model }: OperationQuestion<"giveWork">,
    by: string,
  ): Promise<string> {
    const known = await this.#bridge(bridge);
    const { config, works } = known.record;
    if (id !== undefined && workOf(known, id)) return id;
    const active = works.filter(isActive);
    const most = config.spawnMode === "single-session" ? 1 : config.maxSessions;
    if (active.length >= most)
      throw fault("work_refused", { reason: `This bridge takes ${most} at once, and has ${active.length}.` });
    const { clock, ids } = this.#options;
    const work: WorkRecord = {
      session: id ?? ids.uuid(),
      createdAt: clock.now(),
      state: "given",
      ...present({ title, model }),
      ...(prompt === undefined ? {} : { prompt: { id: ids.uuid(), text: prompt, by } }),
    };
    await this.#change(known, { works: [...works, work] });
    this.#session(work.session, config.dir);
    if (known.channel) await this.#deliver(known, work.session);
    return work.session;
  }

  /** Throws `bridge_unknown`. */
  async remove(bridge: string): Promise<void> {
    const known = await this.#bridge(bridge);
    for (const { session } of known.record.works) await this.#forget(session);
    this.#known.delete(bridge);
    await this.#store.forget(bridge);
    this.#cut(known, "this bridge was removed");
    this.#options.removed?.(bridge);
  }

  /** Undefined for a session that is behind no bridge. Throws `work_refused` for one that the bridge did not take. */
  async find(id: string): Promise<BridgedSession | undefined> {
    await this.#load();
    const known = this.#holderOf(id);
    const work = known && workOf(known, id);
    if (work?.state === "refused")
      throw fault("work_refused", { reason: work.reason ?? "The bridge refused it." });
    if (!work || !known) return undefined;
    const session = this.#session(id, known.record.config.dir);
    if (work.state === "done") session.finish();
    return session;
  }

  /** One whose bridge is there, as it can be followed. */
  current(id: string): { readonly id: string; attach: BridgedSession["follow"] } | undefined {
    const session = this.#sessions.get(id);
    return session?.isAttached ? { id, attach: (...how) => session.follow(...how) } : undefined;
  }

  async stop(id: string): Promise<void> {
    const known = this.#holderOf(id);
    known?.channel?.send({ type: "stop", session_id: id });
  }

  /** Ends a session and removes the copy of its log. */
  async delete(id: string): Promise<void> {
    const known = this.#holderOf(id);
    if (!known) throw fault("session_unknown", { session: id });
    await this.stop(id);
    await this.#forget(id);
    await this.#change(known, { works: known.record.works.filter(({ session }) => session !== id) });
  }

  /** What a listing shows of the sessions behind bridges, newest change first. */
  async list(): Promise<(SessionInfo & { readonly isOpen: boolean; readonly machine: string })[]> {
    await this.#load();
    if (this.#known.size === 0) return [];
    const stored = new Map((await this.#logs.list()).map((info) => [info.id, info]));
    return [...this.#known.values()].flatMap(({ record: { works, config } }) =>
      works
        .filter(({ state }) => state !== "refused")
        .map(({ session, createdAt, title, prompt }) => ({
          id: session,
          cwd: config.dir,
          createdAt,
          changedAt: createdAt,
          bytes: 0,
          ...present({ title, firstInput: prompt?.text }),
          ...stored.get(session),
          isOpen: this.#sessions.get(session)?.isAttached === true,
          machine: config.machineName,
        })),
    );
  }

  /** A bridge has come: it is told what it has not taken yet. Undefined for a registration that is not its newest. */
  async openEnvironment(
    { environment, device }: { readonly environment: string; readonly device: string },
    channel: EnvironmentChannel,
  ): Promise<LinesReceiver<EnvironmentLine> | undefined> {
    await this.#load();
    const known = this.#known.get(environment);
    if (!known || known.record.device !== device) return undefined;
    let hasGreeted = false;
    let taking: Promise<void> = Promise.resolve();
    const isCurrent = (): boolean => known.channel === channel;
    const take = async (line: EnvironmentLine): Promise<void> => {
      known.seenAt = this.#options.clock.now();
      if (line.type === "hello") {
        if (line.version !== bridgeVersion || line.epoch !== known.record.epoch)
          return this.#end(channel, "another start of this bridge has come");
        hasGreeted = true;
        if (!isCurrent()) this.#cut(known, "another connection of this bridge has come");
        known.channel = channel;
        channel.send({ type: "welcome", version: bridgeVersion });
        return this.#greet(known, line);
      }
      if (hasGreeted && isCurrent()) await this.#hear(known, line);
    };
    return {
      receive: (lines) => {
        for (const line of lines)
          taking = taking.then(() => take(line)).catch(() => channel.close("it failed"));
      },
      end: () => {
        if (!isCurrent()) return;
        known.channel = undefined;
        this.#tell(environment);
      },
    };
  }

  /** The bridge has come for one of its sessions: the first line says by which secret. */
  openIngress(
    { session: id, device }: { readonly session: string; readonly device: string },
    channel: SessionChannel,
  ): LinesReceiver<IngressLine> {
    let opened: LinesReceiver<IngressLine> | undefined;
    let isEnded = false;
    const waiting: IngressLine[] = [];
    const open = async (line: Extract<IngressLine, { type: "attach" }>): Promise<void> => {
      const admitted = await this.#admit({ id, device }, line);
      if (!admitted) return this.#endSession(channel, "refused");
      const attached = await admitted.session.attach(channel, line.seq);
      if (attached === "behind") return this.#endSession(channel, "behind");
      if (isEnded) return attached.end();
      opened = attached;
      attached.receive(waiting.splice(0));
      this.#options.opened?.(admitted.session);
      await this.#prompt(admitted.known, admitted.session);
    };
    return {
      receive: (lines) => {
        const [first, ...more] = lines;
        if (opened) return opened.receive(lines);
        if (first?.type !== "attach") return void waiting.push(...lines);
        waiting.push(...more);
        void open(first).catch(() => channel.close("it failed"));
      },
      end: () => {
        isEnded = true;
        opened?.end();
      },
    };
  }

  /** Nothing is kept any more: the next server has the word. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const known of this.#known.values()) known.channel?.close("the server says goodbye");
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.close()));
    await this.#store.settled();
  }

  /** Words for a session behind a bridge, from another that runs somewhere. */
  async send(to: string, words: string, from: string): Promise<{ ok: boolean; why?: string }> {
    const session = await this.find(to).catch(() => undefined);
    if (!session) return { ok: false, why: `There is no session ${to} behind a bridge.` };
    const command = {
      type: "input",
      content: [text(words)],
      from: { kind: "agent", name: from },
      words: "as-is",
    };
    try {
      await session.call("submit", { session: to, commandId: this.#options.ids.uuid(), command }, from);
      return { ok: true };
    } catch (thrown) {
      return { ok: false, why: thrown instanceof Error ? thrown.message : "It was not taken." };
    }
  }

  async #greet(
    known: KnownBridge,
    { session_ids: has, done }: Extract<EnvironmentLine, { type: "hello" }>,
  ): Promise<void> {
    for (const { session_id, status } of done)
      if (isActive(workOf(known, session_id) ?? over)) await this.#done(known, session_id, status);
    // What it has beyond what is known here, nobody waits for; what it had and has no more is lost there.
    for (const session_id of has)
      if (!isActive(workOf(known, session_id) ?? over)) known.channel?.send({ type: "stop", session_id });
    const lost = known.record.works.filter(
      ({ state, session }) => state === "taken" && !has.includes(session),
    );
    for (const { session } of lost) await this.#done(known, session, "failed");
    this.#tell(known.record.config.environmentId);
    for (const { session, state } of known.record.works)
      if (state === "given") await this.#deliver(known, session);
  }

  async #hear(known: KnownBridge, line: Exclude<EnvironmentLine, { type: "hello" }>): Promise<void> {
    switch (line.type) {
      case "ack":
        return this.#changeWork(known, line.work_id, (work) =>
          work.state === "given" ? { ...work, state: "taken" } : work,
        );
      case "refused":
        await this.#changeWork(known, line.work_id, (work) =>
          work.state === "given" ? { ...work, state: "refused", reason: line.reason } : work,
        );
        return this.#sessions.get(line.work_id)?.close();
      case "done":
        return this.#done(known, line.session_id, line.status);
      case "heartbeat":
        return;
    }
  }

  async #done(known: KnownBridge, id: string, status: NonNullable<WorkRecord["status"]>): Promise<void> {
    await this.#changeWork(known, id, (work) => ({ ...work, state: "done", status, keySum: undefined }));
    await this.#sessions.get(id)?.close();
    this.#sessions.delete(id);
  }

  /** With a secret of its own each time: one that was told and not used is worth nothing any more. */
  async #deliver(known: KnownBridge, id: string): Promise<void> {
    const work = workOf(known, id);
    const { channel } = known;
    if (!work || !channel) return;
    const token = this.#options.newSecret();
    await this.#changeWork(known, id, (before) => ({ ...before, tokenSum: sumOf(token) }));
    const secret: WorkSecret = {
      version: bridgeVersion,
      session_ingress_token: token,
      api_base_url: known.record.calledAs,
      auth: [],
    };
    channel.send({
      type: "work",
      work_id: id,
      session_id: id,
      secret: Buffer.from(JSON.stringify(secret)).toString("base64url"),
      ...present({ title: work.title, model: work.model }),
    });
  }

  /** A token lets in once, with the key that is the session's from then on. */
  async #admit(
    { id, device }: { readonly id: string; readonly device: string },
    { key, token }: Extract<IngressLine, { type: "attach" }>,
  ): Promise<{ known: KnownBridge; session: BridgedSession } | undefined> {
    await this.#load();
    const known = this.#holderOf(id);
    const work = known && workOf(known, id);
    if (!known || !work || known.record.device !== device || !isActive(work)) return undefined;
    const sum = sumOf(key);
    if (work.keySum === undefined) {
      if (token === undefined || work.tokenSum === undefined || !isSame(work.tokenSum, sumOf(token)))
        return undefined;
      await this.#changeWork(known, id, (before) => ({
        ...before,
        state: "taken",
        keySum: sum,
        tokenSum: undefined,
      }));
    } else if (!isSame(work.keySum, sum)) return undefined;
    return { known, session: this.#session(id, known.record.config.dir) };
  }

  /** What it was given to do; its log knows it by its id, so that it is said once. */
  async #prompt(known: KnownBridge, session: BridgedSession): Promise<void> {
    const prompt = workOf(known, session.id)?.prompt;
    if (!prompt) return;
    const command = { type: "input", id: prompt.id, content: [text(prompt.text)] };
    const question = { session: session.id, commandId: prompt.id, command };
    // One that is cut off meanwhile is told again when it comes back.
    await session.call("submit", question, prompt.by).then(
      () => this.#changeWork(known, session.id, ({ prompt: _, ...work }) => work),
      () => undefined,
    );
  }

  #session(id: string, cwd: string): BridgedSession {
    const known = this.#sessions.get(id);
    if (known) return known;
    const { clock, ids } = this.#options;
    const session = new BridgedSession({
      id,
      cwd,
      store: this.#logs,
      clock,
      ids,
      sendMessage: ({ to, message, from }) => this.send(to.replace(/^bridge:/, ""), message, from),
    });
    this.#sessions.set(id, session);
    return session;
  }

  async #forget(id: string): Promise<void> {
    await this.#sessions.get(id)?.close();
    this.#sessions.delete(id);
    if (this.#logs.location(id) !== undefined) await this.#logs.delete(id);
  }

  #holderOf(session: string): KnownBridge | undefined {
    return this.#known.values().find((known) => workOf(known, session) !== undefined);
  }

  async #bridge(id: string): Promise<KnownBridge> {
    await this.#load();
    const known = this.#known.get(id);
    if (!known) throw fault("bridge_unknown", { bridge: id });
    return known;
  }

  async #changeWork(known: KnownBridge, id: string, change: (work: WorkRecord) => WorkRecord): Promise<void> {
    const works = known.record.works.map((work) => (work.session === id ? change(work) : work));
    await this.#change(known, { works });
  }

  async #change(known: KnownBridge, facts: Partial<BridgeRecord>): Promise<void> {
    if (this.#isClosed) throw fault("link_lost", { reason: "the server is about to end" });
    known.record = { ...known.record, ...facts };
    await this.#store.keep(known.record);
    this.#tell(known.record.config.environmentId);
  }

  #tell(environment: string): void {
    const known = this.#known.get(environment);
    if (known) this.#options.changed?.(entryOf(known));
  }

  #cut(known: KnownBridge, reason: string): void {
    const { channel } = known;
    known.channel = undefined;
    if (channel) this.#end(channel, reason);
  }

  #end(channel: EnvironmentChannel, reason: string): void {
    channel.send({ type: "end", reason });
    channel.close(reason);
  }

  #endSession(channel: SessionChannel, reason: "refused" | "behind"): void {
    channel.send({ type: "end", reason });
    channel.close(reason);
  }

  #load(): Promise<void> {
    this.#loading ??= this.#store.load().then((records) => {
      for (const record of records) this.#known.set(record.config.environmentId, { record });
    });
    return this.#loading;
  }
}

const workOf = ({ record }: KnownBridge, session: string): WorkRecord | undefined =>
  record.works.find((work) => work.session === session);

const over = { state: "done" } as const;

const isActive = ({ state }: Pick<WorkRecord, "state">): boolean => state === "given" || state === "taken";

function entryOf({ record, channel, seenAt }: KnownBridge): BridgeEntry {
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

const sumOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

const isSame = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
