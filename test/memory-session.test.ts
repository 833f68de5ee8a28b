// What a session leaves in the memory index and in the tables: results while it works, all of it when it ends.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../keel/src/testing/reply.ts";
import { eventsIn, logsIn } from "./e2e/stage.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

test("what a tool gave back is found while the session still works, and what is said last after its end", async () => {
  verifies("S1.31");
  const { home, reopen, cwd, env, options } = await scriptedHome(
    byPosition([
      reply("I look.", toolUse("Read", { file_path: "berth.txt" })),
      reply(toolUse("Bash", { command: "touch hold" })),
      reply("It is free."),
      reply("The last word is zanzibar."),
    ]),
    { settings: { memory: { recall: "on" } } },
  );
  writeFileSync(path.join(cwd, "berth.txt"), "Berth quokka is free on Tuesday.\n");
  const session = await home.open(options);
  const index = await home.memoryIndex({ env, cwd });
  const found = async (words: string) =>
    (await index.search({ words, scope: "person" })).found.map(({ source, session: of }) => ({ source, of }));
  // Its second call waits for an answer: what the first one said is in the index meanwhile.
  const asked = new Promise<void>((resolve) => {
    session.onEvent(({ type }) => type === "ask.opened" && resolve());
  });
  await say(session, "Which berth can the ferry have?");
  await asked;
  await expect
    .poll(() => found("quokka Tuesday"), { timeout: 20_000 })
    .toEqual([{ source: { kind: "tool", tool: "Read" }, of: session.id }]);
  for (const { id } of session.openAsks())
    await session.submit({ type: "answer", askId: id, answer: { verdict: "allow" } });
  agree(session);
  await session.idle();
  // No tool is called any more: only the end of the turn brings this in.
  await say(session, "What is the last word?");
  await session.idle();
  await session.close("ended");
  await home.close();

  const later = reopen();
  const kept = await later.memoryIndex({ env, cwd });
  const { found: last } = await kept.search({ words: "zanzibar", scope: "person" });
  expect(last).toMatchObject([{ session: session.id, source: { kind: "agent" } }]);
  const tables = await later.conversations();
  const { conversation, messages } = await tables.load(session.id);
  expect(conversation).toMatchObject({ session: session.id, title: "Which berth can the ferry have?" });
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant", "user", "assistant"]);
});

test("the end of a session alone saves and indexes it: also where nothing is said in it any more", async () => {
  verifies("S1.27");
  const { home, reopen, env, options } = await scriptedHome(byPosition([reply("It is zanzibar.")]));
  // Memory is not wanted yet: nothing is indexed.
  const first = await home.open(options);
  await say(first, "What is the last word?");
  await first.idle();
  await first.close("ended");
  await home.close();
  writeFileSync(path.join(env.KEEL_HOME, "settings.json"), JSON.stringify({ memory: { recall: "on" } }));

  // It is only looked at and left: no turn, no result, no search that would bring anything up to date.
  const second = reopen();
  const tables = await second.conversations();
  await tables.refresh();
  const again = await second.open({ ...options, which: { kind: "resume", from: { session: first.id } } });
  await again.close("ended");
  await second.close();

  const indexed = rowsIn(path.join(env.KEEL_HOME, "memory", "index.sqlite"), "SELECT text FROM chunks");
  expect(indexed.map(({ text }) => text)).toEqual(["What is the last word?", "It is zanzibar."]);
  const [log] = logsIn(path.join(env.KEEL_HOME, "projects"));
  const saved = rowsIn(
    path.join(env.KEEL_HOME, "conversations.db"),
    "SELECT seq, messages FROM conversations",
  );
  expect(saved).toEqual([{ seq: eventsIn(log).at(-1)?.seq, messages: 2 }]);
});

/** As it stands on disk, asked of nobody who would bring it up to date first. */
function rowsIn(file: string, sql: string) {
  using database = new DatabaseSync(file, { readOnly: true });
  return database
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
}
