import { existsSync } from "node:fs";
import { open, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeHome, type Home as TestHome } from "../../../../test/store/home.ts";
import { randomOf } from "../../../../test/store/random.ts";
import { countOf, seed } from "../../../../test/support/budget.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { homeResources } from "../compose/home-resources.ts";
import { openHome } from "../home.ts";
import { homeConversations } from "./home-conversations.ts";

let place: TestHome;
let database: string;
beforeEach(async () => {
  place = await makeHome();
  database = path.join(place.home, "conversations.db");
});
afterEach(() => place.remove());

const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
const homeOf = (kind = "jsonl") =>
  openHome({ env: { KEEL_HOME: place.home, KEEL_STORE: kind, HOME: place.home }, cwd: place.cwd });

/** What a person and the model said in turn, with a call in between. */
function talk(number: number, words: readonly string[]): Durable[] {
  const session = idOf(number);
  return words.map((text, index): Durable => {
    const about = { session, seq: index + 1, at: 1_000 * number + index };
    const content = [{ type: "text" as const, text }];
    const id = `request-${index}`;
    return index % 2 === 0
      ? {
          ...about,
          type: "input.accepted",
          input: { id: `input-${index}`, from: { kind: "person" }, content, when: "now" },
        }
      : {
          ...about,
          type: "model.finished",
          requestId: id,
          messageId: id,
          model: "a-model",
          content,
          stop: "end",
          usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
          costUsd: 0,
          ms: 1,
        };
  });
}

async function keep(number: number, words: readonly string[], kind?: string): Promise<void> {
  const { sessions } = homeOf(kind);
  await sessions.restore(idOf(number), { cwd: place.cwd, events: talk(number, words) });
}

async function seen(): Promise<string> {
  await using home = homeOf();
  const tables = await home.conversations();
  await tables.refresh();
  return JSON.stringify([await tables.list(), await tables.search({ words: "clock" })]);
}

describe.each(["jsonl", "sqlite"])("conversations of a home with %s", (kind) => {
  test("are listed from the newest, titled by their first exchange, loaded, searched, and follow their logs", async () => {
    verifies("S1.7", "S1.8");
    await keep(1, ["hi", "The session was made before the clock was read."], kind);
    await keep(2, ["Mend the login of the web page, please. It is late.", "Done."], kind);
    await using home = homeOf(kind);
    const tables = await home.conversations();
    const { conversations, next } = await tables.list({ limit: 1 });
    expect(conversations).toEqual([
      {
        id: idOf(2),
        title: "Mend the login of the web page, please",
        cwd: place.cwd,
        createdAt: expect.any(Number),
        updatedAt: 2_001,
        messages: 2,
        session: idOf(2),
        log: "there",
      },
    ]);
    const rest = await tables.list({ after: next });
    expect(rest.conversations.map(({ title }) => title)).toEqual([
      "The session was made before the clock was read",
    ]);
    expect((await tables.load(idOf(1))).messages.map(({ id, role }) => [id, role])).toEqual([
      ["input-0", "user"],
      ["request-1:0", "assistant"],
    ]);
    expect(await tables.search({ words: "CLOCK session" })).toMatchObject([
      { conversation: idOf(1), role: "title" },
      { conversation: idOf(1), role: "assistant", message: "request-1:0" },
    ]);
    expect(await tables.search({ words: ' "* ' })).toEqual([]);
    await keep(3, ["a third one about a clock", "yes"], kind);
    await tables.refresh();
    expect((await tables.list()).conversations[0]?.id).toBe(idOf(3));
    expect((await tables.search({ words: "clo" })).length).toBeGreaterThan(2);
    await home.sessions.delete(idOf(3));
    await expect(tables.load(idOf(3))).rejects.toMatchObject({ code: "session_unknown" });
  });
});

test("a cache that is deleted or damaged at any moment is made again from the logs, and says the same", {
  timeout: 3_600_000,
}, async () => {
  verifies("S1.7");
  for (let number = 1; number <= 12; number++)
    await keep(number, [`Talk ${number} about the clock and ${"words ".repeat(60)}`, `Answer ${number}.`]);
  const before = await seen();
  const random = randomOf(seed());
  for (let run = 0; run < countOf("damaged-caches"); run++) {
    const { size } = await stat(database);
    const kind = run % 5;
    if (kind === 0) await rm(database);
    else if (kind === 1) await writeFile(database, "no database at all");
    else if (kind === 2)
      await writeFile(database, (await readFile(database)).subarray(0, random.below(size)));
    else {
      await using file = await open(database, "r+");
      const junk = Buffer.from(Array.from({ length: 1 + random.below(600) }, () => random.below(256)));
      await file.write(junk, 0, junk.length, random.below(size));
    }
    for (const end of ["-wal", "-shm"]) if (run % 2) await rm(`${database}${end}`, { force: true });
    expect(await seen(), `seed ${seed()}, damage ${run}`).toBe(before);
  }
});

test("whatever is looked for, the tables stay: also what they alone still have", async () => {
  verifies("S1.9");
  await keep(1, ["Talk about the clock.", "Yes."]);
  await using home = homeOf();
  const tables = await home.conversations();
  await tables.refresh();
  await rm(path.dirname(home.sessions.location(idOf(1)) ?? ""), { recursive: true });
  const { size } = await stat(database);
  for (const words of [
    "clo\0ck",
    "\0",
    '"clock',
    "clock\ud800",
    "clock ".repeat(20_000),
    "NEAR(clock, 2)",
    "text:clock AND *",
    `${"(".repeat(5_000)}clock`,
    "c".repeat(2_000_000),
  ])
    await tables.search({ words });
  expect(await tables.search({ words: "clo\0ck talk" })).toEqual([]);
  expect((await tables.load(idOf(1))).conversation).toMatchObject({ log: "gone", messages: 2 });
  expect((await stat(database)).size).toBeGreaterThanOrEqual(size);
});

test("words that very many messages have are found newest first, and one or two letters begin no word", async () => {
  await using home = homeOf();
  const tables = await home.conversations();
  for (let number = 1; number <= 3; number++)
    await keep(
      number,
      Array.from({ length: 800 }, (_, at) =>
        // The first says less beside it.
        at === 400 && number === 1
          ? "An unusual tide."
          : `The tide of day ${at} is ${at === 400 ? "unusual" : "as ever"}.`,
      ),
    );
  const found = await tables.search({ words: "tide", limit: 6 });
  expect(found.map(({ conversation, role }) => [conversation, role])).toEqual([
    [idOf(3), "title"],
    [idOf(2), "title"],
    [idOf(1), "title"],
    [idOf(3), "assistant"],
    [idOf(3), "user"],
    [idOf(3), "assistant"],
  ]);
  expect(found.slice(3).map(({ excerpt }) => /day (\d+)/.exec(excerpt)?.[1])).toEqual(["799", "798", "797"]);
  // Both words are common, and few messages have both.
  expect((await tables.search({ words: "tide unus" })).length).toBe(3);
  const best = await tables.search({ words: "tide unusual" });
  expect(best.map(({ conversation }) => conversation)[0]).toBe(idOf(1));
  // Very many have both of these: the newest again.
  const both = (await tables.search({ words: "tide ever", limit: 6 })).filter(({ role }) => role !== "title");
  expect(both.map(({ excerpt }) => /day (\d+)/.exec(excerpt)?.[1])).toEqual(["799", "798", "797"]);
  expect(await tables.search({ words: "un" })).toEqual([]);
});

test("a long log is taken in by parts, and everything else has its turn between them", async () => {
  await keep(
    1,
    Array.from({ length: 1_000 }, (_, at) => `Word ${at}.`),
  );
  const resources = homeResources(place.home);
  const pauses: number[] = [];
  const sleep = async (ms: number): Promise<void> => void pauses.push(ms);
  const tables = homeConversations({ home: place.home, store: resources.store, sleep, nowMs: () => 0 });
  await tables.refresh();
  expect(pauses).toHaveLength(5);
  expect((await tables.load(idOf(1))).messages.at(-1)?.id).toBe("request-999:0");
  await tables.close();
  await resources.close();
});

test("searches that follow each other look for what is new once a second, lists each time", async () => {
  await keep(1, ["About the clock.", "Yes."]);
  const resources = homeResources(place.home);
  const { store } = resources;
  let [looks, now] = [0, 5_000];
  const list: typeof store.list = (wanted) => {
    looks++;
    return store.list(wanted);
  };
  const looked = { read: store.read.bind(store), location: store.location.bind(store), list };
  const tables = homeConversations({
    home: place.home,
    store: { ...store, ...looked },
    // Whoever looks is waited for.
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms * 100)),
    nowMs: () => now,
  });
  const found = async (): Promise<number> => (await tables.search({ words: "clock" })).length;
  const first = await found();
  const before = looks;
  await keep(2, ["Of another clock.", "Yes."]);
  now += 999;
  expect([await found(), looks]).toEqual([first, before]);
  now += 1;
  expect(await found()).toBeGreaterThan(first);
  expect(looks).toBeGreaterThan(before);
  const after = looks;
  await tables.list();
  await tables.list();
  expect(looks).toBeGreaterThanOrEqual(after + 2);
  await tables.close();
  await resources.close();
});

test("one that is deleted while it is open is made again before the next answer", async () => {
  await keep(1, ["About the clock.", "Yes."]);
  await using home = homeOf();
  const tables = await home.conversations();
  const before = await tables.list();
  for (const end of ["", "-wal", "-shm"]) await rm(`${database}${end}`, { force: true });
  expect(await tables.list()).toEqual(before);
  expect(existsSync(database)).toBe(true);
});

test("a conversation whose log is gone is shown so, and is made again from the tables when it is taken up", async () => {
  verifies("S1.9");
  await keep(1, ["Where is the clock?", "On the wall.", "Thank you.", "You are welcome."]);
  await using home = homeOf();
  const tables = await home.conversations();
  await tables.list();
  await rm(home.sessions.location(idOf(1)) ?? "");
  expect((await tables.list()).conversations).toMatchObject([{ id: idOf(1), log: "gone", messages: 4 }]);
  const { rebuildLog } = await import("./rebuild-log.ts");
  const resources = homeResources(place.home);
  const made = await rebuildLog(idOf(1), {
    ...resources,
    cwd: place.cwd,
    version: "0.0.0",
  });
  expect(made?.notices[0]).toMatch(/was gone.*from the 4 messages/);
  await tables.refresh();
  const { conversation, messages } = await tables.load(idOf(1));
  expect(conversation).toMatchObject({ log: "there", messages: 4 });
  expect(messages.map(({ content: [first] }) => first?.type === "text" && first.text)).toEqual([
    "Where is the clock?",
    "On the wall.",
    "Thank you.",
    "You are welcome.",
  ]);
});

test("tables of the first form are brought to this one, and keep what is left of a log that is gone", async () => {
  await keep(1, ["Where is the clock?", "On the wall."]);
  await keep(2, ["Is it late?", "No."]);
  const gone = await (async () => {
    await using home = homeOf();
    await (await home.conversations()).refresh();
    return home.sessions.location(idOf(1)) ?? "";
  })();
  const { DatabaseSync } = await import("node:sqlite");
  const old = new DatabaseSync(database);
  old.exec("DROP TABLE charges; PRAGMA user_version = 1");
  old.close();
  await rm(gone);
  await using home = homeOf();
  const tables = await home.conversations();
  expect(await tables.spent(0)).toBe(0);
  const { conversations } = await tables.list();
  expect(conversations.map(({ id, log, messages }) => [id, log, messages])).toEqual([
    [idOf(2), "there", 2],
    [idOf(1), "gone", 2],
  ]);
});
