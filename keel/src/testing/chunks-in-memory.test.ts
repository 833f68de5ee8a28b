import { expect, test } from "vitest";
import type { MemoryChunk } from "../ports/memory-index.ts";
import { chunksInMemory } from "./chunks-in-memory.ts";

const chunk = (id: number, session: string, cwd: string, text: string): MemoryChunk => ({
  id,
  session,
  cwd,
  text,
  seq: id,
  part: 0,
  at: id,
  source: { kind: "person" },
});

test("chunks in memory are found by their words within a scope, and forgotten", async () => {
  const memory = chunksInMemory([
    chunk(1, "a", "/one", "The deploy key rotates on Monday."),
    chunk(2, "a", "/one", "Tests run on port 4100."),
    chunk(3, "b", "/two", "The deploy waits for tests."),
  ]);
  const ids = async (wanted: Parameters<typeof memory.search>[0]) =>
    (await memory.search(wanted)).found.map(({ id }) => id);
  expect(await ids({ words: "deploy tests", scope: "person" })).toEqual([3, 1, 2]);
  expect(await ids({ words: "deploy", scope: "project", cwd: "/one" })).toEqual([1]);
  expect(await ids({ words: "deploy", scope: "session", session: "b" })).toEqual([3]);
  expect(await ids({ words: "deploy", scope: "person", except: ["b"] })).toEqual([1]);
  expect(await memory.forget({ words: "PORT 4100" })).toEqual({ chunks: 1, sessions: ["a"], busy: [] });
  expect(await memory.forget({ session: "b" })).toMatchObject({ chunks: 1 });
  expect(await memory.stats()).toMatchObject({ chunks: 1, sessions: 1, work: "idle" });
});
