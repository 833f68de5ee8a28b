// A client that knows only the document of the console wire, against the built `keel serve`: a conversation with a
// question, a cancel, a kill of the server in between, and a reconnect by the last uuid.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import type { WorkspaceEntry } from "../../keel/src/protocol/workspace.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { ConsoleClient, isKept, isResult } from "../server/console-client.ts";
import { verifies } from "../support/verifies.ts";
import { launcher } from "./command.ts";

test("a client written from the document holds a conversation over a kill of the server", {
  timeout: 120_000,
}, async () => {
  verifies("S3.1", "S3.5", "S3.6", "S3.7", "S3.8", "S3.9", "S3.10", "S3.11", "S3.12");
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "keel-console-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const cwd = path.join(folder, "work");
  await mkdir(cwd);
  const questions = [
    {
      question: "Which colour?",
      header: "Colour",
      options: [
        { label: "Red", description: "Warm" },
        { label: "Blue", description: "Cold" },
      ],
      multiSelect: false,
    },
  ];
  const replies = [
    reply("Hello."),
    reply(toolUse("AskUserQuestion", { questions })),
    reply("Blue it is."),
    reply(toolUse("Bash", { command: "echo made > made.txt" })),
    reply("Once more."),
  ];
  const model = await startModelServer({
    script: (_, { assistantTurns }) => replies[assistantTurns] ?? reply("Nothing is left."),
  });
  onTestFinished(() => model.close());
  const env = { HOME: folder, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "test-key" };
  const start = async (): Promise<{ child: ChildProcess; url: string; secret: string }> => {
    const child = spawn(launcher, ["serve", "--port", "0", "--json"], {
      cwd,
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    for await (const line of createInterface({ input: child.stdout })) {
      const { url, secretFile } = JSON.parse(line) as { url: string; secretFile: string };
      return { child, url, secret: (await readFile(secretFile, "utf8")).trim() };
    }
    throw new Error("the server said nothing");
  };
  const gone = (child: ChildProcess) => new Promise((resolve) => child.once("exit", resolve));

  const first = await start();
  const made = await fetch(`${first.url}/api/workspaces`, {
    method: "POST",
    headers: { authorization: `Bearer ${first.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ cwd, workers: [{ kind: "agent", options: { model: "claude-haiku-4-5" } }] }),
  });
  const workspace = (await made.json()) as WorkspaceEntry;
  const [worker] = workspace.workers;
  const attach = ({ url, secret }: { url: string; secret: string }) =>
    ConsoleClient.open(
      `${url.replace("http", "ws")}/ws/session/${workspace.id}/worker/${worker?.id}`,
      secret,
    );

  // A turn, and a question that is open when the server is killed.
  const before = await attach(first);
  expect(await before.turn("Hi")).toMatchObject({ subtype: "success", result: "Hello." });
  before.send({ type: "user-message", content: "Paint" });
  await before.hear(({ type, state }) => type === "activity" && state === "asking");
  const has = before.messages.filter(isKept);
  first.child.kill("SIGKILL");
  await gone(first.child);
  await before.closed;

  // The next one has the worker, its messages and its question.
  const second = await start();
  const after = await attach(second);
  expect(await after.hear(({ type }) => type === "server-restarted")).toMatchObject({
    serverPid: second.child.pid,
  });
  const { ask } = (await after.hear(({ type }) => type === "ask")) as unknown as { ask: { id: string } };
  expect((await after.history()).map(({ uuid }) => uuid)).toEqual(has.map(({ uuid }) => uuid));
  expect(await after.history(has.at(-1)?.uuid)).toEqual([]);
  after.send({ type: "answer", askId: ask.id, answers: { "Which colour?": "Blue" } });
  await after.hear(isResult);
  expect(JSON.stringify(after.messages)).toContain("Blue it is.");

  // What is cancelled is no error; the next message goes on.
  after.send({ type: "user-message", content: "Make it" });
  await after.hear(({ type }) => type === "ask", after.lines.length);
  after.send({ type: "cancel" });
  const cancelled = after.lines.length;
  await after.hear(isResult, cancelled);
  expect(await after.turn("Go on")).toMatchObject({ subtype: "success", result: "Once more." });
  expect(after.lines.filter(({ type }) => type === "error")).toEqual([]);

  // All of it, from the last message that the client had before the kill: none lost, none twice.
  const missed = (await after.history(has.at(-1)?.uuid)).map(({ uuid }) => uuid);
  expect(missed).toEqual(after.messages.filter(isKept).map(({ uuid }) => uuid));
  expect(new Set([...has.map(({ uuid }) => uuid), ...missed]).size).toBe(has.length + missed.length);
  after.close();
});
