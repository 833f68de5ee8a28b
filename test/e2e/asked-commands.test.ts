// A command in a text that a person calls, asked about by every host of the built command.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { startHost } from "./runner-host.ts";
import { openStage, type Stage, until } from "./stage.ts";
import { hasTerminal, startOnTerminal } from "./terminal.ts";
import { isResult, openWire } from "./wire-client.ts";

const trusted = ["--setting-sources", "project"];

async function stageWithCommand(): Promise<Stage> {
  const stage = await openStage({ replies: [], otherwise: reply("Read.") });
  const folder = path.join(stage.project, ".keel/commands");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "look.md"), "State: !`touch made && echo from-the-command`.");
  return stage;
}

const ran = ({ project }: Stage): boolean => existsSync(path.join(project, "made"));
const sent = ({ server }: Stage): string => server.requests.map(({ body }) => JSON.stringify(body)).join();

test("the person at the terminal is asked, and the answer counts", async () => {
  if (!hasTerminal()) return notRunHere("commands in words on a terminal", "script of util-linux absent");
  verifies("S4.66");
  const stage = await stageWithCommand();
  const running = startOnTerminal(["-p", "/look", ...trusted], stage);
  await until("the question", () => running.out().includes("] > ") || running.child.exitCode !== null);
  running.child.stdin?.write("o\n");
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain("│ touch made && echo from-the-command");
  expect(ran(stage)).toBe(true);
  expect(sent(stage)).toContain("State: from-the-command.");
});

test("without a terminal it is refused, and the model is told", async () => {
  const stage = await stageWithCommand();
  const ended = await stage.run(["-p", "/look", ...trusted]);
  expect(ended).toMatchObject({ code: 0, stdout: "Read.\n" });
  expect(ran(stage)).toBe(false);
  expect(sent(stage)).toContain("nobody can be asked");
});

test("over the wire of an SDK it is asked, and an interrupt while it is asked is heard", async () => {
  const stage = await stageWithCommand();
  const args = ["--permission-prompt-tool=stdio", "--setting-sources=project"];
  const silent = openWire(stage, { args, answer: () => Promise.withResolvers<never>().promise });
  silent.say("/look");
  await silent.line("the question", ({ type }) => type === "control_request");
  await silent.request({ subtype: "interrupt" });
  await silent.line("the question taken back", ({ type }) => type === "control_cancel_request");
  silent.say("hello");
  await silent.line("a result", isResult);
  silent.endInput();
  expect((await silent.ended).code).toBe(0);
  expect(ran(stage)).toBe(false);
  expect(sent(stage)).not.toContain("keel-command");

  const willing = openWire(stage, { args, answer: () => ({ behavior: "allow" }) });
  willing.say("/look");
  await willing.line("a result", isResult);
  willing.endInput();
  expect((await willing.ended).code).toBe(0);
  expect(ran(stage)).toBe(true);
});

test("over the runner it is asked; an interrupt is heard, and the end does not wait for an answer", async () => {
  const stage = await stageWithCommand();
  const host = startHost(stage, trusted);
  host.send({ type: "message", content: "/look" });
  await host.next("tool_approval_request");
  host.send({ type: "interrupt" });
  await host.next("request_closed");
  host.send({ type: "message", content: "/look" });
  const asked = await host.next("tool_approval_request");
  expect(asked).toMatchObject({ kind: "permission", tool: "Bash" });
  host.send({ type: "tool_approval_response", requestId: asked["requestId"], approved: true });
  await host.next("result");
  expect(ran(stage)).toBe(true);
  expect(sent(stage)).toContain("State: from-the-command.");

  host.send({ type: "message", content: "/look" });
  await host.next("tool_approval_request");
  host.end();
  expect((await host.exited).code).toBe(0);
  expect(host.stray).toEqual([]);
});

test("a process that dies while it asks leaves no question behind", async () => {
  const stage = await stageWithCommand();
  const host = startHost(stage, trusted);
  host.send({ type: "message", content: "/look" });
  await host.next("tool_approval_request");
  host.child.kill("SIGKILL");
  await host.exited;
  const [session = ""] = stage.sessions();
  const ended = await stage.run(["-p", "--resume", session, "go on"]);
  expect(ended).toMatchObject({ code: 0, stdout: "Read.\n" });
  const asks = stage.log().filter(({ type }) => type.startsWith("ask."));
  expect(asks).toMatchObject([{ type: "ask.opened" }, { type: "ask.closed", by: "shutdown" }]);
});
