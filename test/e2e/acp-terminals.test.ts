// Commands of `keel acp` in the terminals that an editor offers: real processes of the editor's own.
import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openEditor, pick } from "./acp-stage.ts";
import { EditorTerminals } from "./acp-terminals.ts";
import { openStage, until } from "./stage.ts";

const bash = (command: string) => reply(toolUse("Bash", { command }, `call-${command.length}`));
const can = { terminal: true };

test("a command runs in a terminal of the editor, which the call shows; its words and its end reach the model", async () => {
  verifies("P3");
  const terminals = new EditorTerminals();
  const stage = await openStage(
    byPosition([bash("mkdir sub && cd sub && echo hello"), bash("pwd; exit 3"), reply("Done.")]),
  );
  const editor = await openEditor(stage, { can, terminals });
  const { sessionId } = await editor.begin();
  expect(await editor.say(sessionId, "run it")).toEqual({ stopReason: "end_turn" });
  expect(terminals.made.map(({ state }) => state)).toEqual(["released", "released"]);
  const shown = editor
    .updates(sessionId)
    .flatMap((update) => (update.sessionUpdate === "tool_call_update" ? (update.content ?? []) : []));
  expect(shown).toContainEqual({ type: "terminal", terminalId: "terminal-1" });
  const sent = stage.server.requests.map(({ body }) => JSON.stringify(body["messages"]));
  expect(sent[1]).toContain("hello");
  // The second one starts where the first one ended.
  expect(sent[2]).toContain(path.join(stage.project, "sub"));
  expect(sent[2]).toMatch(/exit code 3|Exit code 3/i);
  // Nobody but this editor has them: a later one is told what they printed.
  await editor.leave();
  const next = await openEditor(stage, { can, terminals: new EditorTerminals() });
  await next.agent.request("session/load", { sessionId, cwd: stage.project, mcpServers: [] });
  const told = JSON.stringify(next.updates(sessionId));
  expect(told).toContain("hello");
  expect(told).not.toContain("terminal-1");
});

test("policy decides first: what is refused never reaches a terminal", async () => {
  const terminals = new EditorTerminals();
  const stage = await openStage(byPosition([bash("touch made.txt"), reply("Refused.")]));
  const editor = await openEditor(stage, { can, terminals, permit: pick("reject_once") });
  const { sessionId } = await editor.begin();
  await editor.say(sessionId, "run it");
  expect(editor.asked).toHaveLength(1);
  expect(terminals.made).toEqual([]);
  expect(existsSync(path.join(stage.project, "made.txt"))).toBe(false);
});

test("a cancelled turn has its command killed by the editor, and the next prompt works", async () => {
  const terminals = new EditorTerminals();
  const stage = await openStage({ replies: [bash("echo begun; sleep 60"), reply("Next.")] });
  const editor = await openEditor(stage, { can, terminals });
  const { sessionId } = await editor.begin();
  const said = editor.say(sessionId, "run it");
  await until("the command", () => terminals.made[0]?.output === "begun\n");
  await editor.agent.notify("session/cancel", { sessionId });
  expect(await said).toEqual({ stopReason: "cancelled" });
  expect(await editor.say(sessionId, "next")).toEqual({ stopReason: "end_turn" });
  await until("its end", () => terminals.made[0]?.state === "released");
  expect(await terminals.made[0]?.exited).toMatchObject({ signal: "SIGKILL" });
});

test("keys of the provider are not there for the command, though the editor's environment has them", async () => {
  const terminals = new EditorTerminals();
  const stage = await openStage(byPosition([bash('echo "key: [$ANTHROPIC_API_KEY]"'), reply("Done.")]));
  const editor = await openEditor(stage, { can, terminals, env: { ANTHROPIC_API_KEY: "sk-secret" } });
  const { sessionId } = await editor.begin();
  await editor.say(sessionId, "run it");
  const names = terminals.made[0]?.wanted.env?.filter(({ value }) => value === "").map(({ name }) => name);
  expect(names).toContain("ANTHROPIC_API_KEY");
});

test("an editor whose terminals fail is no hindrance: the command runs under our own guard", async () => {
  const stage = await openStage(byPosition([bash("echo hello > made.txt; cat made.txt"), reply("Done.")]));
  // It said that it has terminals, and has none.
  const editor = await openEditor(stage, { can });
  const { sessionId } = await editor.begin();
  await editor.say(sessionId, "run it");
  expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toContain("hello");
});

test("what goes on in the background stays with us", async () => {
  const terminals = new EditorTerminals();
  const command = toolUse("Bash", { command: "echo there", run_in_background: true });
  const stage = await openStage(byPosition([reply(command), reply("Started."), reply("Heard.")]));
  const editor = await openEditor(stage, { can, terminals });
  const { sessionId } = await editor.begin();
  await editor.say(sessionId, "run it");
  expect(terminals.made).toEqual([]);
});
