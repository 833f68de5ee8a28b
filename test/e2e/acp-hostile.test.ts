// An editor that does not wait, says everything twice, answers with nonsense, or is one of two.
import type { RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { kindsIn, openEditor, saidIn } from "./acp-stage.ts";
import { openStage, until } from "./stage.ts";

const hello = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } };

test("who does not wait for the first answer is served in order, in lines and in one batch", async () => {
  const stage = await openStage(byPosition([]));
  const wanted = { jsonrpc: "2.0", id: 1, method: "session/new", params: { cwd: stage.project } };
  const list = { jsonrpc: "2.0", id: 2, method: "session/list" };
  for (const said of [[hello, wanted, list], [[hello, wanted, list]]]) {
    const running = stage.start(["acp"], {});
    running.child.stdin?.write(said.map((message) => `${JSON.stringify(message)}\n`).join(""));
    const answers = (): { id?: unknown; result?: unknown }[] =>
      running
        .out()
        .split("\n")
        .filter((line) => line.endsWith("}") || line.endsWith("]"))
        .flatMap((line) => JSON.parse(line));
    await until("three answers", () => answers().filter(({ id }) => id !== undefined).length === 3);
    expect(answers().find(({ id }) => id !== undefined)).toMatchObject({
      id: 0,
      result: { protocolVersion: 1 },
    });
    for (const id of [0, 1, 2]) expect(answers().find((answer) => answer.id === id)).toHaveProperty("result");
    running.child.stdin?.end();
    await running.ended;
  }
});

test("a picture that is none is refused at the door, and the conversation goes on", async () => {
  const stage = await openStage(byPosition([reply("First."), reply("Second.")]));
  const editor = await openEditor(stage);
  const { sessionId } = await editor.begin();
  const send = (block: object): Promise<unknown> =>
    editor.agent.request("session/prompt", { sessionId, prompt: [block] } as never);
  for (const picture of [
    { data: "no base64!", mimeType: "image/png" },
    { data: "", mimeType: "image/png" },
    { data: "aGVsbG8=", mimeType: "text/html" },
    { data: "aGVsbG8=", mimeType: "image/svg+xml" },
  ])
    await expect(send({ type: "image", ...picture })).rejects.toMatchObject({ code: -32602 });
  const resource = { uri: "file:///x.svg", blob: "aGVsbG8=", mimeType: "image/svg+xml" };
  expect(await send({ type: "resource", resource })).toEqual({ stopReason: "end_turn" });
  expect(await editor.say(sessionId, "go on")).toEqual({ stopReason: "end_turn" });
  expect(JSON.stringify(stage.server.requests.map(({ body }) => body["messages"]))).not.toContain('"image"');
});

test("what is no answer to a question is a no", async () => {
  const odd = [
    { outcome: { outcome: "selected", optionId: "none of them" } },
    { outcome: { outcome: "selected", optionId: "__proto__" } },
    { outcome: { outcome: "selected", optionId: 5 } },
    { outcome: { outcome: "selected" } },
    { outcome: "allow" },
    {},
    "yes",
  ];
  const stage = await openStage(
    byPosition(odd.flatMap(() => [reply(toolUse("Bash", { command: "touch made.txt" })), reply("Well.")])),
  );
  const answers = odd.values();
  const editor = await openEditor(stage, {
    permit: () => answers.next().value as RequestPermissionResponse,
  });
  const { sessionId } = await editor.begin();
  for (const answer of odd)
    expect(await editor.say(sessionId, "make it"), JSON.stringify(answer)).toEqual({
      stopReason: "end_turn",
    });
  expect(editor.asked).toHaveLength(odd.length);
  expect(stage.log().filter(({ type }) => type === "tool.started")).toEqual([]);
});

test("one session is loaded once however often it is asked for, and not by a second editor, which is told why", async () => {
  const stage = await openStage(byPosition([reply("First."), reply("Second."), reply("Third.")]));
  const editor = await openEditor(stage);
  const { sessionId } = await editor.begin();
  await editor.say(sessionId, "begin");
  await editor.leave();
  const next = await openEditor(stage);
  const place = { sessionId, cwd: stage.project, mcpServers: [] };
  const loaded = await Promise.all([1, 2, 3].map(() => next.agent.request("session/load", place)));
  for (const one of loaded) expect(one).toMatchObject({ modes: { currentModeId: "default" } });
  const words = kindsIn(next.updates(sessionId)).filter((kind) => kind === "agent_message_chunk");
  expect(words.length).toBeGreaterThan(0);
  const other = await openEditor(stage);
  for (const method of ["session/load", "session/resume", "session/delete"])
    await expect(other.agent.request<unknown>(method, place as never)).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining("is open in another process"),
      data: { code: "session_busy" },
    });
  expect(await next.say(sessionId, "more")).toEqual({ stopReason: "end_turn" });
  await other.agent.request("session/fork", place);
  expect(saidIn(next.updates(sessionId))).toMatch(/Second\.$/);
});

test("a session that is closed at once answers its prompt as cancelled, however far that has come", async () => {
  const stage = await openStage(() => reply("Said."), { law: "none" });
  const editor = await openEditor(stage);
  for (let round = 0; round < 6; round++) {
    const { sessionId } = await editor.begin();
    const said = editor.say(sessionId, "begin");
    for (let turns = 0; turns < round * 2; turns++) await new Promise(setImmediate);
    await editor.agent.request("session/close", { sessionId });
    expect(["cancelled", "end_turn"]).toContain((await said).stopReason);
  }
});
