/** The default store: one JSON lines file per session, in the layout of the architecture. */

import { randomUUID } from "node:crypto";
import path from "node:path";
import { Fault, fault } from "../../kernel/fault.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Artifacts } from "../../ports/artifacts.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { HeldLease, Leases } from "../../ports/lease.ts";
import type { ListPage, Log, LogNotice, SessionInfo, Store } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { JsonlArtifacts } from "./artifacts.ts";
import { createWhole, type FileLayer, nodeFiles, type OpenFile, writeAll } from "./files.ts";
import { type FoldCacheEntry, type FoldCacheOptions, readFoldCache } from "./fold-cache.ts";
import { SessionLeases } from "./lease.ts";
import { encodeHeader } from "./line.ts";
import { JsonlLog } from "./log.ts";
import {
  agentsOf,
  type FindLog,
  folderOf,
  isCopyOf,
  isFoldCacheOf,
  LogLocations,
  type LogNames,
  sessionOf,
} from "./log-locations.ts";
import { isSessionId, sessionId } from "./names.ts";
import { openForReading, openLogFile, unwritable } from "./reasons.ts";
import { readEvents } from "./records.ts";
import { type LogSurvey, survey, surveyBehind, surveyEnd } from "./survey.ts";

export type JsonlStoreOptions = {
  /** `KEEL_HOME` or `~/.keel`; made, private, when the first log is. */
  readonly home: string;
  readonly clock?: Pick<Clock, "now">;
  readonly ids?: Pick<Ids, "uuid">;
  /** The files below; tests fail any call of it. */
  readonly fs?: FileLayer;
  /** Who holds which session; made when absent. */
  readonly leases?: Leases;
  /** Absent: nothing is kept of a fold. */
  readonly keeping?: FoldCacheOptions | undefined;
  /** Where some logs are no files. */
  readonly index?: LogIndex;
  /** Where those can be asked for by their session; the folders are looked through when it finds none. */
  readonly find?: FindLog;
  /** Where what sessions keep is not in files alone. */
  readonly artifacts?: (files: Artifacts) => Artifacts;
};

/** Lists the logs that are no files, newest change first: of one directory, or of all that are nobody's agents. */
export type LogIndex = (wanted: {
  readonly directory: string | undefined;
  readonly only: string | undefined;
  readonly behind: ListPage["behind"];
  readonly limit: number;
}) => Promise<SessionInfo[]>;

export function jsonlStore(options: JsonlStoreOptions): Store {
  return new JsonlStore(options);
}

/** The leases of a home, for a store that shares them or a test that drops them. */
export function leasesOf({ home, clock, ids, fs }: Omit<JsonlStoreOptions, "leases">): SessionLeases {
  return new SessionLeases({
    directory: path.join(home, "run"),
    files: fs ?? nodeFiles(),
    now: () => clock?.now() ?? Date.now(),
    uuid: () => ids?.uuid() ?? randomUUID(),
  });
}

class JsonlStore implements Store {
  readonly #home: string;
  readonly #files: FileLayer;
  readonly #places: LogLocations;
  readonly leases: Leases;
  readonly artifacts: Artifacts;
  readonly #now: () => number;
  readonly #keeping: FoldCacheOptions | undefined;
  readonly #index: LogIndex | undefined;

  constructor(options: JsonlStoreOptions) {
    this.#home = options.home;
    this.#files = options.fs ?? nodeFiles();
    this.#places = new LogLocations(options.home, this.#files, options.find);
    const kept = new JsonlArtifacts(this.#files, this.#places);
    this.artifacts = options.artifacts?.(kept) ?? kept;
    this.leases = options.leases ?? leasesOf(options);
    this.#now = () => options.clock?.now() ?? Date.now();
    this.#keeping = options.keeping;
    this.#index = options.index;
  }

  async create(id: string, { cwd, parent }: { cwd: string; parent?: string | undefined }): Promise<Log> {
    const session = sessionId(id);
    const above = parent === undefined ? undefined : await this.#find(sessionId(parent));
    const lock = await this.#take(session);
    try {
      if (await this.#places.findOwn(session)) throw fault("session_exists", { session });
      const { log, durable } = await this.#places.newLog(session, { cwd, parent: above });
      await createWhole(this.#files, [log], async (file) => {
        // The first append makes it durable, with its records; until then nothing was promised.
        await writeAll(file, encodeHeader({ session, cwd, at: this.#now() }), 0);
        await Promise.all([durable, this.#files.syncDirectory(path.dirname(log))]);
      });
      return await this.#openLocked(session, log, lock);
    } catch (thrown) {
      await lock.release();
      throw unwritable(this.#home, thrown);
    }
  }

  async open(id: string): Promise<Log> {
    const session = sessionId(id);
    const log = await this.#find(session);
    // A log that cannot be locked because nothing can be written here can still be read.
    const lock = await this.#take(session).catch(unlessBusy);
    try {
      return await this.#openLocked(session, log, lock);
    } catch (thrown) {
      await lock?.release();
      throw thrown;
    }
  }

  read(id: string, after = 0, tell?: (notice: LogNotice) => void): AsyncIterable<Durable> {
    return oneByOne(this.#batches(id, after, tell));
  }

  async *#batches(
    id: string,
    after: number,
    tell: ((notice: LogNotice) => void) | undefined,
  ): AsyncGenerator<Durable[], void> {
    const session = sessionId(id);
    const log = await this.#find(session);
    await using file = await openForReading(this.#files, log, session);
    const end = after < 0 ? await surveyEnd(file, { path: log, count: -after }) : undefined;
    const { entries: known, damage } = end ?? (await this.#survey(session, log, file));
    const entries = after < 0 ? known.slice(after) : known.filter(({ seq }) => seq > after);
    try {
      yield* readEvents({ file, entries, session, damage });
    } finally {
      for (const notice of damage.notices()) tell?.(notice);
    }
  }

  async list({ only, cwd, parent, ...page }: Parameters<Store["list"]>[0] = {}): Promise<SessionInfo[]> {
    const loading = import("./list.ts");
    if (only !== undefined && (cwd ?? parent) === undefined) {
      const { listOne } = await loading;
      const found = isSessionId(only) ? await this.#places.findOwn(only) : undefined;
      return found === undefined ? [] : listOne(this.#files, { session: only, path: found });
    }
    const directories = await this.#directories({ cwd, parent });
    const [{ listLogs, newest }, all] = await Promise.all([
      loading,
      Promise.all(directories.map((directory) => this.#places.logsIn(directory))),
    ]);
    const wanted = only === undefined ? all : all.map((place) => onlyOf(place, only));
    const [directory] = (cwd ?? parent) === undefined ? [] : directories;
    const { behind, skip = 0, limit = Number.POSITIVE_INFINITY } = page;
    const most = skip + limit;
    const indexed = (await this.#index?.({ directory, only, behind, limit: most })) ?? [];
    if (indexed.length === 0) return listLogs(this.#files, wanted, page);
    const found = await listLogs(this.#files, wanted, { behind, limit: most });
    return newest([...indexed, ...found]).slice(skip, most);
  }

  async fork(id: string, copy: { id: string; upTo?: number | undefined }): Promise<void> {
    const { copyLog } = await import("./fork.ts");
    const from = sessionId(id);
    const to = sessionId(copy.id);
    const log = await this.#find(from);
    const copyPath = path.join(path.dirname(log), `${to}.jsonl`);
    const lock = await this.#take(to);
    try {
      if (await this.#places.find(to)) throw fault("session_exists", { session: to });
      await using file = await openForReading(this.#files, log, from);
      const found = await this.#survey(from, log, file);
      await copyLog({
        files: this.#files,
        from: { session: from, file, survey: found },
        to: { session: to, path: copyPath },
        upTo: copy.upTo ?? Number.POSITIVE_INFINITY,
        now: this.#now(),
      });
    } catch (thrown) {
      throw unwritable(copyPath, thrown);
    } finally {
      await lock.release();
    }
  }

  async delete(id: string): Promise<void> {
    const session = sessionId(id);
    const log = await this.#find(session);
    const lock = await this.#take(session);
    try {
      const directory = path.dirname(log);
      const names = await this.#files.names(directory);
      const copies = names.filter((name) => isCopyOf(log, name) || isFoldCacheOf(log, name));
      // The log goes last: whatever stops us before, the session is still listed and can be deleted again.
      // Somebody else who keeps a fold here may have removed an old one meanwhile.
      for (const name of copies) await this.#files.removeTree(path.join(directory, name));
      await this.#files.removeTree(folderOf(log));
      await this.#files.remove(log);
      await this.#files.syncDirectory(directory);
      this.#places.forget(session);
    } catch (thrown) {
      throw unwritable(log, thrown);
    } finally {
      await lock.release();
    }
  }

  location(id: string): string | undefined {
    return this.#places.findNow(sessionId(id));
  }

  async #directories({ cwd, parent }: { cwd: string | undefined; parent: string | undefined }) {
    if (parent !== undefined) return [agentsOf(await this.#find(sessionId(parent)))];
    return cwd === undefined ? this.#places.directories() : [await this.#places.directoryOf(cwd)];
  }

  async #find(session: string): Promise<string> {
    const log = await this.#places.find(session);
    if (!log) throw fault("session_unknown", { session });
    return log;
  }

  async #take(session: string): Promise<HeldLease> {
    try {
      return await this.leases.take(session);
    } catch (thrown) {
      throw unwritable(this.#home, thrown);
    }
  }

  async #openLocked(session: string, log: string, lock: HeldLease | undefined): Promise<Log> {
    const opened = await openLogFile(this.#files, log, session);
    try {
      const found = await this.#lookAt(session, log, opened.file);
      const parts = { session, path: log, files: this.#files, leases: this.leases, now: this.#now };
      const open = new JsonlLog({ ...parts, keeping: this.#keeping, lock, opened, ...found });
      await open.prepare();
      return open;
    } catch (thrown) {
      await opened.file.close();
      throw thrown;
    }
  }

  /** What is known of its start is not looked at again. */
  async #lookAt(
    session: string,
    log: string,
    file: OpenFile,
  ): Promise<{ survey: LogSurvey; kept: FoldCacheEntry | undefined }> {
    const wanted = { ...this.#keeping, files: this.#files, session, path: log, file };
    const kept = await readFoldCache(wanted);
    const behind = kept && (await surveyBehind(file, { path: log, start: kept.log, seq: kept.seq }));
    if (behind) return { survey: behind, kept };
    return { survey: await survey(file, { path: log, tornEnd: "told" }), kept: undefined };
  }

  /** While somebody holds the log, its end may be half written at any moment: that is no damage. */
  async #survey(session: string, log: string, file: OpenFile) {
    const isHeld = await this.leases.isHeld(session);
    return survey(file, { path: log, tornEnd: isHeld ? "ignored" : "told" });
  }
}

const onlyOf = ({ directory, names }: LogNames, only: string): LogNames => ({
  directory,
  names: names.filter((name) => sessionOf(name) === only),
});

function unlessBusy(thrown: unknown): undefined {
  if (thrown instanceof Fault && thrown.code === "log_unwritable") return undefined;
  throw thrown;
}
