import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Durable } from "../../protocol/event/durable.ts";
import { openHome } from "../home.ts";
import { searchHome, searchSessions } from "./search-sessions.ts";

const id = (number: number): string => `00000000-0000-7000-8000-00000000000${number}`;

const said = (session: string, at: number, text: string): Durable => ({
  session,
  seq: at + 1,
  at: at + 1,
  type: "input.accepted",
  input: { id: `input-${at}`, from: { kind: "person" }, content: [{ type: "text", text }], when: "now" },
});

/** A real home with a session for each list of what a person and the model said in turn. */
async function homeWith(...talks: readonly (readonly string[])[]) {
  const home = mkdtempSync(path.join(tmpdir(), "keel-search-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const { sessions } = openHome({ env: { KEEL_HOME: home }, cwd: home });
  for (const [index, talk] of talks.entries()) {
    const session = id(index + 1);
    const events = talk.map((text, at): Durable => {
      const place = { session, seq: at + 1, at: at + 1 };
      const content = [{ type: "text" as const, text }];
      return at % 2 === 0
        ? said(session, at, text)
        : {
            ...place,
            type: "model.finished",
            requestId: `request-${at}`,
            messageId: `message-${at}`,
            model: "a-model",
            content,
            stop: "end",
            usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
            costUsd: 0,
            ms: 1,
          };
    });
    await sessions.restore(session, { cwd: home, events });
  }
  return (words: string, limit = 50, now = () => 0) => searchSessions(sessions, { words, limit }, { now });
}

test("finds what people and models said in any session, with the row that has it and what stands around", async () => {
  const search = await homeWith(
    ["Mend the login, please.", "The session was made before the clock was read."],
    ["What is the weather?", "I cannot see it."],
  );
  const { found, more } = await search("CLOCK");
  expect(found).toMatchObject([
    {
      session: id(1),
      by: "agent",
      row: "request-1:0",
      excerpt: "The session was made before the clock was read.",
    },
  ]);
  expect(more).toBe(false);
  expect((await search("weather")).found).toMatchObject([{ session: id(2), by: "person", row: "input-0" }]);
  expect(await search("nowhere")).toEqual({ found: [], more: false });
  expect(await search("  ")).toEqual({ found: [], more: false });
});

test("stops at the bound and after a while, and says so", async () => {
  const search = await homeWith(["one word", "two words"], ["three words", "four words"]);
  expect(await search("word", 3)).toMatchObject({ more: true, found: { length: 3 } });
  let time = 0;
  const late = () => {
    time += 1_500;
    return time;
  };
  expect((await search("word", 50, late)).more).toBe(true);
});

test("once the tables of conversations hold all of it, they are asked: words in any order, a few of each session", async () => {
  const home = mkdtempSync(path.join(tmpdir(), "keel-search-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  await using opened = openHome({ env: { KEEL_HOME: home, HOME: home }, cwd: home });
  for (const [index, words] of ["The clock was read.", "No clock.", "Read of a clock."].entries())
    await opened.sessions.restore(id(index + 1), {
      cwd: home,
      events: Array.from({ length: 7 }, (_, at): Durable => said(id(index + 1), at, `${words} Note ${at}.`)),
    });
  // By the logs alone: as it stands there, the newest session first.
  const [first] = (await searchHome(opened, { words: "clock was" })).found;
  expect(first).toMatchObject({ session: id(1), by: "person", row: "input-0" });
  await (await opened.conversations()).refresh();
  const { found, more } = await searchHome(opened, { words: "read CLOCK" });
  expect(more).toBe(false);
  expect(new Set(found.map(({ session }) => session))).toEqual(new Set([id(1), id(3)]));
  expect(found.filter(({ session }) => session === id(3))).toHaveLength(5);
  expect(found.find(({ by }) => by === "person")).toMatchObject({
    row: expect.stringMatching(/^input-/),
    cwd: home,
  });
  expect(await searchHome(opened, { words: "clock", limit: 3 })).toMatchObject({
    more: true,
    found: { length: 3 },
  });
  // A log that somebody took away is not offered.
  rmSync(opened.sessions.location(id(3)) ?? "");
  const left = (await searchHome(opened, { words: "read clock" })).found;
  expect(new Set(left.map(({ session }) => session))).toEqual(new Set([id(1)]));
});
