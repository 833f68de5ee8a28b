/**
 * The bridges of a server: machines that offer a folder and take work. Each piece of work is one session, by its id, and
 * is told until it was taken; so whatever is cut or ends in between, it is done once. What they say of themselves and of
 * their sessions is other people's word: it is shown, and sets up nothing here.
 */
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { SessionInfo } from "../../ports/store.ts";
import {
  type BridgeConfig,
  type BridgeEntry,
  bridgeVersion,
  type EnvironmentLine,
  type IngressLine,
} from "../../protocol/bridge.ts";
import { text } from "../../protocol/message.ts";
import type { OperationQuestion } from "../../protocol/operation.ts";
import type { BridgeRecord, WorkRecord } from "./bridge-store.ts";
import type { BridgedSession, SessionChannel } from "./bridged-session.ts";
import { BridgedSessions } from "./bridged-sessions.ts";
import {
  cutOff,
  type EnvironmentChannel,
  earlierStarts,
  endChannel,
  entryOf,
  isActive,
  type KnownBridge,
  KnownBridges,
  sumOf,
  workOf,
  workSecret,
} from "./known-bridges.ts";

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

/** What a channel of lines is given to. */
export type LinesReceiver<Line> = { receive(lines: readonly Line[]): void; end(): void };

export class Bridges {
  readonly #options: BridgesOptions;
  readonly #known: KnownBridges;
  readonly #sessions: BridgedSessions;

  constructor(options: BridgesOptions) {
    this.#options = options;
    const { folder, clock, ids } = options;
    this.#known = new KnownBridges(path.join(folder, "bridges"), (bridge) => options.changed?.(bridge));
    this.#sessions = new BridgedSessions({
      home: path.join(folder, "bridged"),
      clock,
      ids,
      sendMessage: ({ to, message, from }) => this.send(to.replace(/^bridge:/, ""), message, from),
    });
  }

  /** The same environment registers once. Throws `access_refused` for one that another device has. */
  async register(
    config: BridgeConfig,
    { device, calledAs }: { readonly device: string; readonly calledAs: string },
  ): Promise<{ environment_id: string; epoch: number }> {
    await this.#known.load();
    this.#known.mustBeOpen();
    const { environmentId, bridgeId } = config;
    const known = this.#known.get(environmentId);
    if (known && known.record.device !== device) throw fault("access_refused", { needed: "its own device" });
    const before = known?.record;
    const isSame = before?.config.bridgeId === bridgeId;
    // Words of an earlier start may arrive after those of the one that took its place.
    if (!isSame && before?.earlier.includes(bridgeId))
      throw fault("access_refused", { needed: "the newest start of this bridge" });
    const record: BridgeRecord = {
      config,
      device,
      calledAs,
      epoch: (before?.epoch ?? 0) + (isSame ? 0 : 1),
      earlier: earlierStarts(before, bridgeId),
      createdAt: before?.createdAt ?? this.#options.clock.now(),
      works: before?.works ?? [],
    };
    await this.#known.keep(record);
    // Only one start of a bridge at a time is given work.
    if (known && !isSame) cutOff(known, "another start of this bridge has come");
    this.#known.tell(environmentId);
    return { environment_id: environmentId, epoch: record.epoch };
  }

  async entries(): Promise<BridgeEntry[]> {
    await this.#known.load();
    return this.#known.all().map(entryOf);
  }

  /** Returns the id of the session that it will be. Throws `bridge_unknown`, and `work_refused` where there is no room. */
  async give(
    { bridge, id, prompt, title, model }: OperationQuestion<"giveWork">,
    by: string,
  ): Promise<string> {
    const known = await this.#known.must(bridge);
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
    await this.#known.change(known, { works: [...works, work] });
    this.#sessions.open(work.session, config.dir);
    if (known.channel) await this.#deliver(known, work.session);
    return work.session;
  }

  /** Throws `bridge_unknown`. */
  async remove(bridge: string): Promise<void> {
    const known = await this.#known.must(bridge);
    for (const { session } of known.record.works) await this.#sessions.forget(session);
    await this.#known.forget(bridge);
    cutOff(known, "this bridge was removed");
    this.#options.removed?.(bridge);
  }

  /** Undefined for a session that is behind no bridge. Throws `work_refused` for one that the bridge did not take. */
  async find(id: string): Promise<BridgedSession | undefined> {
    await this.#known.load();
    const known = this.#known.holderOf(id);
    const work = known && workOf(known, id);
    if (work?.state === "refused")
      throw fault("work_refused", { reason: work.reason ?? "The bridge refused it." });
    if (!work || !known) return undefined;
    const session = this.#sessions.open(id, known.record.config.dir);
    if (work.state === "done") session.finish();
    return session;
  }

  /** One whose bridge is there, as it can be followed. */
  current(id: string): { readonly id: string; attach: BridgedSession["follow"] } | undefined {
    const session = this.#sessions.get(id);
    return session?.isAttached ? { id, attach: (...how) => session.follow(...how) } : undefined;
  }

  async stop(id: string): Promise<void> {
    const known = this.#known.holderOf(id);
    known?.channel?.send({ type: "stop", session_id: id });
  }

  /** Ends a session and removes the copy of its log. */
  async delete(id: string): Promise<void> {
    const known = this.#known.holderOf(id);
    if (!known) throw fault("session_unknown", { session: id });
    await this.stop(id);
    await this.#sessions.forget(id);
    await this.#known.change(known, { works: known.record.works.filter(({ session }) => session !== id) });
  }

  /** What a listing shows of the sessions behind bridges, newest change first. */
  async list(): Promise<(SessionInfo & { readonly isOpen: boolean; readonly machine: string })[]> {
    await this.#known.load();
    if (this.#known.all().length === 0) return [];
    const stored = await this.#sessions.stored();
    return this.#known.all().flatMap(({ record: { works, config } }) =>
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
    await this.#known.load();
    const known = this.#known.get(environment);
    if (!known || known.record.device !== device) return undefined;
    let hasGreeted = false;
    let taking: Promise<void> = Promise.resolve();
    const isCurrent = (): boolean => known.channel === channel;
    const take = async (line: EnvironmentLine): Promise<void> => {
      known.seenAt = this.#options.clock.now();
      if (line.type === "hello") {
        if (line.version !== bridgeVersion || line.epoch !== known.record.epoch)
          return endChannel(channel, "another start of this bridge has come");
        hasGreeted = true;
        if (!isCurrent()) cutOff(known, "another connection of this bridge has come");
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
        this.#known.tell(environment);
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
      if (!admitted) return endChannel(channel, "refused");
      const attached = await admitted.session.attach(channel, line.seq);
      if (attached === "behind") return endChannel(channel, "behind");
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
    this.#known.close();
    for (const known of this.#known.all()) known.channel?.close("the server says goodbye");
    await this.#sessions.closeAll();
    await this.#known.settled();
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
      if (isActive(workOf(known, session_id))) await this.#done(known, session_id, status);
    // What it has beyond what is known here, nobody waits for; what it had and has no more is lost there.
    for (const session_id of has)
      if (!isActive(workOf(known, session_id))) known.channel?.send({ type: "stop", session_id });
    const lost = known.record.works.filter(
      ({ state, session }) => state === "taken" && !has.includes(session),
    );
    for (const { session } of lost) await this.#done(known, session, "failed");
    this.#known.tell(known.record.config.environmentId);
    // The token of one that was taken may have been lost on its way, as long as nobody has come with it.
    const untold = known.record.works.filter((work) => isActive(work) && work.keySum === undefined);
    for (const { session } of untold) await this.#deliver(known, session);
  }

  async #hear(known: KnownBridge, line: Exclude<EnvironmentLine, { type: "hello" }>): Promise<void> {
    switch (line.type) {
      case "ack":
        return this.#known.changeWork(known, line.work_id, (work) =>
          work.state === "given" ? { ...work, state: "taken" } : work,
        );
      case "refused":
        await this.#known.changeWork(known, line.work_id, (work) =>
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
    await this.#known.changeWork(known, id, (work) => ({
      ...work,
      state: "done",
      status,
      keySum: undefined,
    }));
    await this.#sessions.close(id);
  }

  /** With a secret of its own each time: one that was told and not used is worth nothing any more. */
  async #deliver(known: KnownBridge, id: string): Promise<void> {
    const work = workOf(known, id);
    const { channel } = known;
    if (!work || !channel) return;
    const token = this.#options.newSecret();
    await this.#known.changeWork(known, id, (before) => ({ ...before, tokenSum: sumOf(token) }));
    channel.send({
      type: "work",
      work_id: id,
      session_id: id,
      secret: workSecret(token, known.record.calledAs),
      ...present({ title: work.title, model: work.model }),
    });
  }

  /** A token lets in once, with the key that is the session's from then on. */
  async #admit(
    { id, device }: { readonly id: string; readonly device: string },
    line: Extract<IngressLine, { type: "attach" }>,
  ): Promise<{ known: KnownBridge; session: BridgedSession } | undefined> {
    await this.#known.load();
    const known = this.#known.holderOf(id);
    const work = known && workOf(known, id);
    if (!known || !work || known.record.device !== device || !isActive(work)) return undefined;
    if (!(await this.#known.admits(known, work, line))) return undefined;
    return { known, session: this.#sessions.open(id, known.record.config.dir) };
  }

  /** What it was given to do; its log knows it by its id, so that it is said once. */
  async #prompt(known: KnownBridge, session: BridgedSession): Promise<void> {
    const prompt = workOf(known, session.id)?.prompt;
    if (!prompt) return;
    const command = { type: "input", id: prompt.id, content: [text(prompt.text)] };
    const question = { session: session.id, commandId: prompt.id, command };
    // One that is cut off meanwhile is told again when it comes back.
    await session.call("submit", question, prompt.by).then(
      () => this.#known.changeWork(known, session.id, ({ prompt: _, ...work }) => work),
      () => undefined,
    );
  }
}
