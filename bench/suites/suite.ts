/** What a suite gets and gives. To add one: a file beside this one, and its name in `run.ts`. */
import type { Counts } from "../counts.ts";
import type { Contest } from "../measure.ts";
import type { Programs } from "../processes.ts";

export type Bench = {
  readonly counts: Counts;
  readonly programs: Programs;
  /** A new empty folder on the disk that is measured. */
  folder(): Promise<string>;
  /** The most memory that Node holds when it does nothing. */
  readonly bareStartBytes: number;
};

export type OpenSuite = { readonly contests: readonly Contest[]; close(): Promise<void> };

export type Suite = (bench: Bench) => Promise<OpenSuite>;

export const megabytes = (bytes: number): number => bytes / 2 ** 20;
export const kilobytes = (bytes: number): number => bytes / 2 ** 10;

/** What entrants share, made when the first of them needs it: a contest that is left out costs nothing. */
export function prepared<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
