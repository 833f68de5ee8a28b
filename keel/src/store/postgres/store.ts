/**
 * A store of which logs stand in a PostgreSQL database that any number of machines share. What a log is made of, how it is
 * checked, read and mended is the same as for files; only where its lines are, and who may write them, is not.
 */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import type { Artifacts } from "../../ports/artifacts.ts";
import type { Leases } from "../../ports/lease.ts";
import type { Store } from "../../ports/store.ts";
import { type FileLayer, isMissing, nodeFiles } from "../jsonl/files.ts";
import { isLogIn } from "../jsonl/log-locations.ts";
import { isSessionId } from "../jsonl/names.ts";
import { type JsonlStoreOptions, jsonlStore, leasesOf } from "../jsonl/store.ts";
import type { LogPlaces } from "../log-kind.ts";
import { tableFiles, tableIndex } from "../table-files.ts";
import { PostgresArtifacts, type PostgresArtifactsOptions } from "./artifacts.ts";
import { type DatabaseOptions, PostgresDatabase } from "./database.ts";
import { PostgresLeases, type PostgresLeasesOptions } from "./leases.ts";
import { PostgresLogs } from "./log-table.ts";

export type RemoteOptions = DatabaseOptions &
  Pick<PostgresLeasesOptions, "leaseMs"> &
  Pick<PostgresArtifactsOptions, "maxRowBytes"> & {
    /** What stands in the home itself. */
    readonly files: FileLayer;
    /** Where a new log goes. */
    readonly fresh: "table" | "files";
    /** Who holds what of the home itself, and the logs that are in it. */
    readonly homeLeases: Leases;
  };

/** The home with what the database adds to it. */
export type Remote = Pick<LogPlaces, "fs" | "index" | "move" | "close"> & {
  readonly database: PostgresDatabase;
  readonly logs: PostgresLogs;
  /** Of sessions in the database. */
  readonly own: PostgresLeases;
  /** Of those, and of everything else that stays with the home. */
  readonly leases: Leases;
  find(session: string, withAgents: boolean): Promise<string | undefined>;
  artifacts(files: Artifacts): Artifacts;
  /** Told of each write of a session that is in the database. */
  onWrote(listener: (session: string) => void): void;
};

export function openRemote(options: RemoteOptions): Remote {
  const { home, files, fresh, homeLeases, leaseMs, maxRowBytes } = options;
  const database = new PostgresDatabase(options);
  const own = new PostgresLeases({ database, uuid: randomUUID, pid: process.pid, leaseMs });
  const writers = new Set<(session: string) => void>();
  const wrote = (session: string): void => {
    for (const listener of writers) listener(session);
  };
  const logs = new PostgresLogs({ home, database, leases: own, wrote });
  const leases = sharedLeases({
    own,
    home: homeLeases,
    isHere: async (id) => (await logs.find(id, true)) !== undefined,
  });
  return {
    database,
    logs,
    own,
    leases,
    fs: remoteFiles({ home, table: logs, files, fresh }),
    index: tableIndex(logs),
    find: (session, withAgents) => logs.find(session, withAgents),
    artifacts: (kept) =>
      new PostgresArtifacts({
        database,
        files: kept,
        token: randomUUID,
        has: async (session) => (await logs.find(session, true)) !== undefined,
        maxRowBytes,
      }),
    onWrote: (listener) => void writers.add(listener),
    async *move(wish, held) {
      const { moveEach } = await import("../move-logs.ts");
      const to = wish.to === "postgres" ? "table" : "files";
      yield* moveEach({ ...wish, to }, { home, table: logs, files, leases: held });
    },
    async close() {
      await own.close();
      await database.close();
    },
  };
}

/** As for any table, with fewer questions on the way: each takes a moment. */
function remoteFiles(parts: Parameters<typeof tableFiles>[0] & { table: PostgresLogs }): FileLayer {
  const { home, table, files } = parts;
  const plain = tableFiles(parts);
  const isLog = (place: string): boolean => isLogIn(home, place);
  return {
    ...plain,
    facts: async (place) =>
      isLog(place) ? ((await table.factsOf(place)) ?? files.facts(place)) : files.facts(place),
    // On this machine there may be no folder of the session at all.
    names: (folder) => files.names(folder).catch(unlessMissing([])),
    syncDirectory: (folder) => files.syncDirectory(folder).catch(unlessMissing(undefined)),
    async removeTree(place) {
      // Folders that are no session's hold no logs.
      if (isLog(place) || isInside(place, [path.join(home, "projects")])) return plain.removeTree(place);
      return files.removeTree(place);
    },
  };
}

const unlessMissing =
  <T>(instead: T) =>
  (thrown: unknown): T => {
    if (isMissing(thrown)) return instead;
    throw thrown;
  };

/**
 * A session of the database is leased there alone: the process that had it may stand still for ever, and its lock in the
 * home with it. A new one, and one that is a file yet, is leased in both.
 */
function sharedLeases({
  own,
  home,
  isHere,
}: {
  own: PostgresLeases;
  home: Leases;
  isHere: (session: string) => Promise<boolean>;
}): Leases {
  return {
    async take(name) {
      if (!isSessionId(name)) return home.take(name);
      const lease = await own.take(name);
      try {
        if (await isHere(name)) return lease;
        const inHome = await home.take(name);
        return {
          async release() {
            await inHome.release();
            await lease.release();
          },
        };
      } catch (thrown) {
        await lease.release();
        throw thrown;
      }
    },
    isHeld: async (name) => (isSessionId(name) && (await own.isHeld(name))) || home.isHeld(name),
    async holders(names) {
      const [here, there] = await Promise.all([home.holders(names), own.holders(names.filter(isSessionId))]);
      return new Map([...here, ...there]);
    },
  };
}

export type PostgresStoreOptions = Omit<JsonlStoreOptions, "index" | "find" | "artifacts" | "leases"> &
  Omit<RemoteOptions, "files" | "fresh" | "homeLeases"> & {
    /** Stands between the store and its files and rows; tests fail any call of it. */
    readonly between?: (files: FileLayer) => FileLayer;
  };

export type PostgresStore = Store & {
  close(): Promise<void>;
  /** As if its process had been killed, or stood still. */
  drop(): void;
  pause(): void;
};

/** The store by itself, where all leases are in the database. */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { between = (same: FileLayer) => same, fs: files = nodeFiles(), ...rest } = options;
  const remote = openRemote({ ...rest, files, fresh: "table", homeLeases: leasesOf({ home: rest.home }) });
  const { index, find, artifacts, own } = remote;
  const store = jsonlStore({ ...rest, fs: between(remote.fs), leases: own, index, find, artifacts });
  return Object.assign(store, {
    close: () => remote.close(),
    drop: () => own.abandon(),
    pause: () => own.pause(),
  });
}
