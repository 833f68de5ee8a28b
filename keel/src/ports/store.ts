/** Logs and where they live. */
import type { FaultCode } from "../kernel/faults.ts";
import type { Stream } from "../kernel/one-by-one.ts";
import type { Durable } from "../protocol/event/durable.ts";
import type { Artifacts } from "./artifacts.ts";
import type { Leases } from "./lease.ts";

/** Something about a log that a person should know. It has the shape of a `notice.raised` event. */
export type LogNotice = {
  readonly level: "info" | "warning";
  readonly text: string;
  readonly code?: FaultCode;
};

/** Work that may be done while the disk works; where nobody calls it, nothing is lost. Never throws. */
export type Meanwhile = () => void;

/** What the events up to `seq` folded to. Missing at any doubt that it was by this code and of these bytes. */
export type CachedFold = { readonly seq: number; readonly texts: readonly string[] };

export type WriteTexts = () => readonly string[] | Promise<readonly string[]>;

/** The open log of one session, held by one writer. */
export interface Log {
  readonly session: string;
  /** The highest seq on disk, also of a record that this version does not know. The next append goes on from it. */
  readonly lastSeq: number;
  /** At most one warning about damage and one about saving. Complete once `read` has run from the start. */
  readonly notices: readonly LogNotice[];
  /**
   * On disk when it resolves; all or, after a crash, a prefix. Throws `log_unwritable` with nothing acknowledged;
   * what was waiting behind a failed append is refused with it, and a later append may work again.
   */
  append(events: readonly Durable[], meanwhile?: Meanwhile): Promise<void>;
  /** The events after `seq` (0: all), in order. */
  read(after?: number): Stream<Durable>;
  /**
   * Lets go of all but the lease until it is read or appended to. False, and nothing is changed, while it is in use.
   * Absent where nothing would be gained.
   */
  unload?(): Promise<boolean>;
  /** What was kept of an earlier fold of it; told once. */
  cachedFold?(): CachedFold | undefined;
  /** Keeps what all of it folds to, where that is worth its room. Never throws. */
  cacheFold?(write: WriteTexts): Promise<void>;
  /** Gives the lease back. */
  close(): Promise<void>;
}

export type SessionInfo = {
  readonly id: string;
  readonly cwd: string;
  /** The branch of the repository that it began on. */
  readonly branch?: string | undefined;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly bytes: number;
  readonly title?: string | undefined;
  readonly tag?: string | undefined;
  readonly archived?: boolean | undefined;
  /** The start of the first thing a person said. */
  readonly firstInput?: string | undefined;
  readonly forkedFrom?: { readonly session: string; readonly seq: number } | undefined;
  readonly parent?: { readonly session: string; readonly callId: string } | undefined;
  /** Where it went, as a person named it: it is not at work here any more. */
  readonly movedTo?: string | undefined;
};

/** Which of the sessions of a listing are wanted; nothing is read of the others. */
export type ListPage = {
  readonly limit?: number | undefined;
  /** So many of the newest are left out. */
  readonly skip?: number | undefined;
  /** Only what is listed behind this one, wherever it stands by now: pages neither repeat nor miss what stayed as it was. */
  readonly behind?: Pick<SessionInfo, "id" | "changedAt"> | undefined;
};

/** Where logs live. One conformance suite (`testing/store-suite`) holds for every store. */
export interface Store {
  /** By which it gives each log one writer; whoever shares the store may hold other things by them too. */
  readonly leases: Leases;
  /** What sessions keep beside their logs. */
  readonly artifacts: Artifacts;
  /** Makes a new session's log; that of an agent stands with what belongs to its parent. Throws `session_exists` when the id is taken. */
  create(id: string, place: { cwd: string; parent?: string | undefined }): Promise<Log>;
  /** Opens for writing. Throws `session_unknown`, or `session_busy` while another process holds it. */
  open(id: string): Promise<Log>;
  /**
   * Reads without a lease and rewrites nothing; nothing runs because a session is only read. Throws `session_unknown`.
   * `tell` hears of damage once, at the end. A negative `after` stands for so many of the last events.
   */
  read(id: string, after?: number, tell?: (notice: LogNotice) => void): AsyncIterable<Durable>;
  /**
   * Newest change first. Needs no full read. Agents are listed only when their `parent` is named. `only`: one session,
   * and nothing else is looked at.
   */
  list(
    filter?: ListPage & {
      only?: string | undefined;
      cwd?: string | undefined;
      parent?: string | undefined;
    },
  ): Promise<SessionInfo[]>;
  /** A copy of the log up to and with `seq` (all when absent), under a new id. */
  fork(id: string, copy: { id: string; upTo?: number | undefined }): Promise<void>;
  /** With all that belongs to it, its agents included. */
  delete(id: string): Promise<void>;
  /** Where a person finds the log, if it is somewhere. */
  location(id: string): string | undefined;
}
