/**
 * A store that keeps its logs in memory, with the contract of every store. What is read back went through JSON, so
 * that a test sees what a real log would have kept. Logs survive a `restart`, as they would on a disk.
 */
import { fault } from "../../kernel/fault.ts";
import { byteLength } from "../../kernel/text.ts";
import type { ArtifactName, Artifacts } from "../../ports/artifacts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HeldLease, LeaseHolder } from "../../ports/lease.ts";
import type { Log, SessionInfo, Store } from "../../ports/store.ts";
import { type Durable, durableEventSchema } from "../../protocol/event/durable.ts";
import { textOf } from "../../protocol/message.ts";
import { byChange } from "../by-change.ts";
import { namesLike, plainName, sessionId } from "../jsonl/names.ts";
import { checkFollows, checkReadable } from "../jsonl/records.ts";

export type MemoryStoreOptions = {
  /** Logs that exist already, by session id. */
  readonly logs?: Readonly<Record<string, readonly Durable[]>>;
  readonly clock?: Pick<Clock, "now">;
};

export type MemoryStore = Store & {
  /** The events of a session as they stand; none for a session that is not there. */
  events(id: string): Durable[];
  /** The text that was spilled under this path. */
  spilled(path: string): string | undefined;
  /** Another store over the same logs, as a second process would have it. */
  beside(): MemoryStore;
  /** As `beside`, after this store's process was killed: its logs take nothing more, and every lease is free. */
  restart(): MemoryStore;
};

export function memoryStore({ logs = {}, clock }: MemoryStoreOptions = {}): MemoryStore {
  const disk: Disk = {
    sessions: new Map(),
    outputs: new Map(),
    holders: new Map(),
    now: () => clock?.now() ?? Date.now(),
    changes: 0,
    processes: 0,
  };
  for (const [id, events] of Object.entries(logs)) {
    const opened = events.find((event) => event.type === "session.opened");
    const kept = keep(disk, sessionId(id), opened?.cwd ?? "");
    kept.lines.push(...events.map((event) => JSON.stringify(event)));
  }
  return storeOver(disk);
}

type Disk = {
  readonly sessions: Map<string, MemorySession>;
  readonly outputs: Map<string, string>;
  readonly holders: Map<string, MemoryProcess>;
  readonly now: () => number;
  /** Counts changes: two within a millisecond still have an order. */
  changes: number;
  processes: number;
};
type MemorySession = {
  readonly cwd: string;
  readonly parent: string | undefined;
  readonly createdAt: number;
  readonly lines: string[];
  changedAt: number;
  change: number;
};
type MemoryProcess = { readonly id: string; alive: boolean };

function storeOver(disk: Disk): MemoryStore {
  const process: MemoryProcess = { id: `process-${++disk.processes}`, alive: true };
  const find = (id: string): MemorySession => {
    const session = sessionId(id);
    const kept = disk.sessions.get(session);
    if (!kept) throw fault("session_unknown", { session });
    return kept;
  };
  const isHeld = (name: string): boolean => disk.holders.get(name)?.alive === true;
  const hold = (name: string): HeldLease => {
    if (isHeld(name)) throw fault("session_busy", { session: name });
    disk.holders.set(name, process);
    return {
      async release() {
        if (disk.holders.get(name) === process) disk.holders.delete(name);
      },
    };
  };
  const mustBeNew = (session: string): void => {
    if (isHeld(session)) throw fault("session_busy", { session });
    if (disk.sessions.has(session)) throw fault("session_exists", { session });
  };
  const open = (session: string): Log =>
    openLog(session, find(session), { disk, process, lease: hold(session) });
  const store: MemoryStore = {
    leases: {
      take: async (name) => hold(name),
      isHeld: async (name) => isHeld(name),
      holders: async (names) =>
        new Map(
          names
            .filter(isHeld)
            .map((name): [string, LeaseHolder] => [name, { id: disk.holders.get(name)?.id ?? "" }]),
        ),
    },
    async create(id, { cwd, parent }) {
      const session = sessionId(id);
      if (parent !== undefined) find(parent);
      mustBeNew(session);
      keep(disk, session, cwd, parent);
      return open(session);
    },
    open: async (id) => open(sessionId(id)),
    async *read(id, after = 0) {
      yield* after < 0 ? parsed(find(id), 0).slice(after) : parsed(find(id), after);
    },
    async list({ only, cwd, limit = Number.POSITIVE_INFINITY, skip = 0, behind, parent } = {}) {
      return [...disk.sessions]
        .filter(([id]) => only === undefined || id === only)
        .filter(([, kept]) => kept.parent === parent && (cwd === undefined || kept.cwd === cwd))
        .map(([id, kept]) => infoOf(id, kept))
        .filter((info) => behind === undefined || byChange(behind, info) < 0)
        .sort(byChange)
        .slice(skip, skip + limit);
    },
    async fork(id, copy) {
      const from = find(id);
      const session = sessionId(copy.id);
      mustBeNew(session);
      const events = parsed(from, 0).filter(({ seq }) => seq <= (copy.upTo ?? seq));
      const origin = { session: sessionId(id), seq: events.at(-1)?.seq ?? 0 };
      const { lines } = keep(disk, session, from.cwd);
      for (const event of events) lines.push(JSON.stringify(forked(event, session, origin)));
    },
    async delete(id) {
      find(id);
      if (isHeld(id)) throw fault("session_busy", { session: id });
      disk.sessions.delete(sessionId(id));
      for (const path of disk.outputs.keys())
        if (path.startsWith(`memory:${sessionId(id)}/`)) disk.outputs.delete(path);
      for (const [agent, { parent }] of disk.sessions) if (parent === id) await store.delete(agent);
    },
    location: (id) => void sessionId(id),
    artifacts: artifactsOn(disk.outputs, find),
    events: (id) => parsed(disk.sessions.get(sessionId(id)), 0),
    spilled: (path) => disk.outputs.get(path),
    beside: () => storeOver(disk),
    restart() {
      process.alive = false;
      return storeOver(disk);
    },
  };
  return store;
}

function artifactsOn(outputs: Map<string, string>, find: (id: string) => unknown): Artifacts {
  const pathOf = ({ session, kind, name }: ArtifactName): string => {
    find(session);
    return `memory:${sessionId(session)}/${kind}/${plainName(name)}`;
  };
  return {
    async put(wanted, text) {
      const names = namesLike(wanted.name);
      let name = names.next().value;
      while (outputs.has(pathOf({ ...wanted, name }))) name = names.next().value;
      const path = pathOf({ ...wanted, name });
      outputs.set(path, text);
      return { name, path, bytes: byteLength(text) };
    },
    async append(known, text) {
      const path = pathOf(known);
      outputs.set(path, (outputs.get(path) ?? "") + text);
    },
    get: async (known) => outputs.get(pathOf(known)),
    async list(of) {
      const folder = pathOf({ ...of, name: "" }).replace(/[^/]*$/, "");
      const paths = [...outputs.keys()].filter((path) => path.startsWith(folder));
      return paths.map((path) => path.slice(folder.length)).sort();
    },
    file: ({ session }) => void sessionId(session),
  };
}

function openLog(
  session: string,
  kept: MemorySession,
  { disk, process, lease }: { disk: Disk; process: MemoryProcess; lease: HeldLease },
): Log {
  let open = true;
  let last = parsed(kept, 0).at(-1)?.seq ?? 0;
  const checkOpen = () => {
    if (!open) throw fault("session_closed");
  };
  return {
    session,
    get lastSeq() {
      return last;
    },
    notices: [],
    async append(events) {
      checkOpen();
      if (!process.alive) throw fault("log_unwritable", { path: session, reason: "the process has ended" });
      checkFollows(events, last);
      const lines = events.map((event) => JSON.stringify(event));
      for (const [index, event] of events.entries()) checkReadable(event, () => lines[index] ?? "");
      kept.lines.push(...lines);
      last += events.length;
      touch(disk, kept);
    },
    async *read(after = 0) {
      checkOpen();
      yield* parsed(kept, after);
    },
    async close() {
      if (open) await lease.release();
      open = false;
    },
  };
}

function keep(disk: Disk, session: string, cwd: string, parent?: string): MemorySession {
  const at = disk.now();
  const kept: MemorySession = { cwd, parent, createdAt: at, changedAt: at, change: 0, lines: [] };
  disk.sessions.set(session, kept);
  touch(disk, kept);
  return kept;
}

function touch(disk: Disk, kept: MemorySession): void {
  disk.changes += 1;
  kept.change = disk.changes;
  kept.changedAt = disk.now();
}

function parsed(kept: MemorySession | undefined, after: number): Durable[] {
  return (kept?.lines ?? []).flatMap((line) => {
    const { seq, at, session, ...event }: Durable = JSON.parse(line);
    return seq > after ? [{ seq, at, session, ...durableEventSchema.parse(event) }] : [];
  });
}

function forked(event: Durable, session: string, forkedFrom: { session: string; seq: number }): Durable {
  return event.type === "session.opened" ? { ...event, session, forkedFrom } : { ...event, session };
}

const FIRST_INPUT_CHARACTERS = 200;

function infoOf(id: string, kept: MemorySession): SessionInfo {
  const events = parsed(kept, 0);
  const opened = events.find((event) => event.type === "session.opened");
  const titles = events.flatMap((event) => (event.type === "settings.changed" ? [event.patch.title] : []));
  const input = events.flatMap((event) => (event.type === "input.accepted" ? [event.input] : []));
  const said = input.find(({ from }) => from.kind === "person");
  const last = events.at(-1);
  return {
    id,
    cwd: kept.cwd,
    createdAt: kept.createdAt,
    changedAt: kept.changedAt,
    bytes: kept.lines.reduce((sum, line) => sum + byteLength(line) + 1, 0),
    title: titles.findLast((title) => title !== undefined) ?? opened?.settings.title,
    firstInput: said && textOf(said.content).slice(0, FIRST_INPUT_CHARACTERS),
    branch: opened?.branch,
    forkedFrom: opened?.forkedFrom,
    parent: opened?.parent,
    movedTo: last?.type === "session.moved" && last.of === id ? last.to.name : undefined,
  };
}
