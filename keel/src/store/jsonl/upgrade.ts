/**
 * Reads every older format: each upgrader turns one record of its version into records of the next. A log keeps its
 * old lines for ever; they are upgraded when they are read. Golden logs under test/golden/logs hold this promise.
 */
import { logVersion } from "../../protocol/event/durable.ts";

export type RawRecord = Readonly<Record<string, unknown>>;

/** Version → how a record of it looks one version later. `seq` stays: an upgrade changes words, not history. */
export type Upgraders = Readonly<Record<number, (record: RawRecord) => RawRecord>>;

/** Format 1 is the first one. */
const upgraders: Upgraders = {};

export function upgradeRecord(
  record: RawRecord,
  from: number,
  { table = upgraders, to = logVersion }: { table?: Upgraders; to?: number } = {},
): RawRecord {
  let upgraded = record;
  for (let version = from; version < to; version++) {
    const upgrade = table[version];
    if (!upgrade) throw new Error(`No upgrade leads from log format ${version} to ${version + 1}`);
    upgraded = upgrade(upgraded);
  }
  return upgraded;
}
