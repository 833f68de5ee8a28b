// The sessions of `keel acp`: taken up, copied, listed, closed, deleted; at the server, and after an editor that died.
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { askIdField } from "../../keel/src/hosts/acp/permission.ts";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { kindsIn, openEditor, saidIn } from "./acp-stage.ts";
import { clientOf, heardUntil, isTurnEnd, openServeStage, words } from "./serve-stage.ts";
import { openStage, until } from "./stage.ts";

/** Each once in a row: what a tool shows while it runs is not in the log. */
const inARow = (kinds: readonly string[]): string[] =>
  kinds.filter((kind, index) => isHistory(kind) && kind !== kinds[index - 1]);

const isHistory = (kind: string): boolean => /^(?:user|agent)_\w+_chunk$|^tool_call/.test(kind);

describe("a session of an earlier editor", () => {
  async function begun() {
    const stage = await openStage(
      byPosition([
        reply("Looking.", toolUse("Bash", { command: "echo seen" })),
        reply("First."),
        reply("Second."),
      ]),
    );
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    await editor.say(sessionId, "begin");
    return { stage, editor, sessionId };
  }

  test("load tells all of it before its response, and the conversation goes on", async () => {
    verifies("P3");
    const { stage, editor, sessionId } = await begun();
    const live = inARow(kindsIn(editor.updates(sessionId)));
    expect(await editor.leave()).toBe(0);
    const next = await openEditor(stage);
    const taken = { sessionId, cwd: stage.project, mcpServers: [] };
    const loaded = await next.agent.request("session/load", taken);
    expect(loaded).toMatchObject({ modes: { currentModeId: "default" } });
    const at = next.heard.findIndex(
      (message) => "result" in message && "modes" in (message.result as object),
    );
    const after = next.heard.slice(at + 1).filter((message) => "method" in message);
    expect(after).toEqual([]);
    const told = next.updates(sessionId);
    expect(inARow(kindsIn(told))).toEqual(["user_message_chunk", ...live]);
    expect(saidIn(told)).toBe("Looking.First.");
    expect(await next.say(sessionId, "more")).toEqual({ stopReason: "end_turn" });
    expect(saidIn(next.updates(sessionId))).toBe("Looking.First.Second.");
    expect(JSON.stringify(stage.server.requests.at(-1)?.body["messages"])).toContain("First.");
  });

  test("resume tells nothing of it, and the conversation goes on", async () => {
    const { stage, editor, sessionId } = await begun();
    await editor.leave();
    const next = await openEditor(stage);
    await next.agent.request("session/resume", { sessionId, cwd: stage.project });
    expect(kindsIn(next.updates(sessionId)).filter(isHistory)).toEqual([]);
    await next.say(sessionId, "more");
    expect(saidIn(next.updates(sessionId))).toBe("Second.");
    expect(JSON.stringify(stage.server.requests.at(-1)?.body["messages"])).toContain("First.");
  });

  test("fork goes on in a copy, and the origin stays as it was", async () => {
    const { stage, editor, sessionId } = await begun();
    const copy = await editor.agent.request<{ sessionId: string }>("session/fork", {
      sessionId,
      cwd: stage.project,
      mcpServers: [],
    });
    expect(copy.sessionId).not.toBe(sessionId);
    await editor.say(copy.sessionId, "more");
    expect(saidIn(editor.updates(copy.sessionId))).toBe("Second.");
    expect(saidIn(editor.updates(sessionId))).toBe("Looking.First.");
  });

  test("list has it with its first words, close and delete let it go, and both can be said twice", async () => {
    const { stage, editor, sessionId } = await begun();
    const listed = await editor.agent.request("session/list", { cwd: stage.project });
    expect(listed.sessions).toEqual([
      { sessionId, cwd: stage.project, title: "begin", updatedAt: expect.stringMatching(/^\d{4}-/) },
    ]);
    expect(await editor.agent.request("session/list", { cwd: "/nowhere" })).toEqual({ sessions: [] });
    expect(await editor.agent.request("session/close", { sessionId })).toEqual({});
    await expect(editor.say(sessionId, "more")).rejects.toMatchObject({ code: -32002 });
    expect(await editor.agent.request("session/close", { sessionId })).toEqual({});
    expect(await editor.agent.request("session/delete", { sessionId })).toEqual({});
    expect(await editor.agent.request("session/delete", { sessionId })).toEqual({});
    expect(stage.sessions()).toEqual([]);
  });

  test("one that said nothing yet can be closed, taken up, copied and deleted", async () => {
    const stage = await openStage(byPosition([reply("First.")]));
    const editor = await openEditor(stage);
    const { sessionId } = await editor.begin();
    await editor.agent.request("session/close", { sessionId });
    await editor.agent.request("session/resume", { sessionId, cwd: stage.project });
    expect(await editor.say(sessionId, "begin")).toEqual({ stopReason: "end_turn" });
    const other = await editor.begin();
    const fork = { sessionId: other.sessionId, cwd: stage.project, mcpServers: [] };
    await expect(editor.agent.request("session/fork", fork)).resolves.toHaveProperty("sessionId");
    expect(await editor.agent.request("session/delete", { sessionId: other.sessionId })).toEqual({});
  });

  test("unknown ids are the protocol's error, and nothing is made of them", async () => {
    const stage = await openStage(byPosition([]));
    const editor = await openEditor(stage);
    const sessionId = "0190f000-0000-7000-8000-000000000000";
    const place = { sessionId, cwd: stage.project, mcpServers: [] };
    for (const method of ["session/load", "session/resume", "session/fork"])
      await expect(editor.agent.request(method, place)).rejects.toMatchObject({ code: -32002 });
    await expect(editor.say(sessionId, "hello")).rejects.toMatchObject({ code: -32002 });
    expect(stage.sessions()).toEqual([]);
  });
});

test("sessions come in pages, the newest first", async () => {
  const stage = await openStage(byPosition([]));
  const editor = await openEditor(stage);
  const begun: string[] = [];
  for (let count = 0; count < 103; count++) begun.push((await editor.begin()).sessionId);
  const first = await editor.agent.request("session/list", {});
  expect(first.sessions).toHaveLength(100);
  const second = await editor.agent.request("session/list", { cursor: first.nextCursor ?? null });
  expect(second.nextCursor).toBeUndefined();
  const all = [...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId);
  expect(new Set(all)).toEqual(new Set(begun));
  await expect(editor.agent.request("session/list", { cursor: "nonsense" })).rejects.toMatchObject({
    code: -32602,
  });
});

test("a question that an editor died with comes again with the same id, and its answer still counts", async () => {
  const stage = await openStage(
    byPosition([reply(toolUse("Bash", { command: "touch made.txt" })), reply("Made.")]),
  );
  const editor = await openEditor(stage, { permit: () => new Promise(() => undefined) });
  const { sessionId } = await editor.begin();
  const said = editor.say(sessionId, "make it").catch(() => "gone");
  await until("the question", () => editor.asked.length === 1);
  expect(await editor.leave()).toBe(0);
  expect(await said).toBe("gone");
  expect(stage.log().some(({ type }) => type === "ask.closed")).toBe(false);
  const next = await openEditor(stage);
  await next.agent.request("session/load", { sessionId, cwd: stage.project, mcpServers: [] });
  await until("the end of the turn", () => saidIn(next.updates(sessionId)) === "Made.");
  expect(next.asked.map(({ _meta, toolCall }) => [_meta?.[askIdField], toolCall.toolCallId])).toEqual(
    editor.asked.map(({ _meta, toolCall }) => [_meta?.[askIdField], toolCall.toolCallId]),
  );
  expect(existsSync(path.join(stage.project, "made.txt"))).toBe(true);
  expect(stage.server.requests).toHaveLength(2);
});

test("a session that the server has is joined: what others say is told too", async () => {
  const stage = await openServeStage(byPosition([reply("First."), reply("Second."), reply("Third.")]));
  const other = await clientOf(await stage.detach());
  const handle = await other.open({ cwd: stage.project, options: {} });
  const begun = heardUntil(handle.events(), isTurnEnd);
  await handle.submit(words("begin"));
  await begun;
  const editor = await openEditor(stage);
  const sessionId = handle.id;
  await editor.agent.request("session/load", { sessionId, cwd: stage.project, mcpServers: [] });
  expect(saidIn(editor.updates(sessionId))).toBe("First.");
  expect(await editor.say(sessionId, "more")).toEqual({ stopReason: "end_turn" });
  expect(saidIn(editor.updates(sessionId))).toBe("First.Second.");
  await handle.submit(words("and more"));
  await until("what the other was told", () => saidIn(editor.updates(sessionId)) === "First.Second.Third.");
  expect(await editor.leave()).toBe(0);
  expect((await handle.inquire("position")).seq).toBeGreaterThan(0);
});
