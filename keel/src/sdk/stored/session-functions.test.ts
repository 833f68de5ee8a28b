import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { all, sdkStage } from "../../../../test/support/sdk-stage.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { reply } from "../../testing/reply.ts";
import { query } from "../query/query.ts";
import { createSession, resumeSession } from "../query/session.ts";
import {
  archiveSession,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  renameSession,
  tagSession,
  unarchiveSession,
} from "./session-functions.ts";
import { InMemorySessionStore, type SessionStore } from "./session-store.ts";

const id = "77777777-7777-4777-8777-777777777777";
const nobody = "99999999-9999-4999-8999-999999999999";

async function talked(...replies: string[]) {
  const stage = await sdkStage({ replies: replies.map((words) => reply(words)), otherwise: reply("More.") });
  await all(query({ prompt: "first prompt", options: { ...stage.options, sessionId: id } }));
  return stage;
}

describe("the session functions", () => {
  test("list and describe what is kept", async () => {
    const { cwd } = await talked("One.");
    const [info] = await listSessions({ dir: cwd });
    expect(info).toMatchObject({ sessionId: id, summary: "first prompt", firstPrompt: "first prompt", cwd });
    expect(await listSessions({ dir: cwd, offset: 1 })).toEqual([]);
    expect(await listSessions({ dir: "/" })).toEqual([]);
    expect(await getSessionInfo(nobody)).toBeUndefined();
    expect(await getSessionMessages(nobody)).toEqual([]);
  });

  test("label a session, and take labels back", async () => {
    const { options } = await talked("One.", "Two.");
    await renameSession(id, " A title ");
    await tagSession(id, "blue");
    await archiveSession(id);
    expect(await getSessionInfo(id)).toMatchObject({
      summary: "A title",
      customTitle: "A title",
      tag: "blue",
      archived: true,
    });
    await tagSession(id, null);
    await unarchiveSession(id);
    const info = await getSessionInfo(id);
    expect(info).not.toHaveProperty("tag");
    expect(info).not.toHaveProperty("archived");
    // The log is whole: the session goes on.
    const messages = await all(query({ prompt: "on", options: { ...options, resume: id } }));
    expect(messages.at(-1)).toMatchObject({ result: "Two." });
    await expect(renameSession(nobody, "x")).rejects.toMatchObject({ code: "session_unknown" });
    await expect(renameSession(id, " ")).rejects.toMatchObject({ code: "usage" });
  });

  test("a session that is open cannot be labelled from the side", async () => {
    const { options } = await talked("One.");
    await using session = await resumeSession(id, options);
    await expect(renameSession(session.sessionId, "x")).rejects.toMatchObject({ code: "session_busy" });
  });

  test("copy up to a message, with ids of its own", async () => {
    const { options } = await talked("One.", "Two.", "Three.");
    await all(query({ prompt: "second prompt", options: { ...options, resume: id } }));
    const before = await getSessionMessages(id);
    expect(before.map(({ type }) => type)).toEqual(["user", "assistant", "user", "assistant"]);
    const upToMessageId = before[1]?.uuid ?? "";
    const { sessionId } = await forkSession(id, { upToMessageId, title: "A copy" });
    const copy = await getSessionMessages(sessionId);
    expect(copy).toHaveLength(2);
    expect(copy.map(({ uuid }) => uuid)).not.toContain(before[0]?.uuid);
    expect(await getSessionInfo(sessionId)).toMatchObject({ customTitle: "A copy" });
    // A copy of the copy finds its messages by the copy's ids.
    const again = await forkSession(sessionId, { upToMessageId: copy[0]?.uuid ?? "" });
    expect(await getSessionMessages(again.sessionId)).toHaveLength(1);
    await deleteSession(sessionId);
    expect(await getSessionInfo(sessionId)).toBeUndefined();
    expect(await getSessionMessages(id)).toHaveLength(4);
    await expect(forkSession(id, { upToMessageId: nobody })).rejects.toMatchObject({ code: "usage" });
  });
});

describe("a session store", () => {
  test("gets everything once and in order, and brings the session back where no log is", async () => {
    const stage = await sdkStage({ replies: [reply("Stored."), reply("Back."), reply("Again.")] });
    const sessionStore = new InMemorySessionStore();
    const options = { ...stage.options, sessionStore };
    await all(query({ prompt: "keep this", options: { ...options, sessionId: id } }));
    for (const said of ["Back.", "Again."]) {
      rmSync(stage.home, { recursive: true, force: true });
      const messages = await all(query({ prompt: "again", options: { ...options, resume: id } }));
      expect(messages.at(-1)).toMatchObject({ result: said, session_id: id });
    }
    expect(JSON.stringify(stage.server.requests[2]?.body["messages"])).toMatch(/keep this.*Stored.*Back/);
    const [projectKey] = [stage.cwd.replace(/[^A-Za-z0-9]/g, "-")];
    const entries = (await sessionStore.load({ projectKey: projectKey ?? "", sessionId: id })) ?? [];
    const numbers = entries.map(({ event }) => (event as { seq: number }).seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(await sessionStore.listSessions(projectKey ?? "")).toMatchObject([{ sessionId: id }]);
  });

  test("that fails is told of, and the session goes on", async () => {
    const { options } = await sdkStage({ replies: [reply("Fine.")] });
    const sessionStore: SessionStore = {
      append: async () => {
        throw new Error("disk full");
      },
      load: async () => null,
    };
    const messages = await all(
      query({ prompt: "x", options: { ...options, sessionStore, sessionStoreFlush: "eager" } }),
    );
    expect(messages).toContainEqual(expect.objectContaining({ subtype: "mirror_error", error: "disk full" }));
    expect(messages).toContainEqual(expect.objectContaining({ type: "result", result: "Fine." }));
  });
});

describe("a session as an object", () => {
  test("is sent to, streamed from, closed by its scope, and taken up again", async () => {
    verifies("S2.4");
    const { options } = await sdkStage({ replies: [reply("One."), reply("Two."), reply("Three.")] });
    let kept = "";
    {
      await using session = await createSession(options);
      kept = session.sessionId;
      for (const [words, answer] of [
        ["a", "One."],
        ["b", "Two."],
      ] as const) {
        await session.send(words);
        expect((await all(session.stream())).at(-1)).toMatchObject({ type: "result", result: answer });
      }
    }
    await using again = await resumeSession(kept, options);
    expect(again.sessionId).toBe(kept);
    await again.send("c");
    expect((await all(again.stream())).at(-1)).toMatchObject({ result: "Three." });
  });

  test("of nobody is a failure at once", async () => {
    const { options } = await sdkStage({ replies: [] });
    await expect(resumeSession(nobody, options)).rejects.toMatchObject({ code: "session_unknown" });
  });
});
