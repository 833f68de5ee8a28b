// What a session leaves in the memory index and in the tables: results while it works, all of it when it ends.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../keel/src/testing/reply.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

test("what a tool gave back is found while the session still works, and its end saves and indexes the rest", async () => {
  verifies("S1.27", "S1.31");
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
