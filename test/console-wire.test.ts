// The console wire over real sockets: a worker's messages, questions, history and terminal, and the app socket.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { WorkerEntry, WorkspaceEntry } from "../keel/src/protocol/workspace.ts";
import { reply, replyWith, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { stage, webServer } from "./handle/stage.ts";
import { ConsoleClient, type ConsoleLine, isKept, isResult } from "./server/console-client.ts";
import { verifies } from "./support/verifies.ts";

async function serving(replies: readonly Reply[], options: Record<string, unknown> = {}) {
  const at = await stage({ replies });
  const { url, secret } = await webServer(at);
  const call = async (method: string, address: string, body?: unknown) => {
    const response = await fetch(`${url}${address}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const workspace = (await call("POST", "/api/workspaces", {
    cwd: at.cwd,
    workers: [{ kind: "agent", options: { model: "claude-haiku-4-5", ...options } }],
  })) as WorkspaceEntry;
  const [worker] = workspace.workers;
  if (!worker) throw new Error("no worker");
  const open = async (name: string): Promise<ConsoleClient> => {
    const client = await ConsoleClient.open(`${url.replace("http", "ws")}${name}`, secret);
    onTestFinished(() => client.close());
    return client;
  };
  const attach = (one: Pick<WorkerEntry, "id"> = worker): Promise<ConsoleClient> =>
    open(`/ws/session/${workspace.id}/worker/${one.id}`);
  return { at, workspace, worker, attach, app: () => open("/ws/app"), call };
}

const question = toolUse("AskUserQuestion", {
  questions: [
    {
      question: "Which colour?",
      header: "Colour",
      options: [
        { label: "Red", description: "Warm" },
        { label: "Blue", description: "Cold" },
      ],
      multiSelect: false,
    },
  ],
});
const textIn = (value: unknown): string => JSON.stringify(value);
const isState =
  (state: string) =>
  (line: ConsoleLine): boolean =>
    line.type === "activity" && line["state"] === state;

describe("an agent on the console wire", () => {
  test("tells two clients the same messages, its state before and after, and the person's own words", async () => {
    verifies("S3.1", "S3.5", "S3.8", "S3.9", "S3.20");
    const { attach } = await serving([reply("Hello there.")]);
    const first = await attach();
    const second = await attach();
    expect(await first.hear(({ type }) => type === "activity")).toMatchObject({ state: "idle" });
    expect(await first.turn("Hi")).toMatchObject({ subtype: "success", result: "Hello there." });
    await second.hear(isResult);
    await first.hear(isState("idle"), 2);
    const kept = first.messages.filter(isKept);
    expect(second.messages.filter(isKept)).toEqual(kept);
    expect(kept.map(({ type }) => type)).toEqual(["system", "user", "system", "assistant", "result"]);
    expect(textIn(kept[1])).toContain("Hi");
    expect(first.messages.every(({ uuid }) => typeof uuid === "string")).toBe(true);
    const states = first.lines.flatMap((line) => (line.type === "activity" ? [line["state"]] : []));
    expect(states).toEqual(["idle", "active", "idle"]);
  });

  test("asks a question that one answers, and tells the other who did", async () => {
    verifies("S3.10");
    const { attach } = await serving([reply(question), reply("Blue it is.")]);
    const first = await attach();
    const second = await attach();
    first.send({ type: "user-message", content: "Paint" });
    const { ask } = (await second.hear(({ type }) => type === "ask")) as unknown as { ask: { id: string } };
    await first.hear(isState("asking"));
    second.send({ type: "answer", askId: ask.id, answers: { "Which colour?": "Blue" } });
    expect(await first.hear(({ type }) => type === "ask-closed")).toMatchObject({
      askId: ask.id,
      verdict: "allow",
      who: "a test",
    });
    first.send({ type: "answer", askId: ask.id, answers: { "Which colour?": "Red" } });
    expect(await first.hear(({ type }) => type === "error")).toMatchObject({ code: "answered_before" });
    await first.hear(isResult);
    expect(textIn(first.messages)).toContain("Blue it is.");
  });

  test("takes the reason of a hook that blocks the question as its answer", async () => {
    verifies("S3.10");
    const command = `printf '{"decision":"block","reason":"The person says: Blue"}'`;
    const settings = {
      hooks: { PreToolUse: [{ matcher: "AskUserQuestion", hooks: [{ type: "command", command }] }] },
    };
    const { attach } = await serving([reply(question), reply("So blue.")], { settings });
    const client = await attach();
    expect(await client.turn("Paint")).toMatchObject({ result: "So blue." });
    expect(client.lines.map(({ type }) => type)).not.toContain("ask");
    const results = client.messages.filter(
      ({ type, parent_tool_use_id }) => type === "user" && parent_tool_use_id === null,
    );
    expect(textIn(results)).toContain("The person says: Blue");
  });

  test("is cancelled without an error, and takes what was said meanwhile when it is through", async () => {
    verifies("S3.6");
    const { attach } = await serving([
      reply(toolUse("Bash", { command: "echo hi > a.txt" })),
      reply("Second."),
    ]);
    const client = await attach();
    client.send({ type: "user-message", content: "First" });
    await client.hear(({ type }) => type === "ask");
    client.send({ type: "user-message", content: "Second" });
    client.send({ type: "cancel" });
    const ended = await client.hear(isResult);
    expect((ended["message"] as { subtype: string }).subtype).not.toBe("success");
    await client.hear((line) => isResult(line) && textIn(line).includes("Second."));
    expect(client.lines.filter(({ type }) => type === "error")).toEqual([]);
    await client.hear(isState("idle"), client.lines.findLastIndex(isResult));
  });

  test("answers permissions, changes settings, and says what is no line", async () => {
    const { at, attach } = await serving([
      reply(toolUse("Bash", { command: "echo hi > a.txt" })),
      reply("Done."),
    ]);
    const client = await attach();
    client.send({ type: "set", patch: { title: "A name" } });
    await client.hear((line) => textIn(line).includes("session_title_changed"));
    client.send({ type: "user-message", content: "Make it" });
    const { ask } = (await client.hear(({ type }) => type === "ask")) as unknown as { ask: { id: string } };
    client.send({ type: "answer", askId: ask.id, verdict: "allow" });
    await client.hear(isResult);
    expect(await readFile(path.join(at.cwd, "a.txt"), "utf8")).toBe("hi\n");
    client.send({ type: "input", data: "keys are for terminals" });
    expect(await client.hear(({ type }) => type === "error")).toMatchObject({ code: "line_invalid" });
    client.send({ type: "set", patch: { permissionMode: "bypassPermissions" } });
    expect(await client.hear(({ code }) => code === "mode_refused")).toMatchObject({ type: "error" });
  });

  test("tells what came after a message, all of it for one that nobody knows, and keeps it as JSON lines", async () => {
    verifies("S3.11", "S3.12", "P16");
    const { at, worker, attach, call } = await serving([reply("One."), reply("Two.")]);
    const client = await attach();
    await client.turn("1");
    const middle = client.messages.filter(isKept).at(-1)?.uuid;
    const piece = client.messages.find(({ type }) => type === "stream_event")?.uuid;
    await client.turn("2");
    const kept = client.messages.filter(isKept);
    const idsOf = (messages: readonly { uuid: string }[]) => messages.map(({ uuid }) => uuid);
    expect(idsOf(await client.history())).toEqual(idsOf(kept));
    expect(idsOf(await client.history("nobody knows this"))).toEqual(idsOf(kept));
    const rest = idsOf(kept).slice(idsOf(kept).indexOf(middle ?? "") + 1);
    expect(idsOf(await client.history(middle))).toEqual(rest);
    // From a piece of a reply on: the reply itself, and what came after it.
    expect(idsOf(await client.history(piece))).toEqual([...idsOf(kept).slice(3, 5), ...rest]);

    const file = path.join(at.home.path, "server", "messages", `${worker.id}.jsonl`);
    const lines = async () =>
      (await readFile(file, "utf8"))
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { uuid: string }).uuid);
    await expect.poll(lines).toEqual(idsOf(kept));

    // The file was cut off in the middle of a line, and the session was closed: the log has the rest.
    await call("POST", `/api/sessions/${worker.session}/commands`, { command: { type: "close" } });
    expect(await client.hear(({ type }) => type === "exit")).toEqual({
      type: "exit",
      exitCode: 0,
      signal: null,
    });
    const text = await readFile(file, "utf8");
    await writeFile(file, text.slice(0, -40));
    const again = await attach();
    expect(idsOf(await again.history())).toEqual(idsOf(kept));
    // A line in its middle is gone: the file is written anew.
    await call("POST", `/api/sessions/${worker.session}/commands`, { command: { type: "close" } });
    await again.hear(({ type }) => type === "exit");
    await writeFile(file, text.split("\n").toSpliced(2, 1).join("\n"));
    const third = await attach();
    expect(idsOf(await third.history())).toEqual(idsOf(kept));
    await expect.poll(lines).toEqual(idsOf(kept));
  });

  test("of a worker that there is not is an error and an end", async () => {
    const { attach } = await serving([]);
    const client = await attach({ id: "nobody" });
    expect(await client.hear(({ type }) => type === "error")).toMatchObject({ code: "worker_unknown" });
    expect(await client.closed).toBe(1001);
  });
});

describe("a terminal on the console wire", () => {
  test("tells its screen and its output, takes keys, sizes and pictures, and ends with its program", async () => {
    verifies("S3.3");
    const { workspace, attach, call } = await serving([]);
    const worker = (await call("POST", `/api/workspaces/${workspace.id}/workers`, {
      worker: { kind: "terminal", name: "shell" },
    })) as WorkerEntry;
    const client = await attach(worker);
    expect(await client.hear(({ type }) => type === "history")).toMatchObject({ cols: expect.any(Number) });
    const printed = () =>
      client.lines.flatMap(({ type, data }) => (type === "output" ? [String(data)] : [])).join("");
    client.send({ type: "resize", cols: 90, rows: 20 });
    client.send({ type: "input", data: "stty size; echo made-$((1 + 1))\n" });
    await expect.poll(printed, { timeout: 20_000 }).toContain("made-2");
    expect(printed()).toContain("20 90");
    client.send({ type: "image", data: Buffer.from("picture").toString("base64"), mimeType: "image/png" });
    await expect.poll(printed).toMatch(/images\/[\w-]+\/[\w-]+\.png/);
    client.send({ type: "image", data: "", mimeType: "text/html" });
    expect(await client.hear(({ type }) => type === "error")).toMatchObject({ code: "usage" });
    const late = await attach(worker);
    expect(textIn(await late.hear(({ type }) => type === "history"))).toContain("made-2");
    client.send({ type: "input", data: "\u0015exit 3\n" });
    expect(await late.hear(({ type }) => type === "exit")).toMatchObject({ exitCode: 3, signal: null });
  });
});

describe("the app socket", () => {
  test("tells all once, then every change, and all again when it is asked", async () => {
    verifies("S3.16");
    // It is at work until it is stopped: whoever watches is told what is so by then, and may miss a turn that is over at once.
    const endless = replyWith({ fault: { kind: "stall", afterEvents: 1, with: "silence" } }, "Hello.");
    const { workspace, worker, attach, app, call } = await serving([endless]);
    const client = await app();
    const first = await client.hear(({ type }) => type === "sessions-sync");
    expect(first).toMatchObject({
      sessions: [
        { id: workspace.id, status: "active", workers: [{ id: worker.id, engine: "keel", type: "agent" }] },
      ],
    });
    const agent = await attach();
    agent.send({ type: "user-message", content: "Hi" });
    await client.hear(({ type, activity }) => type === "worker-activity" && activity === "active");
    agent.send({ type: "cancel" });
    await client.hear(
      ({ type, activity }) => type === "worker-activity" && activity === "idle",
      client.lines.findIndex(({ activity }) => activity === "active"),
    );
    await call("PATCH", `/api/workspaces/${workspace.id}`, { title: "Another" });
    await client.hear((line) => line.type === "session-updated" && textIn(line).includes("Another"));
    await call("PATCH", `/api/workspaces/${workspace.id}`, { archived: true });
    await client.hear(({ type, sessionId }) => type === "session-paused" && sessionId === workspace.id);
    await call("PATCH", `/api/workspaces/${workspace.id}`, { archived: false });
    await client.hear(({ type, sessionId }) => type === "session-resumed" && sessionId === workspace.id);
    const from = client.lines.length;
    client.send({ type: "request-sync" });
    expect(await client.hear(({ type }) => type === "sessions-sync", from)).toMatchObject({
      sessions: [{ title: "Another" }],
    });
    await call("DELETE", `/api/workspaces/${workspace.id}`);
    await client.hear(({ type, sessionId }) => type === "session-deleted" && sessionId === workspace.id);
  });
});
