import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { notRunHere } from "../../../test/support/not-run.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { type Envelope, isDurable } from "../protocol/event/envelope.ts";
import { text } from "../protocol/message.ts";
import { startModelServer } from "../testing/model-server.ts";
import { byPosition, reply, replyWith, toolUse } from "../testing/reply.ts";
import type { Script } from "../testing/script.ts";
import { homeResources } from "./compose/home-resources.ts";
import { openSession as openIn } from "./open-session.ts";
import type { OpenOptions } from "./options.ts";

const inputId = "11111111-1111-4111-8111-111111111111";

type Place = { readonly options: OpenOptions; readonly home: string };

const openSession = (options: OpenOptions, shared = homeResources(options.home ?? "")) =>
  openIn(options, shared);

describe("opening", () => {
  test("nothing is left behind when there is no model", async () => {
    const { options, home } = await place({ replies: [] });
    await expect(openSession({ ...options, env: {} })).rejects.toMatchObject({ code: "no_model" });
    expect(existsSync(home)).toBe(false);
  });

  test("a copy whose model cannot be found is taken back", async () => {
    const { options, home } = await place({ replies: [], otherwise: reply("ok") });
    const first = await openSession(options);
    await first.close("ended");
    const fork = { kind: "fork", from: { session: first.id } } as const;
    await expect(openSession({ ...options, which: fork, env: {} })).rejects.toMatchObject({
      code: "no_model",
    });
    expect(logs(home)).toEqual([`${first.id}.jsonl`]);
    // The origin is free again, too.
    const again = await openSession({ ...options, which: { kind: "resume", from: "newest" } });
    await again.close("ended");
  });

  test("a session that was only in memory leaves no file", async () => {
    const { options, home } = await place({ replies: [reply("ok")] });
    const session = await openSession({ ...options, persist: "memory" });
    await session.submit({ type: "input", content: [text("hi")] });
    await session.idle();
    await session.close("ended");
    expect(session.location).toBeUndefined();
    expect(existsSync(home)).toBe(false);
  });

  test("bypassing permissions is refused at the start and later, unless the person allowed it", async () => {
    const { options } = await place({ replies: [] });
    const bypass = { permissionMode: "bypassPermissions" } as const;
    await expect(openSession({ ...options, ...bypass })).rejects.toMatchObject({ code: "mode_refused" });
    const session = await openSession(options);
    await expect(session.submit({ type: "set", patch: bypass })).rejects.toMatchObject({
      code: "mode_refused",
    });
    await session.close("ended");
    const env = { ...options.env, IS_SANDBOX: "1" };
    const allowed = await openSession({ ...options, ...bypass, env, bypass: "allowed" });
    expect(allowed.info.permissionMode).toBe("bypassPermissions");
    await allowed.close("ended");
  });

  test("a folder that is none is wrong use", async () => {
    const { options } = await place({ replies: [] });
    const opened = openSession({ ...options, cwd: path.join(options.cwd, "none") });
    await expect(opened).rejects.toMatchObject({ code: "usage" });
  });
});

describe("the handle", () => {
  test("of a session that rests tells what it told before, and goes on where it was", async () => {
    verifies("P32");
    const { options, home } = await place({ replies: [reply("One."), reply("Two.")] });
    const shared = homeResources(home);
    const session = await openSession(options, shared);
    const told: Envelope[] = [];
    session.onEvent((event) => told.push(event));
    await session.submit({ type: "input", content: [text("first")], id: inputId });
    await session.idle();
    const facts = () => ({
      bill: session.bill(),
      context: session.context(),
      tokens: session.contextTokens(),
      asks: session.openAsks(),
      tasks: session.tasks(),
      hasWork: session.hasWork(),
      tools: session.toolNames(),
    });
    const before = facts();
    if (process.platform !== "linux") return notRunHere("open files", "the kernel does not tell them");
    // As if there were a single byte of room.
    expect(openFiles(home)).toBe(1);
    await shared.memory.unloadIdle(1);
    expect(openFiles(home)).toBe(0);
    expect(facts()).toEqual(before);
    expect(await Array.fromAsync(session.history(1))).toEqual(told.filter(isDurable));

    await shared.memory.unloadIdle(1);
    const again = await session.submit({ type: "input", content: [text("first")], id: inputId });
    expect(again).toMatchObject({ type: "accepted", duplicate: true });
    await shared.memory.unloadIdle(1);
    await session.submit({ type: "input", content: [text("second")] });
    await session.idle();
    expect(told.filter(({ type }) => type === "turn.finished")).toHaveLength(2);
    expect(session.contextTokens()).toBeGreaterThan(0);

    await shared.memory.unloadIdle(1);
    await session.close("ended");
    expect(told.at(-1)).toMatchObject({ type: "session.closed" });
  });

  test("takes nothing where there is no room, says so, and nothing is left behind", async () => {
    verifies("P32");
    const { options, home } = await place({ replies: [] });
    const settings = { limits: { maxHeapMb: 1 } };
    await expect(openSession({ ...options, settings })).rejects.toMatchObject({
      code: "process_full",
      detail: { what: "another session", maxMb: 1 },
    });
    expect(existsSync(home)).toBe(false);
  });

  test("idle waits for every turn, and the history has what the events told", async () => {
    const { options } = await place({ replies: [], otherwise: reply("ok") });
    const session = await openSession(options);
    const told: Envelope[] = [];
    session.onEvent((event) => told.push(event));
    await session.submit({ type: "input", content: [text("one")] });
    await session.submit({ type: "input", content: [text("two")] });
    expect(session.hasWork()).toBe(true);
    await session.idle();
    expect(session.hasWork()).toBe(false);
    expect(told.filter(({ type }) => type === "turn.finished")).toHaveLength(2);
    const kept = await Array.fromAsync(session.history(1));
    expect(kept).toEqual(told.filter((event) => "seq" in event));
    expect(session.bill().usage.outputTokens).toBeGreaterThan(0);
    await session.close("ended");
  });

  test("a question that nobody can answer is refused as such, and idle goes on", async () => {
    const script = byPosition([reply(toolUse("Bash", { command: "touch new" })), reply("ok")]);
    const { options } = await place(script);
    const session = await openSession(options);
    const denied: unknown[] = [];
    session.onEvent((event) => {
      if (event.type === "ask.opened") void refuse(session, event.ask.id);
      if (event.type === "tool.finished") denied.push(event.denied);
    });
    await session.submit({ type: "input", content: [text("go")] });
    await session.idle();
    expect(denied).toEqual([{ by: "no-host", reason: "nobody is there" }]);
    await session.close("ended");
  });

  test("close ends a turn that waits, once, however often it is called; idle lets go", async () => {
    const { options } = await place({ replies: [replyWith({ delayMs: 60_000 }, "never")] });
    const session = await openSession(options);
    await session.submit({ type: "input", content: [text("one")] });
    await session.submit({ type: "input", content: [text("two")] });
    const idle = session.idle();
    await Promise.all([session.close("stopped"), session.close("ended")]);
    await idle;
    const again = await openSession({ ...options, which: { kind: "resume", from: { session: session.id } } });
    const kept = await Array.fromAsync(again.history());
    expect(kept.flatMap((event) => (event.type === "session.closed" ? [event.reason] : []))).toEqual([
      "stopped",
    ]);
    // What was accepted and never begun still waits.
    expect(again.hasWork()).toBe(true);
    await again.close("ended");
  });

  test("the tools, the model and the key's place are known, but never the key", async () => {
    const { options } = await place({ replies: [] });
    const env = { ...options.env, ANTHROPIC_API_KEY: "sk-canary-1" };
    const session = await openSession({ ...options, env, fallbackModels: ["haiku"] });
    expect(session.info).toMatchObject({ keySource: "ANTHROPIC_API_KEY" });
    expect(session.info.tools).toContain("Bash");
    expect(Object.keys(session.info.models)).toHaveLength(2);
    expect(JSON.stringify(session.info)).not.toContain("canary");
    await session.close("ended");
  });
});

async function refuse(session: Awaited<ReturnType<typeof openSession>>, askId: string): Promise<void> {
  await session.submit({
    type: "answer",
    askId,
    answer: { verdict: "deny", reason: "nobody is there" },
    by: "no-host",
  });
}

async function place(script: Script | Parameters<typeof startModelServer>[0]["script"]): Promise<Place> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-open-")));
  const cwd = path.join(folder, "project");
  const home = path.join(folder, "home");
  mkdirSync(cwd);
  const server = await startModelServer({ script });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = { ANTHROPIC_BASE_URL: server.url, PATH: process.env["PATH"] };
  return { home, options: { version: "0.0.0", cwd, home, env, model: "claude-sonnet-4-5" } };
}

const logs = (home: string): string[] =>
  readdirSync(path.join(home, "projects")).flatMap((key) =>
    readdirSync(path.join(home, "projects", key)).filter((name) => name.endsWith(".jsonl")),
  );

/** How many descriptors of this process lead to a log of the home. */
function openFiles(home: string): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith(path.join(home, "projects"));
    } catch {
      // Closed since its name was read.
      return false;
    }
  }).length;
}
