// A recorded session as a test of somebody's own prompt and tools.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { agree, say, scriptedHome } from "../../../test/support/scripted-home.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { replaySession } from "./replay-session.ts";
import { reply, toolUse } from "./reply.ts";

async function recorded() {
  const stage = await scriptedHome({
    replies: [reply("", toolUse("Glob", { pattern: "*.md" })), reply("Nothing there."), reply("Bye.")],
  });
  const session = await stage.home.open(stage.options);
  agree(session);
  for (const words of ["look", "thanks"]) {
    await say(session, words);
    await session.idle();
  }
  await session.close("ended");
  const file = path.join(stage.folder, "session.jsonl");
  const lines = await Array.fromAsync(stage.home.sessions.exportLines(session.id));
  writeFileSync(file, Buffer.concat(lines));
  const events = await Array.fromAsync(stage.home.sessions.read(session.id));
  return { file, events };
}

test("a replay in a test is equal while nothing has changed, from a file and from events", async () => {
  verifies("P29");
  const { file, events } = await recorded();
  for (const log of [file, events]) {
    const { difference, requests, equalRequests, problems } = await replaySession(log);
    expect([difference, problems]).toEqual([undefined, []]);
    expect([requests, equalRequests]).toEqual([3, 3]);
  }
  expect(
    await replaySession(events, { to: events.findIndex(({ type }) => type === "turn.finished") }),
  ).toMatchObject({ requests: 2 });
});

test("a replay in a test names what a changed prompt, tool or price does", async () => {
  verifies("P29");
  const { events } = await recorded();
  const prompt = await replaySession(events, { prompt: "You are a parrot." });
  expect(prompt.difference).toMatchObject({ request: 1, cause: "prompt" });
  expect(prompt.difference?.today).toContain("You are a parrot.");
  const glob = { name: "Glob", description: "Finds files.", input: { type: "object" } } as const;
  const tools = await replaySession(events, { tools: [glob] });
  expect(tools.difference).toMatchObject({ request: 1, cause: "tools", what: "the tool Glob" });
});

test("a replay in a test says what is damaged in a log", async () => {
  const { file } = await recorded();
  writeFileSync(file, readFileSync(file, "utf8").replace("Nothing there.", "Nothing thexe."));
  expect((await replaySession(file)).problems).not.toEqual([]);
});
