// An agent of other people as a worker of a workspace, over the Agent Client Protocol: a small one, which does what it is
// told without asking itself whether it may, so that what holds it back is ours.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { entry, follow, restarted } from "./handle/follow-worker.ts";
import { type Stage, serve, stage, webServer } from "./handle/stage.ts";
import { ConsoleClient, isKept, isResult } from "./server/console-client.ts";
import { verifies } from "./support/verifies.ts";

const small = path.resolve(import.meta.dirname, "fixtures/acp-agent.mjs");

type Step = readonly [name: string, given?: unknown];
const told = (...steps: readonly Step[]): string => JSON.stringify(steps);

const homeOf = ({ env }: Stage): string => env["KEEL_HOME"] ?? "";

async function opened(
  given: { abilities?: readonly string[]; settings?: object; options?: Record<string, string> } = {},
) {
  const at = await stage({ replies: [] });
  if (given.settings) {
    mkdirSync(homeOf(at), { recursive: true });
    writeFileSync(path.join(homeOf(at), "settings.json"), JSON.stringify(given.settings));
  }
  const served = serve(at);
  const { handlers } = served.workspaces;
  const command = [process.execPath, small, path.join(at.cwd, "kept"), ...(given.abilities ?? [])];
  const { options } = given;
  const made = await handlers.createWorkspace({
    cwd: at.cwd,
    workers: [{ kind: "agent", engine: "acp", command, ...(options ? { options } : {}) }],
  });
  const worker = made.workers[0]?.id ?? "";
  return { at, served, handlers, worker, ...follow(served, worker) };
}

describe("what it says", () => {
  test("becomes rows of the view: words, thoughts, calls, the plan, what it cost", async () => {
    verifies("P4", "S3.21");
    const { handlers, served, worker, until, turns, rows } = await opened();
    const edit = {
      sessionUpdate: "tool_call",
      toolCallId: "e",
      title: "Edit a.txt",
      kind: "edit",
      status: "completed",
      rawInput: { file_path: "a.txt" },
      content: [{ type: "diff", path: "/w/a.txt", oldText: "one\n", newText: "two\n" }],
    };
    await handlers.tellWorker({
      worker,
      content: told(
        ["think", "Hm."],
        ["say", "I "],
        ["say", "look."],
        ["plan", [{ content: "Look", status: "in_progress", priority: "high" }]],
        ["update", edit],
        ["cost", 0.25],
        ["say", "Done."],
      ),
    });
    await until("the end", () => turns() === 1);
    expect(rows().map(({ kind }) => kind)).toEqual([
      "user",
      "thinking",
      "text",
      "tool",
      "tool",
      "text",
      "turn-end",
    ]);
    expect(rows()[2]).toMatchObject({ text: "I look." });
    expect(rows()[3]).toMatchObject({ display: { kind: "todo", items: [{ text: "Look" }] } });
    expect(rows()[4]).toMatchObject({
      tool: "Edit a.txt",
      status: "done",
      display: { kind: "diff", path: "/w/a.txt" },
    });
    expect(await entry(served)).toMatchObject({
      engine: "acp",
      activity: "idle",
      lastWords: "Done.",
      costUsd: 0.25,
    });
  });

  test("what is told while it works comes after it, each once", async () => {
    const { handlers, worker, until, turns, text } = await opened();
    await Promise.all([
      handlers.tellWorker({ worker, content: "first", id: "0190f000-0000-7000-8000-000000000001" }),
      handlers.tellWorker({ worker, content: "first", id: "0190f000-0000-7000-8000-000000000001" }),
      handlers.tellWorker({ worker, content: "second" }),
    ]);
    await until("both turns", () => turns() === 2);
    expect(text()).toBe("You said: first\nYou said: second");
  });
});

describe("what goes through us", () => {
  test("files of the folder are read unasked; a change is asked with its diff, and made when somebody allows it", async () => {
    verifies("P4");
    const { at, handlers, served, worker, until, turns, text, openAsk } = await opened();
    const file = path.join(at.cwd, "a.txt");
    writeFileSync(file, "one\ntwo\nthree\n");
    await handlers.tellWorker({
      worker,
      content: told(
        ["call", ["fs/read_text_file", { path: file, line: 2, limit: 1 }]],
        ["call", ["fs/write_text_file", { path: file, content: "one\n2\nthree\n" }]],
      ),
    });
    await until("the question", () => openAsk() !== undefined);
    expect(await entry(served)).toMatchObject({ activity: "asking", asks: 1 });
    expect(openAsk()).toMatchObject({
      kind: "permission",
      tool: "Write",
      body: { kind: "diff", path: file },
    });
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\nthree\n");
    const ask = openAsk()?.id ?? "";
    expect(await handlers.answerWorker({ worker, ask, verdict: "allow" })).toEqual({ late: false });
    await until("the end", () => turns() === 1);
    expect(text()).toBe('{"content":"two"}{}');
    expect(readFileSync(file, "utf8")).toBe("one\n2\nthree\n");
    expect(await handlers.answerWorker({ worker, ask, verdict: "allow" })).toEqual({ late: true });
  });

  test("a no is an error for the agent, and nothing is changed", async () => {
    const { at, handlers, worker, until, turns, text, openAsk } = await opened();
    const file = path.join(at.cwd, "new.txt");
    await handlers.tellWorker({
      worker,
      content: told(["call", ["fs/write_text_file", { path: file, content: "x" }]]),
    });
    await until("the question", () => openAsk() !== undefined);
    await handlers.answerWorker({ worker, ask: openAsk()?.id ?? "", verdict: "deny", words: "not that" });
    await until("the end", () => turns() === 1);
    expect(text()).toContain("not that");
    expect(existsSync(file)).toBe(false);
  });

  test("commands run under our guard in a terminal of ours, once policy or a person allows them", async () => {
    const { at, handlers, worker, until, turns, rows, text, openAsk } = await opened();
    await handlers.tellWorker({
      worker,
      content: told(
        ["run", { command: "echo", args: ["it's here"] }],
        ["run", { command: "touch made.txt; exit 4" }],
      ),
    });
    // What only reads goes unasked; the other one is asked about, as it is.
    await until("the question", () => openAsk() !== undefined);
    expect(openAsk()?.body).toEqual({
      kind: "terminal",
      command: "touch made.txt; exit 4",
      output: "",
      exitCode: null,
    });
    expect(existsSync(path.join(at.cwd, "made.txt"))).toBe(false);
    await handlers.answerWorker({ worker, ask: openAsk()?.id ?? "", verdict: "allow", option: "once" });
    await until("the end", () => turns() === 1);
    expect(text()).toBe("it's here\nexit 0\nexit 4");
    expect(existsSync(path.join(at.cwd, "made.txt"))).toBe(true);
    expect(rows().filter(({ kind }) => kind === "tool")).toMatchObject([
      { status: "done", display: { kind: "terminal", output: "it's here\n" } },
      { status: "failed" },
    ]);
  });

  test("what somebody allows from now on is not asked again", async () => {
    const { handlers, worker, until, turns, of, openAsk } = await opened();
    const run: Step = ["run", { command: "touch same.txt" }];
    await handlers.tellWorker({ worker, content: told(run, run) });
    await until("the question", () => openAsk() !== undefined);
    await handlers.answerWorker({ worker, ask: openAsk()?.id ?? "", verdict: "allow", option: "always" });
    await until("the end", () => turns() === 1);
    expect(of("ask.opened")).toHaveLength(1);
  });

  test("what our rules deny is refused and nobody is asked, also where the agent asks by itself", async () => {
    verifies("P4");
    const { at, handlers, worker, until, turns, text, of } = await opened({
      settings: { permissions: { deny: ["Bash(touch:*)", "Write(secret/**)"] } },
    });
    const permission = {
      toolCall: { toolCallId: "t", title: "touch", kind: "execute", rawInput: { command: "touch made.txt" } },
      options: [
        { optionId: "y", name: "Yes", kind: "allow_once" },
        { optionId: "n", name: "No", kind: "reject_once" },
      ],
    };
    await handlers.tellWorker({
      worker,
      content: told(
        ["run", { command: "touch made.txt" }],
        ["run", { command: "bash", args: ["-c", "cd sub; touch ../made.txt"] }],
        ["call", ["fs/write_text_file", { path: path.join(at.cwd, "secret/a"), content: "x" }]],
        ["call", ["session/request_permission", permission]],
      ),
    });
    await until("the end", () => turns() === 1);
    expect(text()).toContain("refused: Denied");
    expect(text()).toContain('{"outcome":{"outcome":"selected","optionId":"n"}}');
    expect(of("ask.opened")).toEqual([]);
    expect(existsSync(path.join(at.cwd, "made.txt"))).toBe(false);
    expect(existsSync(path.join(at.cwd, "secret"))).toBe(false);
  });

  test("a mode that only plans changes nothing", async () => {
    const { at, handlers, worker, until, turns, text } = await opened({
      options: { permissionMode: "plan" },
    });
    await handlers.tellWorker({
      worker,
      content: told(["call", ["fs/write_text_file", { path: path.join(at.cwd, "a"), content: "x" }]]),
    });
    await until("the end", () => turns() === 1);
    expect(text()).toContain("Denied");
    expect(existsSync(path.join(at.cwd, "a"))).toBe(false);
  });

  test("its own questions are ours, with its own answers; a yes to exactly this change is not asked for again", async () => {
    verifies("P4");
    const { at, handlers, worker, until, turns, text, of, openAsk } = await opened();
    const file = path.join(at.cwd, "a.txt");
    writeFileSync(file, "one\n");
    const permission = {
      toolCall: {
        toolCallId: "t",
        title: "Edit a.txt \u202e",
        kind: "edit",
        content: [{ type: "diff", path: file, oldText: "one\n", newText: "two\n" }],
      },
      options: [
        { optionId: "always", name: "Always", kind: "allow_always" },
        { optionId: "once", name: "Once", kind: "allow_once" },
        { optionId: "never", name: "No", kind: "reject_once" },
      ],
    };
    await handlers.tellWorker({
      worker,
      content: told(
        ["call", ["session/request_permission", permission]],
        ["call", ["fs/write_text_file", { path: file, content: "two\n" }]],
        ["call", ["fs/write_text_file", { path: file, content: "three\n" }]],
      ),
    });
    await until("its question", () => openAsk() !== undefined);
    expect(openAsk()).toMatchObject({
      body: { kind: "diff", path: file },
      options: [
        { id: "always", label: "Always", verdict: "allow" },
        { id: "once", label: "Once", verdict: "allow" },
        { id: "never", label: "No", verdict: "deny" },
      ],
    });
    expect(JSON.stringify(openAsk())).not.toContain("\u202e");
    await handlers.answerWorker({ worker, ask: openAsk()?.id ?? "", verdict: "allow", option: "once" });
    // Another change of the same file is another question.
    await until("ours", () => of("ask.opened").length === 2);
    expect(readFileSync(file, "utf8")).toBe("two\n");
    await handlers.answerWorker({ worker, ask: openAsk()?.id ?? "", verdict: "deny" });
    await until("the end", () => turns() === 1);
    expect(text()).toContain('"optionId":"once"');
    expect(readFileSync(file, "utf8")).toBe("two\n");
  });

  test("keys of the server are not there for it, unless somebody says so", async () => {
    const { handlers, worker, until, turns, text } = await opened();
    await handlers.tellWorker({ worker, content: told(["env", "ANTHROPIC_API_KEY"]) });
    await until("the end", () => turns() === 1);
    expect(text()).toBe("[]");
  });
});

describe("how it ends", () => {
  test("a turn is stopped while it waits, while somebody is asked, and where the agent does not hear of it", async () => {
    verifies("P4");
    const { at, handlers, served, worker, until, turns, of, text, openAsk } = await opened();
    await handlers.tellWorker({ worker, content: told(["say", "begun"], ["wait"]) });
    await until("its words", () => of("text.delta").length === 1);
    await handlers.interruptWorker({ worker });
    expect(of("turn.finished").at(-1)).toMatchObject({ reason: "interrupted" });
    await handlers.tellWorker({
      worker,
      content: told(["call", ["fs/write_text_file", { path: path.join(at.cwd, "a"), content: "x" }]]),
    });
    await until("the question", () => openAsk() !== undefined);
    await handlers.interruptWorker({ worker });
    expect(of("ask.closed").at(-1)).toMatchObject({ by: "interrupt", answer: { verdict: "deny" } });
    expect(turns()).toBe(2);
    expect(await entry(served)).toMatchObject({ activity: "idle", asks: 0 });
    await handlers.tellWorker({ worker, content: "still there" });
    await until("the next", () => turns() === 3);
    expect(text()).toContain("You said: still there");
    // One that does not hear of it is stopped itself, and starts with the next words.
    await handlers.tellWorker({ worker, content: told(["say", "deaf"], ["ignore cancel"]) });
    await until("its words", () => of("text.delta").some((event) => event.text === "deaf"));
    await handlers.interruptWorker({ worker });
    expect(of("turn.finished").at(-1)).toMatchObject({ reason: "interrupted" });
    await handlers.tellWorker({ worker, content: "and again" });
    await until("the next", () => turns() === 5);
    expect(text()).toContain("You said: and again");
  });

  test("its crash is the worker's: the turn fails with its last words, it is shown, and it starts anew", async () => {
    verifies("P4", "S3.15");
    const { handlers, served, worker, until, turns, of, text } = await opened();
    await handlers.tellWorker({ worker, content: told(["say", "soon"], ["die"]) });
    await until("the end", () => turns() === 1);
    expect(of("turn.finished")[0]?.fault).toMatchObject({
      code: "agent_failed",
      message: expect.stringContaining("out of memory"),
    });
    await until("its state", async () => (await entry(served))?.activity === "failed");
    await handlers.restartWorker({ worker });
    await handlers.tellWorker({ worker, content: "again" });
    await until("the next", () => turns() === 2);
    expect(text()).toContain("You said: again");
    expect(await entry(served)).toMatchObject({ activity: "idle" });
  });

  test("one that is not there, or speaks something else, is refused with words, and leaves no worker", async () => {
    const { handlers, at } = await opened();
    const [{ id: workspace = "" } = {}] = await handlers.workspaces({});
    const make = (command: string[]) =>
      handlers.createWorker({ workspace, worker: { kind: "agent", engine: "acp", command } });
    for (const [command, words] of [
      [["no-such-agent-here"], "not installed"],
      [["gemini"], "not installed"],
      [[], "needs a command"],
      [[process.execPath, "-e", "process.exit(2)"], "exit code 2"],
      [[process.execPath, small, "", "version 7"], "version 7"],
    ] as const)
      await expect(make([...command])).rejects.toMatchObject({
        code: "work_refused",
        message: expect.stringContaining(words),
      });
    expect((await handlers.workspaces({}))[0]?.workers).toHaveLength(1);
    expect(existsSync(path.join(at.cwd, "kept"))).toBe(false);
  });
});

describe("over a restart of the server", () => {
  test.each([
    { abilities: ["resume"], knows: true },
    { abilities: ["load"], knows: true },
    { abilities: [], knows: false },
  ])("what was said is there, and it goes on: $abilities", async ({ abilities, knows }) => {
    verifies("P4", "S3.7");
    const { at, served, handlers, worker, until, turns, heard, text } = await opened({ abilities });
    await handlers.tellWorker({ worker, content: "first" });
    await until("the end", () => turns() === 1);
    const session = (await entry(served))?.session;
    const kept = heard.filter((update) => update.kind === "event" && update.uuid !== undefined);
    const again = await restarted(at, served);
    const after = follow(again, worker);
    await after.until("all of it", () => after.heard.length === kept.length);
    expect(after.heard).toEqual(kept);
    await again.workspaces.handlers.tellWorker({ worker, content: "second" });
    await after.until("the next", () => after.turns() === 2);
    // What it replays is known here already.
    expect(after.text()).toBe(`${text()}\nYou said: second`);
    const now = (await entry(again))?.session;
    expect(now === session).toBe(knows);
    const says = after.of("notice.raised").map(({ text: words }) => words);
    expect(says.some((words) => words.includes("does not know"))).toBe(!knows);
  });

  test("a turn and a question that the end of the server cut off are closed, and nothing runs by itself", async () => {
    const { at, served, handlers, worker, until, openAsk } = await opened({ abilities: ["resume"] });
    await handlers.tellWorker({
      worker,
      content: told(["call", ["fs/write_text_file", { path: path.join(at.cwd, "a"), content: "x" }]]),
    });
    await until("the question", () => openAsk() !== undefined);
    const folder = path.join(homeOf(at), "server/workers", worker, "messages.jsonl");
    await until("the question on disk", () => readFileSync(folder, "utf8").includes('"ask.opened"'));
    // As a kill would: nothing is closed.
    const cut = readFileSync(folder, "utf8");
    await served.close();
    writeFileSync(folder, cut);
    const again = await restarted(at, served);
    const after = follow(again, worker);
    await after.until("its end", () => after.turns() === 1);
    expect(after.of("ask.closed")).toMatchObject([{ by: "shutdown", answer: { verdict: "deny" } }]);
    expect(after.of("turn.finished")).toMatchObject([{ reason: "lost" }]);
    expect(await entry(again)).toMatchObject({ activity: "idle", asks: 0 });
    expect(existsSync(path.join(at.cwd, "a"))).toBe(false);
  });
});

test("over the console wire it speaks as an agent of ours does: messages, questions, its state, its history", async () => {
  verifies("P4", "S3.5", "S3.6");
  const at = await stage({ replies: [] });
  const { url, secret } = await webServer(at);
  const made = await fetch(`${url}/api/workspaces`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({
      cwd: at.cwd,
      workers: [{ kind: "agent", engine: "acp", command: [process.execPath, small, ""] }],
    }),
  });
  const { id, workers } = (await made.json()) as { id: string; workers: { id: string }[] };
  const attach = async (): Promise<ConsoleClient> => {
    const socket = `${url.replace("http", "ws")}/ws/session/${id}/worker/${workers[0]?.id}`;
    const client = await ConsoleClient.open(socket, secret);
    onTestFinished(() => client.close());
    return client;
  };
  const first = await attach();
  expect(await first.turn("Hi")).toMatchObject({ type: "result", is_error: false, result: "You said: Hi" });
  const write: Step = ["call", ["fs/write_text_file", { path: path.join(at.cwd, "a"), content: "x" }]];
  const from = first.lines.length;
  first.send({ type: "user-message", content: told(write) });
  const { ask } = (await first.hear(({ type }) => type === "ask")) as unknown as { ask: { id: string } };
  expect(ask).toMatchObject({ kind: "permission", tool: "Write", body: { kind: "diff" } });
  const second = await attach();
  expect(await second.hear(({ type }) => type === "ask")).toMatchObject({ ask: { id: ask.id } });
  second.send({ type: "answer", askId: ask.id, verdict: "allow" });
  await first.hear(isResult, from);
  expect(readFileSync(path.join(at.cwd, "a"), "utf8")).toBe("x");
  const all = await second.history();
  expect(all.map(({ uuid }) => uuid)).toEqual(first.messages.filter(isKept).map(({ uuid }) => uuid));
  expect(await second.history(all[1]?.uuid)).toEqual(all.slice(2));
});
