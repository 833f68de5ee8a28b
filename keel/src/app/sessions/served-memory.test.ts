import { afterEach, beforeEach, expect, test } from "vitest";
import { homeAt, type MemoryStage, memoryStage, sessionId } from "../../../../test/memory/stage.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { memoryHandlers } from "./served-memory.ts";

let stage: MemoryStage;
beforeEach(async () => {
  stage = await memoryStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

test("a client finds what was said by words, or the newest, and has it forgotten; not while its session is open", async () => {
  verifies("S1.28");
  await stage.session(sessionId(1), "/srv/ferry", [
    { by: "person", text: "Which port does the staging gateway listen on?" },
    { by: "tool", text: "gateway.conf: listen 4100;" },
  ]);
  await stage.session(sessionId(2), "/srv/other", [{ by: "agent", text: "The berth is free." }]);
  await using home = homeAt(stage.home);
  const { memory, memoryStats, forgetMemory } = memoryHandlers({ home, env: {} });
  expect(await memory({ words: "gateway listen" })).toMatchObject({
    meaning: false,
    found: [
      {
        session: sessionId(1),
        cwd: "/srv/ferry",
        by: "Bash",
        text: expect.stringContaining("staging gateway"),
      },
    ],
  });
  const { found } = await memory({});
  expect(found[0]).toMatchObject({ by: "Bash", text: "gateway.conf: listen 4100;" });
  expect(found.map(({ text }) => text).sort()).toEqual([
    "The berth is free.",
    "Which port does the staging gateway listen on?",
    "gateway.conf: listen 4100;",
  ]);
  expect((await memory({ limit: 1 })).found).toHaveLength(1);
  expect(await memoryStats({})).toMatchObject({ chunks: 3, sessions: 2, work: "idle" });
  const berth = found.flatMap(({ id, by }) => (by === "agent" ? [id] : []));
  const open = await stage.resources.store.open(sessionId(2));
  expect(await forgetMemory({ pieces: berth })).toEqual({ pieces: 0, sessions: [], busy: [sessionId(2)] });
  await open.close();
  expect(await forgetMemory({ pieces: berth })).toEqual({ pieces: 1, sessions: [sessionId(2)], busy: [] });
  expect((await memory({ words: "berth" })).found).toEqual([]);
});
