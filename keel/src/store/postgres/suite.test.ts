import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type Postgres, startPostgres } from "../../../../test/support/postgres.ts";
import { storeSuite } from "../../testing/store-suite.ts";
import type { StoreUnderTest } from "../../testing/store-suite-events.ts";
import { type PostgresStoreOptions, postgresStore } from "./store.ts";

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.close());

/** A killed process is gone after this time, and a test waits for it. */
const leaseMs = 400;

describe("the store in PostgreSQL", () => {
  for (const { name, run } of storeSuite({ open })) test(name, run);
});

async function open(): Promise<StoreUnderTest> {
  const base = await mkdtemp(path.join(tmpdir(), "keel-pg-store-"));
  const folders = [path.join(base, "one"), path.join(base, "two")] as const;
  for (const folder of folders) await mkdir(folder);
  const url = server.url(await server.schema());
  const opened: { close(): Promise<void> }[] = [];
  // Each process has a home of its own, as on another machine.
  const openOne = (more: Partial<PostgresStoreOptions> = {}) => {
    const store = postgresStore({ home: path.join(base, `home-${opened.length}`), url, leaseMs, ...more });
    opened.push(store);
    return store;
  };
  const store = openOne();
  return {
    store,
    folders,
    beside: async () => openOne(),
    restart: async () => {
      store.drop();
      await sleep(leaseMs + 50);
      return openOne();
    },
    readSpilled: (file) => readFile(file, "utf8"),
    close: async () => {
      for (const each of opened) await each.close();
      await rm(base, { recursive: true });
    },
  };
}
