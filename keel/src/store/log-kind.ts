/** In which ways the logs of a home are kept, and what is needed of each. */
import type { Fault } from "../kernel/fault.ts";
import type { Leases } from "../ports/lease.ts";
import type { FileLayer } from "./jsonl/files.ts";
import type { LogIndex } from "./jsonl/store.ts";

/** How logs are kept: a file of JSON lines for each, or all in one database. */
export type LogKind = "jsonl" | "sqlite";

export type LogPlaces = {
  readonly fs: FileLayer;
  readonly index: LogIndex;
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
