import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, test } from "vitest";
import { storeSuite } from "../testing/store-suite.ts";
import type { StoreUnderTest } from "../testing/store-suite-events.ts";
import { jsonlStore, leasesOf } from "./jsonl/store.ts";
import { memoryStore } from "./memory/memory.ts";

describe("the store of JSON lines", () => {
  for (const { name, run } of storeSuite({ open: openJsonl })) test(name, run);
});

describe("the store in memory", () => {
  for (const { name, run } of storeSuite({ open: openMemory })) test(name, run);
});

async function openJsonl(): Promise<StoreUnderTest> {
  const base = await mkdtemp(path.join(tmpdir(), "keel-store-"));
  const home = path.join(base, "home");
  const folders = [path.join(base, "one"), path.join(base, "two")] as const;
  for (const folder of folders) await mkdir(folder);
  const leases = leasesOf({ home });
  return {
    store: jsonlStore({ home, leases }),
    folders,
    beside: async () => jsonlStore({ home }),
    restart: async () => {
      leases.abandon();
      return jsonlStore({ home });
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
