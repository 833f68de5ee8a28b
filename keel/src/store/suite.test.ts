import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, test } from "vitest";
import { storeSuite } from "../testing/store-suite.ts";
import type { StoreUnderTest } from "../testing/store-suite-events.ts";
import { jsonlStore, leasesOf } from "./jsonl/store.ts";
import { memoryStore } from "./memory/memory.ts";
import { sqliteStore } from "./sqlite/store.ts";

describe("the store of JSON lines", () => {
  for (const { name, run } of storeSuite({ open: () => openFiles(jsonlStore) })) test(name, run);
});

describe("the store in SQLite", () => {
  for (const { name, run } of storeSuite({ open: () => openFiles(sqliteStore) })) test(name, run);
});

describe("the store in memory", () => {
  for (const { name, run } of storeSuite({ open: openMemory })) test(name, run);
});

async function openFiles(open: typeof jsonlStore): Promise<StoreUnderTest> {
  const base = await mkdtemp(path.join(tmpdir(), "keel-store-"));
  const home = path.join(base, "home");
  const folders = [path.join(base, "one"), path.join(base, "two")] as const;
  for (const folder of folders) await mkdir(folder);
  const leases = leasesOf({ home });
  return {
    store: open({ home, leases }),
    folders,
    beside: async () => open({ home }),
    restart: async () => {
      leases.abandon();
      return open({ home });
    },
    readSpilled: (file) => readFile(file, "utf8"),
    close: () => rm(base, { recursive: true }),
  };
}

async function openMemory(): Promise<StoreUnderTest> {
  const store = memoryStore();
  return {
    store,
    folders: ["/srv/one", "/srv/two"],
    beside: async () => store.beside(),
    restart: async () => store.restart(),
    readSpilled: async (file) => store.spilled(file) ?? "missing",
    close: async () => undefined,
  };
}
