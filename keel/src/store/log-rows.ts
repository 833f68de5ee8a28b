/** What is needed of a table of logs, whichever database it is in, and what is the same in each. */
import path from "node:path";
import type { ListPage, SessionInfo } from "../ports/store.ts";
import type { FileFacts, OpenFile, OpenFor } from "./jsonl/files.ts";

/** A log of it, for a listing. `info` is known where nothing was added since. */
export type ListedLog = {
  readonly no: number;
  readonly session: string;
  readonly path: string;
  readonly facts: FileFacts;
  readonly info: SessionInfo | undefined;
};

export interface LogRows {
  /** Whether the log of this path stands here. */
  has(log: string): Promise<boolean>;
  hasNow(log: string): boolean;
  open(log: string, how: OpenFor): Promise<OpenFile>;
  facts(log: string): Promise<FileFacts>;
  rename(from: string, to: string): Promise<void>;
  remove(log: string): Promise<void>;
  /** Every log below a folder. */
  removeBelow(folder: string): Promise<void>;
  /** As it was changed where it comes from. */
  stamp(log: string, changedAt: number): Promise<void>;
  /** Newest change first; of a folder, of one session, or of all that are nobody's agents. */
  list(wanted: {
    directory?: string | undefined;
    session?: string | undefined;
    behind?: ListPage["behind"];
    limit: number;
  }): Promise<ListedLog[]>;
  /** What a listing has found out, for the next one. */
  keepShown(found: readonly { log: ListedLog; info: SessionInfo }[]): Promise<void>;
}

const LOG = ".jsonl";

/** What a row says of a log, by where its file would stand in the home. `agent`: 1 for those of agents, 2 for what is being made. */
export function placeParts(place: string): { folder: string; session: string; agent: number } {
  const folder = path.posix.dirname(place);
  // What is being made is not listed.
  const isWhole = place.endsWith(LOG);
  const session = isWhole ? path.posix.basename(place, LOG) : path.posix.basename(place);
  const agent = folder.split("/").length > PROJECT_DEPTH ? 1 : isWhole ? 0 : 2;
  return { folder: isWhole ? folder : "", session, agent };
}

/** `projects/<key>`; what stands deeper belongs to a session. */
const PROJECT_DEPTH = 2;

/** With their ends; the last may have none. */
export function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf("\n", from);
    const to = end === -1 ? bytes.length : end + 1;
    yield bytes.subarray(from, to);
    from = to;
  }
}
