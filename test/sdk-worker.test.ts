// An agent of a workspace that the official SDK drives. Here Keel's own SDK, which has its interface, stands under its
// name in the folder, so that a real engine answers.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openHome } from "../keel/src/app/home.ts";
import { trustProject, trustReport } from "../keel/src/app/maintenance/trust.ts";
import { ServedSessions } from "../keel/src/app/sessions/served-sessions.ts";
import type { AgentUpdate } from "../keel/src/protocol/workspace.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { type Stage, serve, stage, webServer } from "./handle/stage.ts";
import { ConsoleClient, isKept, isResult } from "./server/console-client.ts";
import { verifies } from "./support/verifies.ts";

function install({ cwd }: Stage): void {
  const folder = path.join(cwd, "node_modules/@anthropic-ai/claude-agent-sdk");
  mkdirSync(folder, { recursive: true });
  const own = pathToFileURL(path.resolve(import.meta.dirname, "../keel/src/sdk/index.ts")).href;
  writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify({ type: "module", exports: { ".": "./sdk.mjs" } }),
  );
  writeFileSync(path.join(folder, "sdk.mjs"), `export { query } from ${JSON.stringify(own)};\n`);
}

async function trusted(at: Stage): Promise<void> {
  const place = { cwd: at.cwd, env: at.env };
  await trustProject(place, await trustReport(place));
}

const agent = { kind: "agent" as const, engine: "sdk", options: { model: "claude-haiku-4-5" } };

function listen({ workspaces }: ServedSessions, worker: string, since?: string) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const heard: AgentUpdate[] = [];
  void (async () => {
    for await (const update of await workspaces.workers.watchMessages(worker, since, stop.signal))
      heard.push(update);
  })();
  const kept = (): string[] =>
    heard.flatMap((update) =>
      update.kind === "message" && update.message["type"] !== "stream_event"
        ? [String(update.message["type"])]
        : [],
    );
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 2_000 && !isSo(); tries++) await pause(10);
    expect(isSo(), JSON.stringify(kept())).toBe(true);
  };
  return { heard, kept, until };
}

test("an SDK that is not installed, or that nobody trusts, is refused with words", async () => {
  verifies("S3.2", "S3.21");
  const at = await stage({ replies: [] });
  const { workspaces } = serve(at);
  const { id: workspace } = await workspaces.handlers.createWorkspace({ cwd: at.cwd });
  const make = () => workspaces.handlers.createWorker({ workspace, worker: agent });
  await expect(make()).rejects.toMatchObject({
    code: "work_refused",
    message: expect.stringContaining("npm install"),
  });
  install(at);
  await expect(make()).rejects.toMatchObject({
    code: "work_refused",
    message: expect.stringContaining("trusted"),
  });
  expect((await workspaces.handlers.workspaces({}))[0]?.workers).toEqual([]);
});

test("an agent of the SDK holds a conversation, asks, goes on after a restart, and is found by uuid", async () => {
  verifies("S3.2", "S3.5", "S3.6", "S3.7", "S3.11", "S3.12");
  const at = await stage({
    replies: [
      reply("First answer."),
      reply(toolUse("Bash", { command: "echo once >> trace.txt" })),
      reply("Made."),
      reply("After the restart."),
    ],
  });
  install(at);
  await trusted(at);
  const served = serve(at);
  const { handlers } = served.workspaces;
  const made = await handlers.createWorkspace({ cwd: at.cwd, workers: [{ ...agent, prompt: "Hello" }] });
  const worker = made.workers[0]?.id ?? "";
  const one = listen(served, worker);
  await one.until(() => one.kept().includes("result"));
  expect(one.kept()[0]).toBe("user");
  expect(one.kept()).toContain("assistant");
  const state = async () => (await handlers.workspaces({}))[0]?.workers[0];
  expect(await state()).toMatchObject({
    engine: "sdk",
    activity: "idle",
    lastWords: "First answer.",
    model: "claude-haiku-4-5",
  });
  const session = (await state())?.session;
  expect(session).toMatch(/^[0-9a-f-]{36}$/);

  // It asks, and nothing happens before somebody answers.
  await handlers.tellWorker({ worker, content: "Make it" });
  const asked = () => one.heard.find((update) => update.kind === "ask");
  await one.until(() => asked() !== undefined);
  expect(await state()).toMatchObject({ activity: "asking", asks: 1 });
  expect(existsSync(path.join(at.cwd, "trace.txt"))).toBe(false);
  const update = asked();
  const ask = update?.kind === "ask" ? update.ask.id : "";
  expect(update).toMatchObject({ ask: { tool: "Bash", input: { command: "echo once >> trace.txt" } } });
  expect(await handlers.answerWorker({ worker, ask, verdict: "allow" })).toEqual({ late: false });
  expect(await handlers.answerWorker({ worker, ask, verdict: "allow" })).toEqual({ late: true });
  await one.until(() => one.kept().filter((type) => type === "result").length === 2);
  expect(readFileSync(path.join(at.cwd, "trace.txt"), "utf8")).toBe("once\n");
  expect((await state())?.session).toBe(session);
  expect(JSON.stringify(at.model.requests.at(-1))).toContain("First answer.");

  // A restart: what was said is there, and by a uuid only what came after it.
  const before = one.heard.filter(
    (heard) => heard.kind === "message" && heard.message["type"] !== "stream_event",
  );
  await served.close();
  const home = openHome({ cwd: at.cwd, env: at.env });
  const again = new ServedSessions({ home, env: at.env, version: "0", boot: "c", pid: 1, clients: () => 0 });
  onTestFinished(() => again.close());
  const all = listen(again, worker);
  await all.until(() => all.heard.length === before.length);
  expect(all.heard).toEqual(before);
  const middle = before[2];
  const since = middle?.kind === "message" ? String(middle.message["uuid"]) : "";
  const rest = listen(again, worker, since);
  await rest.until(() => rest.heard.length === before.length - 3);
  expect(rest.heard).toEqual(before.slice(3));
  await again.workspaces.handlers.tellWorker({ worker, content: "Go on" });
  await all.until(() => all.kept().filter((type) => type === "result").length === 3);
  expect(JSON.stringify(at.model.requests.at(-1))).toContain("Made.");
});

test("what an agent of the SDK does is stopped, which is no failure", async () => {
  verifies("S3.6");
  const at = await stage({ replies: [reply(toolUse("Bash", { command: "sleep 60" })), reply("Later.")] });
  install(at);
  await trusted(at);
  const served = serve(at);
  const { handlers } = served.workspaces;
  const made = await handlers.createWorkspace({ cwd: at.cwd, workers: [{ ...agent, prompt: "Wait" }] });
  const worker = made.workers[0]?.id ?? "";
  const one = listen(served, worker);
  await one.until(() => one.kept().includes("tool_progress"));
  const state = async () => (await handlers.workspaces({}))[0]?.workers[0];
  expect(await state()).toMatchObject({ activity: "active" });
  await handlers.interruptWorker({ worker });
  expect(await state()).toMatchObject({ activity: "idle", asks: 0 });
  expect((await state())?.failure).toBeUndefined();
});

test("an agent of the SDK on the console wire: messages, a question, a cancel, and what came after a uuid", async () => {
  verifies("S3.5", "S3.6", "S3.7", "S3.10", "S3.20");
  const at = await stage({
    replies: [
      reply("Hello there."),
      reply(toolUse("Bash", { command: "echo once >> trace.txt" })),
      reply("Made."),
      reply(toolUse("Bash", { command: "sleep 60" })),
      reply("After the cancel."),
    ],
  });
  install(at);
  await trusted(at);
  const { url, secret } = await webServer(at);
  const made = await fetch(`${url}/api/workspaces`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({
      cwd: at.cwd,
      workers: [{ ...agent, options: { ...agent.options, allowedTools: ["Bash(sleep:*)"] } }],
    }),
  });
  const { id, workers } = (await made.json()) as { id: string; workers: { id: string }[] };
  const attach = async (): Promise<ConsoleClient> => {
    const socket = `${url.replace("http", "ws")}/ws/session/${id}/worker/${workers[0]?.id}`;
    const client = await ConsoleClient.open(socket, secret);
    onTestFinished(() => client.close());
    return client;
  };
  const [first, second] = [await attach(), await attach()];
  expect(await first.hear(({ type }) => type === "activity")).toMatchObject({ state: "idle" });
  // The same words twice are said once.
  const said = { type: "user-message", content: "Hi", id: "0198c0de-0000-7000-8000-000000000001" };
  first.send(said);
  second.send(said);
  await first.hear(isResult);
  await second.hear(isResult);
  await first.hear((line) => line.type === "activity" && line["state"] === "idle", 2);
  const kept = first.messages.filter(isKept);
  expect(second.messages.filter(isKept)).toEqual(kept);
  expect(kept.filter(({ type }) => type === "user")).toMatchObject([{ uuid: said.id }]);
  const states = () => first.lines.flatMap((line) => (line.type === "activity" ? [line["state"]] : []));
  expect(states()).toEqual(["idle", "active", "idle"]);
  expect(first.lines.findLastIndex(({ type }) => type === "activity")).toBeGreaterThan(
    first.lines.findIndex(isResult),
  );

  const from = first.lines.length;
  first.send({ type: "user-message", content: "Make it" });
  const { ask } = (await second.hear(({ type }) => type === "ask")) as unknown as { ask: { id: string } };
  expect(ask).toMatchObject({
    kind: "permission",
    tool: "Bash",
    input: { command: "echo once >> trace.txt" },
  });
  // Who comes now is told what waits.
  const third = await attach();
  expect(await third.hear(({ type }) => type === "ask")).toMatchObject({ ask });
  expect(await third.hear(({ type }) => type === "activity")).toMatchObject({ state: "asking" });
  second.send({ type: "answer", askId: ask.id, verdict: "allow" });
  expect(await first.hear(({ type }) => type === "ask-closed")).toMatchObject({
    askId: ask.id,
    verdict: "allow",
  });
  third.send({ type: "answer", askId: ask.id, verdict: "deny" });
  expect(await third.hear(({ type }) => type === "error")).toMatchObject({ code: "answered_before" });
  await first.hear(isResult, from);
  expect(readFileSync(path.join(at.cwd, "trace.txt"), "utf8")).toBe("once\n");

  const before = first.lines.length;
  first.send({ type: "user-message", content: "Wait" });
  await first.hear((line) => JSON.stringify(line).includes("tool_progress"), before);
  first.send({ type: "cancel" });
  await first.hear((line) => line.type === "activity" && line["state"] === "idle", before);
  expect(first.lines.slice(before).filter(({ type }) => type === "error")).toEqual([]);
  first.send({ type: "set", patch: { title: "x" } });
  expect(await first.hear(({ type }) => type === "error", before)).toMatchObject({ code: "work_refused" });

  third.send({ type: "request-history", lastUuid: said.id });
  const rest = await third.hear(({ type }) => type === "message-history");
  expect(rest["messages"]).toEqual(first.messages.filter(isKept).slice(1));
  third.send({ type: "request-history", lastUuid: "nobody knows it" });
  const all = await third.hear(({ type }) => type === "message-history", third.lines.indexOf(rest) + 1);
  expect(all["messages"]).toEqual(first.messages.filter(isKept));
});
