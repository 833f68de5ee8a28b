// The memory index over real logs and a real file: found by words, joined with neighbours, forgotten to the last byte.
import { readFile, rm, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { MemoryIndex, MemorySearch } from "../keel/src/ports/memory-index.ts";
import { canaries } from "./memory/canaries.ts";
import { homeAt, memoryStage, type SaidLine, sessionId } from "./memory/stage.ts";
import { verifies } from "./support/verifies.ts";

const [one, two, three] = [sessionId(1), sessionId(2), sessionId(3)];

const texts = async (index: MemoryIndex, wanted: MemorySearch): Promise<string[]> =>
  (await index.search(wanted)).found.map(({ text }) => text);

async function twoProjects() {
  const stage = await memoryStage();
  await stage.session(one, "/work/ferry", [
    { by: "person", text: "Which port does the staging gateway listen on?" },
    { by: "agent", text: "It is 4100, behind the proxy." },
    { by: "tool", text: "gateway.conf: listen 4100;" },
    { by: "person", text: "Thanks. Rename the berth table next." },
  ]);
  await stage.session(two, "/work/ferry/api", [{ by: "person", text: "The gateway of the API is in Go." }]);
  await stage.session(three, "/work/other", [{ by: "person", text: "No gateway here, only a berth." }]);
  const index = stage.index();
  await index.catchUp();
  return { stage, index };
}

describe("what was said is found again", () => {
  test("by its words, within a scope, with what stands next to it", async () => {
    verifies("S1.28", "S1.30");
    const { stage, index } = await twoProjects();
    await using _ = stage;
    const { found, by } = await index.search({
      words: "staging gateway port",
      scope: "project",
      cwd: "/work/ferry",
    });
    expect(by).toBe("words");
    expect(found[0]).toMatchObject({
      session: one,
      seq: 2,
      part: 0,
      cwd: "/work/ferry",
      source: { kind: "person" },
    });
    expect(found[0]?.passage).toBe(
      "Which port does the staging gateway listen on?\n\nIt is 4100, behind the proxy.",
    );
    // A neighbour of a better one is no find of its own; the project has what is below its folder, and no more.
    expect(found.map(({ session, seq }) => [session, seq])).toEqual([
      [one, 2],
      [one, 4],
      [two, 2],
    ]);
    expect(await texts(index, { words: "berth", scope: "person" })).toHaveLength(2);
    expect(await texts(index, { words: "berth", scope: "session", session: three })).toHaveLength(1);
    expect(await texts(index, { words: "berth", scope: "person", except: [three] })).toHaveLength(1);
    expect(await texts(index, { words: "zebra", scope: "person" })).toEqual([]);
    expect(await texts(index, { words: '"; DROP (chunks* NEAR', scope: "person" })).toEqual([]);
    expect(await index.stats()).toMatchObject({ chunks: 6, sessions: 3, embedded: 0, work: "idle" });
  });

  test("also after its file was deleted, damaged or made anew: it is made from the logs, and nothing stands in it twice", async () => {
    const { stage, index } = await twoProjects();
    await using _ = stage;
    const before = await texts(index, { words: "gateway berth port", scope: "person", limit: 20 });
    await index.catchUp();
    await index.index(one);
    expect((await index.stats()).chunks).toBe(6);
    for (const end of ["", "-wal", "-shm"]) await rm(`${stage.file}${end}`, { force: true });
    await index.catchUp();
    expect(await texts(index, { words: "gateway berth port", scope: "person", limit: 20 })).toEqual(before);
    await index.close();
    await writeFile(stage.file, Buffer.alloc(20_000, "x"));
    await rm(`${stage.file}-wal`, { force: true });
    const again = stage.index();
    await again.catchUp();
    await again.catchUp();
    expect(await texts(again, { words: "gateway berth port", scope: "person", limit: 20 })).toEqual(before);
    expect(await again.rebuild()).toMatchObject({ chunks: 6, sessions: 3 });
  });

  test("quickly also by words that very many pieces have: those tell nothing alone, and the newest come first", async () => {
    await using stage = await memoryStage();
    await stage.session(
      one,
      "/work/ferry",
      Array.from({ length: 2_600 }, (_, at): SaidLine => {
        const water = at % 2 === 0 ? "tide" : "tide and current";
        return { by: "person", text: `Day ${at}: ${water}${at === 900 ? ", with a zephyr" : ""}.` };
      }),
    );
    const index = stage.index();
    // While it is taken in, everything else has its turn, slice by slice.
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await index.catchUp();
    clearInterval(timer);
    expect(turns).toBeGreaterThan(30);
    const days = async (words: string) =>
      (await texts(index, { words, scope: "person", limit: 3 })).map((text) => Number(/\d+/.exec(text)));
    expect(await days("tide")).toEqual([2_599, 2_597, 2_595]);
    expect((await days("tide zephyr"))[0]).toBe(900);
    expect((await days("day tide current")).map((day) => day % 2)).toEqual([1, 1, 1]);
    expect((await texts(index, { words: "tide", scope: "session", session: one })).length).toBe(5);
  });

  test("but no secret: of sixty that were said, no byte is on disk", async () => {
    const stage = await memoryStage();
    await using _ = stage;
    await stage.session(
      one,
      "/work/ferry",
      canaries.map(({ text }, at) => ({
        by: (["person", "agent", "tool"] as const)[at % 3] ?? "tool",
        text,
      })),
    );
    const index = stage.index();
    await index.catchUp();
    expect(canaries).toHaveLength(60);
    const bytes = await stage.bytes();
    expect(canaries.filter(({ secret }) => bytes.includes(secret)).map(({ text }) => text)).toEqual([]);
    expect((await index.stats()).chunks).toBe(60);
  });
});

describe("what is forgotten", () => {
  const secretWords = "zqvorak flombastic wyrmguard";

  test("leaves no byte in the index, stays forgotten when it is made anew, and its log says so", async () => {
    const { stage, index } = await twoProjects();
    await using _ = stage;
    await stage.session(sessionId(4), "/work/ferry", [
      { by: "person", text: `Remember that ${secretWords} is the name of the boat.` },
      { by: "agent", text: "The boat has a name now." },
    ]);
    await index.catchUp();
    const stems = [secretWords, "zqvorak", "qvorak", "flombast", "lombast", "wyrmguard", "yrmguard"];
    const held = await stage.bytes();
    expect(stems.filter((stem) => held.includes(stem)).length).toBeGreaterThan(3);
    expect(await index.forget({ words: "FLOMBASTIC wyrmguard" })).toEqual({
      chunks: 1,
      sessions: [sessionId(4)],
      busy: [],
    });
    const left = await stage.bytes();
    expect(stems.filter((stem) => left.includes(stem))).toEqual([]);
    const log = await stage.resources.store.read(sessionId(4));
    const said = await Array.fromAsync(log);
    expect(said.at(-1)).toMatchObject({ type: "memory.forgotten", events: [2] });
    await index.rebuild();
    const anew = await stage.bytes();
    expect(stems.filter((stem) => anew.includes(stem))).toEqual([]);
    expect(await texts(index, { words: "boat name", scope: "person" })).toEqual(["The boat has a name now."]);
    // The log itself is the person's, and stays as it is.
    expect(await readFile(stage.resources.store.location(sessionId(4)) ?? "", "utf8")).toContain(secretWords);
  });

  test("by its id or its session; what somebody has open is left alone and named", async () => {
    const { stage, index } = await twoProjects();
    await using _ = stage;
    const open = await stage.resources.store.open(one);
    expect(await index.forget({ session: one })).toEqual({ chunks: 0, sessions: [], busy: [one] });
    await open.close();
    const [found] = (await index.search({ words: "berth table", scope: "project", cwd: "/work/ferry" }))
      .found;
    expect(await index.forget({ chunks: [found?.id ?? 0] })).toMatchObject({ chunks: 1, sessions: [one] });
    expect(await texts(index, { words: "berth table", scope: "project", cwd: "/work/ferry" })).toEqual([]);
    expect(await index.forget({ session: one })).toMatchObject({ chunks: 3 });
    await index.rebuild();
    expect((await index.stats()).chunks).toBe(2);
  });

  test("is a session that is deleted: nothing of it is on disk", async () => {
    const { stage, index } = await twoProjects();
    await using _ = stage;
    await index.close();
    expect((await stage.bytes()).includes("staging gateway")).toBe(true);
    await using home = homeAt(stage.home);
    await home.sessions.delete(one);
    expect((await stage.bytes()).includes("staging gateway")).toBe(false);
    expect((await stage.bytes()).includes("only a berth")).toBe(true);
  });
});
