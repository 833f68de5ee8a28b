/**
 * The bridge itself: registers its folder at a server, takes work, and spawns a session for each by its mode. Everything
 * that it does may be done twice and counts once: it registers under an id that it keeps, the same work is the same
 * session, and what it has begun it knows after a restart.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import type { WorkspaceWorktrees } from "../../app/workspaces/workspace-worktrees.ts";
import type { RetryPorts } from "../../kernel/backoff.ts";
import { Fault, fault, reasonOf } from "../../kernel/fault.ts";
import { parseJson, present } from "../../kernel/json.ts";
import {
  type BridgeConfig,
  bridgePaths,
  bridgeVersion,
  type EnvironmentLine,
  maxChannelBytes,
  type WorkLine,
  type WorkSecret,
  workLineSchema,
  workSecretSchema,
} from "../../protocol/bridge.ts";
import {
  type ChannelVia,
  type ChannelWire,
  openChannelWire,
  postToServer,
} from "../../transport/node/channel-wire.ts";
import type { BridgeState, SpawnedRecord } from "./bridge-state.ts";
import { keepChannel } from "./kept-channel.ts";
import { SpawnedSession } from "./spawned-session.ts";

export type BridgeOptions = {
  /** Of the server, and what lets us in there. */
  readonly url: string;
  readonly secret: string;
  readonly config: BridgeConfig;
  readonly state: BridgeState;
  readonly served: ServedSessions;
  readonly worktrees: Pick<WorkspaceWorktrees, "make" | "takeUp" | "leave">;
  readonly retry: RetryPorts;
  readonly via?: ChannelVia | undefined;
  /** Options of every session that is spawned, which the person at this machine has given. */
  readonly sessionOptions: Readonly<Record<string, string | boolean>>;
  /** How long the server may be silent. */
  readonly silentMs: number;
  /** For the person here. */
  say(words: string): void;
};

/** How it ended. `single-session` ends with its session; another start of it, or its removal, ends it too. */
export type BridgeEnd = "stopped" | "given-up" | "done" | "removed";

type WorkOrder = Extract<WorkLine, { type: "work" }>;

const person = { access: "work", name: "the bridge" } as const;

export class Bridge {
  readonly #options: BridgeOptions;
  readonly #spawned = new Map<string, SpawnedSession>();
  readonly #over = new AbortController();
  #end: BridgeEnd = "stopped";
  #wire: ChannelWire | undefined;
  #epoch = 0;
  #taking: Promise<void> = Promise.resolve();
  /** Work that has come and is not kept yet: it is not lost, whatever is asked meanwhile. */
  readonly #coming = new Set<string>();

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  get config(): BridgeConfig {
    return this.#options.config;
  }

  /** Resolves when it has ended. Throws `bridge_refused`. */
  async run(): Promise<BridgeEnd> {
    const { retry, via, say, url, state, served } = this.#options;
    for (const record of state.sessions) if (record.state !== "done") await this.#takeUp(record);
    void served.takeUpLeft();
    const how = await keepChannel(
      {
        retry,
        via,
        open: (by, signal) => this.#open(by, signal),
        begin: (wire, greeted) => this.#begin(wire, greeted),
        lost: (reason) => {
          this.#wire = undefined;
          say(`The connection to ${url} is lost (${reason}); trying again.`);
        },
      },
      this.#over.signal,
    );
    if (how === "given-up") this.#end = "given-up";
    // Work that is being taken is there before this ends, or the next start takes it.
    await this.#taking;
    for (const spawned of this.#spawned.values()) spawned.detach();
    await state.settled();
    return this.#end;
  }

  stop(how: BridgeEnd = "stopped"): void {
    this.#end = how;
    this.#over.abort();
    this.#wire?.close();
  }

  /** Words of one of its sessions for another behind a bridge. */
  async sendMessage(from: string, to: string, message: string): Promise<{ ok: boolean; why?: string }> {
    const spawned = this.#spawned.get(from);
    if (!spawned) return { ok: false, why: "This session is not behind a bridge." };
    return spawned.sendMessage(to, message, from);
  }

  /** A line of the server, and what it is; what is none is passed over. */
  hear(line: string): WorkLine["type"] | undefined {
    const parsed = workLineSchema.safeParse(parseJson(line));
    if (!parsed.success) return undefined;
    this.#take(parsed.data);
    return parsed.data.type;
  }

  async #open(via: ChannelVia, signal: AbortSignal): Promise<ChannelWire> {
    const { url, secret, config, silentMs } = this.#options;
    const answer = await postToServer({ url, secret, silentMs, signal }, bridgePaths.register, config);
    this.#epoch = Number(answer["epoch"]);
    const { environmentId } = config;
    return this.#channel(via, signal, {
      socketPath: bridgePaths.environmentSocket.replace("{environment}", environmentId),
      linesPath: bridgePaths.environment.replace("{environment}", environmentId),
    });
  }

  #channel(
    via: ChannelVia,
    signal: AbortSignal,
    paths: { readonly socketPath: string; readonly linesPath: string },
  ): Promise<ChannelWire> {
    const { url, secret, silentMs } = this.#options;
    const newId = (): string => randomUUID();
    return openChannelWire(via, {
      url,
      secret,
      silentMs,
      signal,
      newId,
      maxBytes: maxChannelBytes,
      ...paths,
    });
  }

  #begin(wire: ChannelWire, greeted: () => void): void {
    this.#wire = wire;
    const { state, say, url } = this.#options;
    wire.onMessage((message) => {
      // What a way that is gone still says, is said again over the next one.
      if (this.#wire !== wire) return;
      const isWelcome = message
        .split("\n")
        .map((line) => this.hear(line))
        .includes("welcome");
      if (!isWelcome) return;
      greeted();
      say(`Connected to ${url}.`);
    });
    const open = state.sessions.filter((record) => record.state !== "done").map(({ id }) => id);
    const session_ids = [...new Set([...open, ...this.#coming])];
    const done = state.sessions.flatMap(({ id: session_id, status }) =>
      status ? [{ session_id, status }] : [],
    );
    this.#send({ type: "hello", version: bridgeVersion, epoch: this.#epoch, session_ids, done });
  }

  #take(line: WorkLine): void {
    switch (line.type) {
      case "welcome":
        return;
      case "work":
        // One after the other: whether there is room is known when the one before it is there.
        this.#coming.add(line.session_id);
        this.#taking = this.#taking
          .then(() => this.#work(line))
          .catch(() => undefined)
          .finally(() => this.#coming.delete(line.session_id));
        return;
      case "stop":
        return this.#spawned.get(line.session_id)?.kill();
      case "end":
        this.#options.say(`The server ends this bridge: ${line.reason}.`);
        return this.stop("removed");
    }
  }

  /** Taken, or refused with the reason; told twice it is the same session. */
  async #work(order: WorkOrder): Promise<void> {
    const { work_id, session_id } = order;
    const { state, say } = this.#options;
    try {
      const secret = this.#readSecret(order);
      const known = state.find(session_id);
      if (known?.status) return this.#send({ type: "done", session_id, status: known.status });
      if (!known) await this.#spawn(order, secret);
      else if (known.token !== undefined) {
        // The one before it was never used: from now on it counts for nothing.
        await state.keep({ ...known, token: secret.session_ingress_token });
        this.#spawned.get(session_id)?.detach();
        this.#attach({ ...known, token: secret.session_ingress_token });
      }
      this.#send({ type: "ack", work_id });
    } catch (thrown) {
      const reason = (thrown instanceof Fault ? thrown.message : reasonOf(thrown)).slice(0, 400);
      await state.forget(session_id);
      say(`Work was refused: ${reason}`);
      this.#send({ type: "refused", work_id, reason });
    }
  }

  /** Throws `work_refused`. It is never written anywhere but into the file that only the person can read. */
  #readSecret({ secret }: WorkOrder): WorkSecret {
    const parsed = workSecretSchema.safeParse(parseJson(Buffer.from(secret, "base64url").toString("utf8")));
    if (!parsed.success || parsed.data.version !== bridgeVersion) throw refused("its secret cannot be read.");
    const { api_base_url, mcp_config, environment_variables } = parsed.data;
    const { url, say } = this.#options;
    if (!URL.canParse(api_base_url) || new URL(api_base_url).origin !== new URL(url).origin)
      throw refused("it names another server than the one that this bridge was started for.");
    const left = [
      ...(mcp_config === undefined ? [] : ["servers"]),
      ...(environment_variables ? ["variables"] : []),
    ];
    if (left.length > 0) say(`The work came with ${left.join(" and ")}, which are not taken from there.`);
    return parsed.data;
  }

  async #spawn({ session_id: id, model, title }: WorkOrder, secret: WorkSecret): Promise<void> {
    const { config, state, served, worktrees, sessionOptions, say } = this.#options;
    const { spawnMode, dir } = config;
    const most = spawnMode === "single-session" ? 1 : config.maxSessions;
    if (this.#spawned.size >= most) throw refused(`this bridge takes ${most} at once.`);
    const made =
      spawnMode === "worktree"
        ? await worktrees.make(id, { folder: dir, name: `bridge-${id.slice(-12)}` })
        : undefined;
    const record: SpawnedRecord = {
      id,
      key: randomBytes(32).toString("base64url"),
      token: secret.session_ingress_token,
      cwd: made?.cwd ?? dir,
      ...present({ model, title }),
      ...(made ? { worktree: made.worktree } : {}),
      state: "open",
    };
    // Known before it is there: whatever ends this process, the next one goes on with it.
    await state.keep(record);
    const options = { ...sessionOptions, ...present({ model, title }), sessionId: id };
    await served.call("open", { cwd: record.cwd, options }, person).catch((thrown: unknown) => {
      if (!(thrown instanceof Fault && thrown.code === "session_exists")) throw thrown;
    });
    say(`Session ${id} begins in ${record.cwd}.`);
    this.#attach(record);
  }

  /** After a restart. One that was kept and is not there yet is made now. */
  async #takeUp(record: SpawnedRecord): Promise<void> {
    const { served, worktrees, sessionOptions, say } = this.#options;
    const { id, cwd, model, title, worktree, state } = record;
    if (worktree) {
      const problem = await worktrees.takeUp(placeOf(record));
      if (problem !== undefined) say(problem);
    }
    if (state === "open" && served.sessions.location(id) === undefined) {
      const options = { ...sessionOptions, ...present({ model, title }), sessionId: id };
      await served.call("open", { cwd, options }, person).catch((thrown: unknown) => say(reasonOf(thrown)));
    }
    this.#attach(record);
  }

  #attach(record: SpawnedRecord): void {
    const { served, retry, via, state } = this.#options;
    const { id, key, token } = record;
    const paths = {
      socketPath: bridgePaths.ingressSocket.replace("{session}", id),
      linesPath: bridgePaths.ingress.replace("{session}", id),
    };
    const keep = async (facts: Partial<SpawnedRecord>): Promise<void> => {
      const known = state.find(id);
      if (known) await state.keep({ ...known, ...facts });
    };
    const spawned = new SpawnedSession({
      id,
      key,
      token,
      isEnding: record.state === "ending",
      served,
      retry,
      via,
      connect: (by, signal) => this.#channel(by, signal, paths),
      ending: () => keep({ state: "ending" }),
      admitted: () => {
        const known = state.find(id);
        if (known?.token !== undefined) void keep({ token: undefined });
      },
    });
    this.#spawned.set(id, spawned);
    void spawned.done.then(async (status) => {
      if (this.#spawned.get(id) === spawned) this.#spawned.delete(id);
      this.#options.say(`Session ${id} has ended: ${status}.`);
      await keep({ state: "done", status, token: undefined });
      const kept = record.worktree && (await this.#options.worktrees.leave(placeOf(record)));
      if (kept !== undefined) this.#options.say(`Its worktree stays, since it holds changes: ${kept}`);
      this.#send({ type: "done", session_id: id, status });
      if (this.#options.config.spawnMode === "single-session") this.stop("done");
    });
  }

  #send(line: EnvironmentLine): void {
    this.#wire?.send(JSON.stringify(line));
  }
}

/** The folder of a session, as worktrees are taken up and left: nothing else of a workspace stands behind it. */
const placeOf = ({ id, cwd, worktree }: SpawnedRecord) => ({
  id,
  title: id,
  cwd,
  folder: cwd,
  createdAt: 0,
  changedAt: 0,
  archived: false,
  worktree,
  workers: [],
});

const refused = (reason: string): Fault =>
  fault("work_refused", { reason: `The bridge does not take it: ${reason}` });
