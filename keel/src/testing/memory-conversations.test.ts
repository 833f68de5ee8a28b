import { expect, test } from "vitest";
import type { ConversationMessage } from "../ports/conversations.ts";
import { text } from "../protocol/message.ts";
import { memoryConversations } from "./memory-conversations.ts";

const said = (id: string, words: string, at: number): ConversationMessage => ({
  id,
  role: id.startsWith("u") ? "user" : "assistant",
  content: [text(words)],
  at,
});

test("conversations in memory are made, listed by their newest change, titled, paged, found and deleted", async () => {
  const conversations = memoryConversations();
  for (const [index, id] of ["a", "b", "c"].entries())
    await conversations.create({ id, cwd: "/srv", at: index });
  await conversations.addMessage("a", said("u1", "Where is the parser of rules?", 10));
  await conversations.addMessage("a", said("u1", "Where is the parser of rules?", 99));
  await conversations.addMessage("a", said("m1", "In the policy folder.", 11));
  await conversations.saveSession("a", "a");
  const page = await conversations.list({ limit: 2 });
  expect(page.conversations.map(({ id }) => id)).toEqual(["a", "c"]);
  expect(page.conversations[0]).toEqual({
    id: "a",
    title: "Where is the parser of rules?",
    cwd: "/srv",
    createdAt: 0,
    updatedAt: 11,
    messages: 2,
    session: "a",
    log: "there",
  });
  const rest = await conversations.list({ after: page.next });
  expect(rest.conversations.map(({ id }) => id)).toEqual(["b"]);
  expect((await conversations.search({ words: "policy FOLDER" })).map(({ message }) => message)).toEqual([
    "m1",
  ]);
  await conversations.rename("a", "Rules");
  expect((await conversations.load("a")).conversation.title).toBe("Rules");
  await conversations.delete("a");
  await expect(conversations.load("a")).rejects.toMatchObject({ code: "session_unknown" });
});

test("a use of a tool is logged by its call, once", async () => {
  const conversations = memoryConversations();
  await conversations.create({ id: "a", cwd: "/srv", at: 0 });
  const use = { callId: "c1", tool: "Read", input: {}, result: "", outcome: "done", at: 1, ms: 2 } as const;
  await conversations.logToolUse("a", use);
  await conversations.logToolUse("a", { ...use, result: "text" });
  expect(await conversations.toolUses("a")).toEqual([{ ...use, result: "text" }]);
});
