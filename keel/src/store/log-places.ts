/**
 * The files of a home of which some logs may stand in a database: one of the home, or one that machines share. Nothing of
 * either is loaded before somebody wants logs there, or there are some.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { fault } from "../kernel/fault.ts";
import type { Artifacts } from "../ports/artifacts.ts";
import type { Leases } from "../ports/lease.ts";
import { type FileLayer, nodeFiles } from "./jsonl/files.ts";
import { isLogIn, logDatabase } from "./jsonl/log-locations.ts";
import type { LogKind, LogPlaces, MovedSession, StoreWish } from "./log-kind.ts";
import type { Remote } from "./postgres/store.ts";

export type LogPlacesOptions = {
  readonly home: string;
  readonly now: () => number;
  /** How new logs are to be kept; asked once. */
  readonly wish: () => Promise<StoreWish>;
  /** Who holds what of the home. */
  readonly leases: Leases;
};

type LocalPlaces = Pick<LogPlaces, "fs" | "index" | "move" | "close">;

/** The shared database, once it is known that there is one. */
export type RemoteOf = { remote(): Promise<Remote | undefined> };

export function logPlaces({ home, now, wish, leases }: LogPlacesOptions): LogPlaces & RemoteOf {
  let asked: Promise<StoreWish> | undefined;
  const wishOnce = (): Promise<StoreWish> => {
    asked ??= wish();
    return asked;
  };
  const local = localPlaces({ home, now, kind: async () => (await wishOnce()).kind });
  let opening: Promise<Remote> | undefined;
  let opened: Remote | undefined;
  const open = async (url: string, kind: LogKind): Promise<Remote> => {
    const { openRemote } = await import("./postgres/store.ts");
    opened = openRemote({
      url,
      home,
      files: local.fs,
      fresh: kind === "postgres" ? "table" : "files",
      homeLeases: leases,
    });
    return opened;
  };
  const remote = async (): Promise<Remote | undefined> => {
    const { url, kind } = await wishOnce();
    if (url === undefined && kind === "postgres")
      throw fault("settings_invalid", {
        path: "KEEL_STORE_URL",
        reason: "it must say where the database is",
      });
    if (url === undefined) return undefined;
    opening ??= open(url, kind);
    return opening;
  };
  const fs = async (): Promise<FileLayer> => (await remote())?.fs ?? local.fs;
  const leasesNow = async (): Promise<Leases> => (await remote())?.leases ?? leases;
  return {
    fs: {
      ...local.fs,
      open: async (place, how) => (await fs()).open(place, how),
      facts: async (place) => (await fs()).facts(place),
      rename: async (from, to) => (await fs()).rename(from, to),
      remove: async (place) => (await fs()).remove(place),
      removeTree: async (place) => (await fs()).removeTree(place),
      names: async (folder) => (await fs()).names(folder),
      syncDirectory: async (folder) => (await fs()).syncDirectory(folder),
      existsNow: (place) => (opened?.fs ?? local.fs).existsNow(place),
    },
    index: async (wanted) => {
      const there = (await (await remote())?.index(wanted)) ?? [];
      return [...there, ...(await local.index(wanted))];
    },
    find: async (session, withAgents) => (await remote())?.find(session, withAgents),
    leases: {
      take: async (name) => (await leasesNow()).take(name),
      isHeld: async (name) => (await leasesNow()).isHeld(name),
      holders: async (names) => (await leasesNow()).holders(names),
    },
    artifacts: (files) => lateArtifacts(files, async () => (await remote())?.artifacts(files) ?? files),
    async *move(wanted, held) {
      const there = await remote();
      if (!there) {
        if (wanted.to === "postgres")
          throw fault("settings_invalid", {
            path: "KEEL_STORE_URL",
            reason: "it must say where the database is",
          });
        yield* local.move(wanted, held);
        return;
      }
      // By way of files: each step is whole, whatever ends it.
      const [one, other] = wanted.to === "postgres" ? [local, there] : [there, local];
      const first = { ...wanted, to: wanted.to === "postgres" ? ("jsonl" as const) : wanted.to };
      yield* thenMove(one.move(first, held), other.move(wanted, held));
    },
    remote,
    kind: async () => (await wishOnce()).kind,
    async close() {
      await opened?.close();
      await local.close();
    },
  };
}

/** What the first step has moved is told once, by the second; what it could not is told as it is. */
async function* thenMove(
  first: AsyncIterable<MovedSession>,
  second: AsyncIterable<MovedSession>,
): AsyncGenerator<MovedSession, void> {
  const told = new Set<string>();
  const moved = new Map<string, MovedSession>();
  for await (const one of first) {
    if (one.left === undefined) moved.set(one.session, one);
    // It may be where the second one looks.
    else if (one.left.code !== "session_unknown") {
      told.add(one.session);
      yield one;
    }
  }
  for await (const one of second) {
    moved.delete(one.session);
    if (!told.has(one.session)) yield one;
  }
  yield* moved.values();
}

/** As the store makes them before anybody knows where they are kept. */
function lateArtifacts(files: Artifacts, kept: () => Promise<Artifacts>): Artifacts {
  let asked: Promise<Artifacts> | undefined;
  const once = (): Promise<Artifacts> => {
    asked ??= kept();
    return asked;
  };
  return {
    put: async (wanted, text) => (await once()).put(wanted, text),
    append: async (known, text) => (await once()).append(known, text),
    get: async (known) => (await once()).get(known),
    list: async (of) => (await once()).list(of),
    file: (known) => files.file(known),
  };
}

/** The files of a home and the one database that may be in it. */
function localPlaces({
  home,
  now,
  kind,
}: Pick<LogPlacesOptions, "home" | "now"> & { kind: () => Promise<LogKind> }): LocalPlaces {
  const files = nodeFiles();
  const database = logDatabase(home);
  const isLog = (place: string): boolean => isLogIn(home, place);
  let loading: Promise<LocalPlaces> | undefined;
  let loaded: LocalPlaces | undefined;
  const load = async (): Promise<LocalPlaces> => {
    const fresh = (await kind()) === "sqlite" ? "table" : "files";
    loading ??= import("./sqlite/store.ts").then(({ openTable }) => openTable({ home, now, files, fresh }));
    loaded = await loading;
    return loaded;
  };
  /** Looked at anew: another process may have moved sessions there meanwhile. */
  const table = async (): Promise<LocalPlaces | undefined> =>
    loaded ?? ((await kind()) === "sqlite" || existsSync(database) ? load() : undefined);
  const filesFor = async (place: string): Promise<FileLayer> =>
    isLog(place) ? ((await table())?.fs ?? files) : files;
  return {
    fs: {
      ...files,
      open: async (place, how) => (await filesFor(place)).open(place, how),
      facts: async (place) => (await filesFor(place)).facts(place),
      rename: async (from, to) => (await filesFor(from)).rename(from, to),
      remove: async (place) => (await filesFor(place)).remove(place),
      removeTree: async (place) => ((await table())?.fs ?? files).removeTree(place),
      existsNow: (place) =>
        loaded
          ? loaded.fs.existsNow(place)
          : files.existsNow(place) || (isLog(place) && isInDatabase(database, path.relative(home, place))),
    },
    index: async (wanted) => (await table())?.index(wanted) ?? [],
    async *move(wish, leases) {
      yield* (await load()).move(wish, leases);
    },
    close: async () => loaded?.close(),
  };
}

/** For whoever cannot wait until all of it is loaded. */
function isInDatabase(database: string, place: string): boolean {
  if (!existsSync(database)) return false;
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  using opened = new DatabaseSync(database, { timeout: BUSY_MS });
  // Another process may be making it at this very moment.
  if (!opened.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'logs'").get()) return false;
  return opened.prepare("SELECT 1 FROM logs WHERE place = ?").get(place) !== undefined;
}

const BUSY_MS = 2_000;
