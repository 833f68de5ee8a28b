// A log on disk that a test damages, and the ways to look at it again.
import { readFile } from "node:fs/promises";
import type { LogNotice, Store } from "../../keel/src/ports/store.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { envelopes, started } from "../../keel/src/testing/store-suite-events.ts";
import { makeHome, readAll, session, writeLog } from "./home.ts";

export type TestLog = {
  readonly cwd: string;
  readonly store: Store;
  readonly file: string;
  /** What the log holds before it is damaged, and its bytes. */
  readonly events: Durable[];
  readonly original: Buffer;
  /** Opens for writing in a store that knows nothing yet. */
  reopen(): Promise<{ notices: readonly LogNotice[]; found: Durable[] }>;
  /** Reads without a lease. */
  readOnly(): Promise<{ told: string[]; found: Durable[] }>;
  appendOne(): Promise<void>;
  remove(): Promise<void>;
};

export async function makeTestLog(count: number): Promise<TestLog> {
  const place = await makeHome();
  const store = jsonlStore({ home: place.home });
  const { file, events } = await writeLog(store, place.cwd, count);
  return {
    cwd: place.cwd,
    store,
    file,
    events,
    original: await readFile(file),
    async reopen() {
      const log = await jsonlStore({ home: place.home }).open(session);
      const found = await readAll(log.read());
      await log.close();
      return { notices: log.notices, found };
    },
    async readOnly() {
      const told: string[] = [];
      const found = await readAll(store.read(session, 0, ({ text }) => told.push(text)));
      return { told, found };
    },
    async appendOne() {
      const log = await store.open(session);
      await log.append(envelopes(session, [started("one more")], log.lastSeq));
      await log.close();
    },
    remove: place.remove,
  };
}
