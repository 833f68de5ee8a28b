/**
 * Puts the records of a damaged log in their order, which is `seq`: a file that was edited or merged by hand may hold
 * them twice, in another order, or with holes. A sound log passes through as it is.
 */
import type { RecordEntry } from "./scan.ts";

export type Ordered = {
  /** By `seq`, each once: the first in the file counts. */
  readonly entries: readonly RecordEntry[];
  readonly repeated: number;
  /** Records that stood behind one that depends on them. */
  readonly displaced: number;
  readonly missing: readonly Hole[];
};
export type Hole = { readonly from: number; readonly to: number };

/** Which call a record is about, if it is the start or the outcome of one. */
export type CallOf = (entry: RecordEntry) => Promise<string | undefined>;

export async function inOrder(entries: readonly RecordEntry[], callOf: CallOf): Promise<Ordered> {
  if (entries.every((entry, index) => entry.seq === index + 1)) {
    return { entries, repeated: 0, displaced: 0, missing: [] };
  }
  const first = new Map<number, RecordEntry>();
  for (const entry of entries) if (!first.has(entry.seq)) first.set(entry.seq, entry);
  const unique = [...first.values()];
  const sorted = unique.toSorted((left, right) => left.seq - right.seq);
  return {
    entries: sorted,
    repeated: entries.length - unique.length,
    displaced: await countDisplaced(unique, callOf),
    missing: holesIn(sorted),
  };
}

function holesIn(sorted: readonly RecordEntry[]): Hole[] {
  const holes: Hole[] = [];
  let expected = 1;
  for (const { seq } of sorted) {
    if (seq > expected) holes.push({ from: expected, to: seq - 1 });
    expected = seq + 1;
  }
  return holes;
}

/** More than this is no slip of two neighbours, and is not looked at one by one. */
const MAX_LOOKED_AT = 64;

async function countDisplaced(entries: readonly RecordEntry[], callOf: CallOf): Promise<number> {
  let displaced = 0;
  for (const [index, entry] of entries.entries()) {
    const overtakenBy = overtakers(entries, index);
    if (overtakenBy.length === 0) continue;
    const isFine = displaced < MAX_LOOKED_AT && (await areOtherCalls(entry, overtakenBy, callOf));
    if (!isFine) displaced += 1;
  }
  return displaced;
}

/** The records directly before this one in the file that belong behind it. */
function overtakers(entries: readonly RecordEntry[], index: number): RecordEntry[] {
  const seq = entries[index]?.seq ?? 0;
  const found: RecordEntry[] = [];
  for (let before = index - 1; before >= 0 && found.length <= MAX_LOOKED_AT; before--) {
    const entry = entries[before];
    if (!entry || entry.seq < seq) break;
    found.push(entry);
  }
  return found;
}

/** Calls that ran side by side may stand in any order: neither depends on the other. */
async function areOtherCalls(
  entry: RecordEntry,
  others: readonly RecordEntry[],
  callOf: CallOf,
): Promise<boolean> {
  if (others.length > MAX_LOOKED_AT) return false;
  const call = await callOf(entry);
  if (call === undefined) return false;
  for (const other of others) {
    const otherCall = await callOf(other);
    if (otherCall === undefined || otherCall === call) return false;
  }
  return true;
}
