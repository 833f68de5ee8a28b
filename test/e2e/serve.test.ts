// The built `keel serve`, with the client that programs use: one server for a home, killed and started again.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, stat } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect, type KeelClient } from "../../keel/src/client/connect.ts";
import { type Envelope, isDurable } from "../../keel/src/protocol/event/envelope.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { keel, launcher } from "./command.ts";

type State = {
  readonly pid: number;
  readonly url: string;
  readonly socket: string;
  readonly secretFile: string;
};

async function stage(replies: readonly Reply[]) {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "keel-serve-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const cwd = path.join(folder, "work");
  await mkdir(cwd);
  // By what the conversation holds, so that a request that is sent again gets the same reply.
  const model = await startModelServer({
    script: (_, asked) => replies[asked.assistantTurns] ?? reply("Nothing is left."),
  });
  onTestFinished(() => model.close());
  const env = { HOME: folder, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "test-key" };
  const start = async (...more: string[]): Promise<{ child: ChildProcess; state: State }> => {
    const child = spawn(launcher, ["serve", "--port", "0", "--json", ...more], {
      cwd,
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    for await (const line of createInterface({ input: child.stdout }))
      return { child, state: JSON.parse(line) };
    throw new Error("the server said nothing");
  };
  const client = async ({ url, secretFile }: State): Promise<KeelClient> => {
    const made = connect({ url, secret: (await readFile(secretFile, "utf8")).trim() });
    onTestFinished(() => made.close());
    return made;
  };
  return { cwd, env, start, client };
}

async function until(events: AsyncIterable<Envelope>, type: Envelope["type"]): Promise<Envelope[]> {
  const heard: Envelope[] = [];
  for await (const event of events) {
    heard.push(event);
    if (event.type === type) break;
  }
  return heard;
}
const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("exit", (code) => resolve(code)));
const say = (text: string) => ({ type: "input" as const, content: [{ type: "text" as const, text }] });

describe("keel serve", () => {
  test("owns a session that goes on after a kill of the server, by its log, without a loss", async () => {
    const { cwd, start, client } = await stage([
      reply(toolUse("Bash", { command: "echo one >> trace.txt" })),
      reply("Made."),
    ]);
    const first = await start();
    const before = await client(first.state);
    const handle = await before.open({ cwd, options: { model: "claude-haiku-4-5" } });
    const asked = until(handle.events(), "ask.opened");
    expect(await handle.submit(say("Make it"))).toMatchObject({ type: "accepted" });
    const seen = (await asked).flatMap((event) => (isDurable(event) ? [event.seq] : []));

    first.child.kill("SIGKILL");
    await ended(first.child);
    const second = await start();
    const after = (await client(second.state)).attach(handle.id);
    const rest = until(after.events(seen.at(-1) ?? 0), "turn.finished");
    const [ask] = await after.asks();
    expect(ask).toMatchObject({ tool: "Bash" });
    const answer = { verdict: "allow" as const };
    expect(await after.submit({ type: "answer", askId: ask?.id ?? "", answer })).toMatchObject({
      type: "answered",
    });
    const told = (await rest).flatMap((event) => (isDurable(event) ? [event.seq] : []));
    expect([...seen, ...told]).toEqual([...seen, ...told].map((_, index) => index + 1));
    expect(await readFile(path.join(cwd, "trace.txt"), "utf8")).toBe("one\n");
  });

  test("is one for a home, says who it is, and ends when it is told", async () => {
    const { cwd, env, start } = await stage([]);
    const { child, state } = await start();
    const again = await keel(["serve"], { cwd, env });
    expect(again.code).toBe(75);
    expect(again.stderr).toContain(`process ${state.pid}`);
    expect((await keel(["serve", "--status"], { cwd, env })).stdout).toContain(`process ${state.pid}`);
    const stopped = ended(child);
    expect((await keel(["serve", "--stop"], { cwd, env })).code).toBe(0);
    expect(await stopped).toBe(0);
    expect((await keel(["serve", "--status"], { cwd, env })).code).toBe(69);
  });

  test("lets nobody in without the secret, and the person by a socket of their own", async () => {
    const { start } = await stage([]);
    const { state } = await start();
    expect((await fetch(`${state.url}/api/sessions`)).status).toBe(401);
    expect(
      (await fetch(`${state.url}/api/sessions`, { headers: { origin: "https://evil.example" } })).status,
    ).toBe(403);
    expect((await stat(state.socket)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(state.socket))).mode & 0o777).toBe(0o700);
    expect((await stat(state.secretFile)).mode & 0o777).toBe(0o600);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ socketPath: state.socket, path: "/api/sessions" }, ({ statusCode }) => resolve(statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(200);
  });

  test("speaks the same over its own pipes, and ends with them", async () => {
    const { cwd, env } = await stage([]);
    const frames = [
      { type: "hello", version: 1 },
      { type: "call", id: 1, operation: "sessions" },
    ];
    const stdin = frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
    const { code, stdout } = await keel(["serve", "--stdio"], { cwd, env, stdin });
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { type: "hello", version: 1, access: "work" },
      { type: "done", id: 1, answer: [] },
    ]);
  });
});
