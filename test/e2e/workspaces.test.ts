// Workspaces of the built `keel serve`: killed without a word it leaves no process, and started again it has them all.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { connect, type KeelClient } from "../../keel/src/client/connect.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { painted, textOf, write } from "../support/cells.ts";
import { verifies } from "../support/verifies.ts";
import { launcher } from "./command.ts";

async function stage() {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "keel-workspaces-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const cwd = path.join(folder, "work");
  await mkdir(cwd);
  const model = await startModelServer({ script: () => reply("Said before.") });
  onTestFinished(() => model.close());
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "test-key",
  };
  const start = async (): Promise<{ child: ChildProcess; client: KeelClient }> => {
    const child = spawn(launcher, ["serve", "--port", "0", "--json"], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    for await (const line of createInterface({ input: child.stdout })) {
      const { url, secretFile } = JSON.parse(line) as { url: string; secretFile: string };
      const client = connect({ url, secret: (await readFile(secretFile, "utf8")).trim() });
      onTestFinished(() => client.close());
      return { child, client };
    }
    throw new Error("the server said nothing");
  };
  return { cwd, start };
}

/** What a terminal shows, until it shows something. */
async function shows(client: KeelClient, worker: string, isSo: (text: string) => boolean): Promise<string> {
  const stop = AbortSignal.timeout(20_000);
  let screen: Awaited<ReturnType<typeof painted>> | undefined;
  for await (const update of client.workspaces.terminal(worker).updates(stop)) {
    if (update.kind === "screen") screen = await painted(update);
    else if (update.kind === "output" && screen) await write(screen, update.text);
    if (screen && isSo(textOf(screen))) break;
  }
  return screen ? textOf(screen) : "";
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

test("a server that is killed leaves no program of a terminal, and its successor has all workspaces", async () => {
  verifies("S3.3", "S3.7", "S3.15", "S3.21");
  const { cwd, start } = await stage();
  const { child, client } = await start();
  const stubborn = "trap '' HUP INT TERM; echo $$ >> pids; echo stubborn; while :; do sleep 0.2; done";
  const made = await client.workspaces.createWorkspace({
    cwd,
    title: "Kept",
    workers: [
      { kind: "agent", prompt: "Hi", options: { model: "claude-haiku-4-5" } },
      {
        kind: "terminal",
        command: ["bash", "-c", `(${stubborn}) & setsid bash -c ${JSON.stringify(stubborn)} & ${stubborn}`],
      },
      { kind: "agent", engine: "pty", command: [launcher, "--version"] },
      { kind: "diff" },
    ],
  });
  const [, terminal, program] = made.workers.map(({ id }) => id);
  await shows(client, terminal ?? "", (text) => text.split("stubborn").length >= 4);
  expect(await shows(client, program ?? "", (text) => /\d+\.\d+\.\d+/.test(text))).toMatch(/\d+\.\d+\.\d+/);
  // The screen is kept a moment after it was drawn.
  const kept = path.join(path.dirname(cwd), ".keel/server/workers", terminal ?? "", "screen.json");
  for (let tries = 0; tries < 200 && !existsSync(kept); tries++) await pause(50);
  const pids = (await readFile(path.join(cwd, "pids"), "utf8")).trim().split("\n").map(Number);
  expect(pids.length).toBeGreaterThanOrEqual(3);
  expect(pids.every(isAlive)).toBe(true);

  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
  for (let tries = 0; tries < 60 && pids.some(isAlive); tries++) await pause(50);
  expect(pids.filter(isAlive)).toEqual([]);

  const { client: after } = await start();
  const [workspace] = await after.workspaces.list();
  expect(workspace).toMatchObject({ id: made.id, title: "Kept" });
  expect(workspace?.workers.map(({ engine }) => engine)).toEqual(["keel", "shell", "pty", "git"]);
  expect(workspace?.workers[1]).toMatchObject({ activity: "ended" });
  expect(await shows(after, terminal ?? "", (text) => text.includes("stubborn"))).toContain("stubborn");
  for await (const update of after.workspaces.watch(AbortSignal.timeout(20_000))) {
    const agents = update.kind === "all" ? update.workspaces.flatMap(({ workers }) => workers) : [];
    const all = update.kind === "worker" ? [update.worker] : agents;
    if (all.some(({ lastWords }) => lastWords === "Said before.")) break;
  }
});
