/**
 * Where changes of files are written down so that they can be taken back: in the log of the session that a host opened.
 * Its agents, who work in the same folder, write there too: a person takes back a turn, whoever worked in it.
 */
import type { DurableEvent } from "../protocol/event/durable.ts";
import type { Checkpoints } from "./checkpoints.ts";

export type FileLedger = {
  readonly checkpoints: Checkpoints;
  /** The id of the input before which the files of now were as they are kept; undefined before the first one. */
  checkpoint(): string | undefined;
  isSaved(checkpoint: string, path: string): boolean;
  record(event: Extract<DurableEvent, { type: "files.saved" }>): void;
  /** What was recorded is on disk. */
  saved(): Promise<void>;
};
