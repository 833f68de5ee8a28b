/** In which ways the logs of a home are kept, and what is needed of each. */
import type { Fault } from "../kernel/fault.ts";
import type { Artifacts } from "../ports/artifacts.ts";
import type { Leases } from "../ports/lease.ts";
import type { FileLayer } from "./jsonl/files.ts";
import type { FindLog } from "./jsonl/log-locations.ts";
import type { LogIndex } from "./jsonl/store.ts";

/** How logs are kept: a file of JSON lines for each, all in one database of the home, or in one that machines share. */
export const logKinds = ["jsonl", "sqlite", "postgres"] as const;
export type LogKind = (typeof logKinds)[number];

/** What a person wants: how new logs are kept, and where the shared database is, if there is one. */
export type StoreWish = { readonly kind: LogKind; readonly url?: string | undefined };

export type LogPlaces = {
  readonly fs: FileLayer;
  readonly index: LogIndex;
  readonly find: FindLog;
  readonly leases: Leases;
  /** What stands in files, and what of it stands elsewhere. */
  artifacts(files: Artifacts): Artifacts;
  /** Moves sessions there, one after the other; who is told of each may stop it. */
  move(wanted: MoveWish, leases: Leases): AsyncGenerator<MovedSession, void>;
  /** How new logs are kept. */
  kind(): Promise<LogKind>;
  close(): Promise<void>;
};

export type MoveWish = {
  readonly to: LogKind;
  /** All that stand elsewhere when left out. */
  readonly sessions?: readonly string[] | undefined;
};

export type MovedSession = {
  readonly session: string;
  /** How many there are to move, with those that were. */
  readonly of: number;
  /** Why it stays where it is. */
  readonly left?: Fault | undefined;
};
