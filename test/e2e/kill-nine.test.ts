import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { readAll } from "../store/home.ts";
import { atOnce } from "../support/at-once.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { launcher } from "./command.ts";

/** Each command leaves one mark; it takes a moment, so that a kill may fall inside it. */
const mark = (name: string) =>
  toolUse("Bash", { command: `echo ${name} >> trace.txt; sleep 0.02; echo done` }, name);

/** By what the conversation holds, so that a request sent again gets the same reply. */
const replies: readonly Reply[] = [
  reply("First, one mark.", mark("m1")),
  reply(toolUse("Read", { file_path: "trace.txt" }, "r1"), mark("m2")),
  reply("Two at once.", mark("m3"), mark("m4")),
  reply(
    toolUse("Read", { file_path: "trace.txt" }, "r2"),
    toolUse("Read", { file_path: "missing.txt" }, "r3"),
  ),
  reply(mark("m5")),
  reply("All marks are made."),
];
const marks = ["m1", "m2", "m3", "m4", "m5"];

/** Lives that go on beside each other, each in a folder of its own. */
const together = 3;

type Life = { readonly acknowledged: boolean };

describe("kill -9 at any moment", () => {
  let server: ModelServer;
  let wholeMs = 1_000;
  const folders: string[] = [];

  beforeAll(async () => {
    server = await startModelServer({
      script: (_, asked) => replies[asked.assistantTurns] ?? reply("Nothing is left to do."),
      maxRequests: 100_000,
    });
    // How long a life lasts without a kill, so that the moments fall everywhere.
    const folder = await newFolder();
    await live(folder, sessionId(900_001), ["go"]);
    const startedAt = performance.now();
    const whole = async (run: number): Promise<Life> => live(await newFolder(), sessionId(run), ["go"]);
    await Promise.all([900_002, 900_003, 900_004].map(whole));
    wholeMs = performance.now() - startedAt;
    // Whole lives: on a machine that is busy otherwise they take their time.
  }, 600_000);
  afterAll(async () => {
    await server.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  async function newFolder(): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), "keel-kill-"));
    folders.push(folder);
    return folder;
  }

  const environment = (folder: string): Record<string, string> => ({
    HOME: folder,
    KEEL_HOME: path.join(folder, "home"),
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "test-key",
  });
  const options = [
    "--model",
    "claude-sonnet-4-5",
    "--allowed-tools",
    "Bash",
    "--output-format",
    "stream-json",
    "--verbose",
  ];

  /** One life of the command, killed after `killMs` or left to end. */
  function live(folder: string, id: string, prompt: readonly string[], killMs?: number): Promise<Life> {
    const start = prompt.length > 0 ? ["--session-id", id] : ["--resume", id];
    return new Promise((resolve) => {
      const child = spawn(launcher, ["-p", ...options, ...start, ...prompt], {
        cwd: folder,
        env: { PATH: process.env["PATH"], ...environment(folder) },
        stdio: ["ignore", "pipe", "ignore"],
      });
      let acknowledged = false;
      child.stdout.on("data", () => {
        acknowledged = true; // The first line comes when the input is on disk.
      });
      const timer = killMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killMs);
      child.on("close", () => {
        clearTimeout(timer);
        resolve({ acknowledged });
      });
    });
  }

  /** From the disk, by the store itself: a process for it would take a fifth of the whole suite. */
  async function logOf(folder: string, id: string): Promise<Durable[]> {
    const store = jsonlStore({ home: path.join(folder, "home") });
    return store.location(id) === undefined ? [] : readAll(store.read(id));
  }

  test("loses no acknowledged input, runs no command twice, sends no invalid request, and ends every input once", {
    timeout: 60 * 60_000,
  }, async () => {
    verifies("G1", "G2", "G3", "G18", "P28");
    const chance = countingIds({ seed: seed() });
    const count = countOf("kill-nine");
    const runs = Array.from({ length: count }, (_, at) => ({
      run: at + 1,
      kill: chance.random(),
      // A second kill, during the life that mends the first.
      again: chance.random() < 0.5 ? chance.random() : undefined,
    }));
    const inside = await atOnce(together, runs, async ({ run, kill, again }) => {
      const folder = await newFolder();
      const id = sessionId(run);
      const lives = [await live(folder, id, ["go"], 30 + kill * wholeMs)];
      if (again !== undefined) lives.push(await live(folder, id, [], 30 + again * wholeMs));
      await live(folder, id, []);
      const log = await logOf(folder, id);
      const name = `run ${run} of seed ${seed()}`;
      if (lives.some(({ acknowledged }) => acknowledged)) expect(log.length, name).toBeGreaterThan(0);
      if (log.length === 0) return false;
      check(log, folder, name);
      await rm(folder, { recursive: true, force: true });
      return true;
    });
    const killedInside = inside.filter(Boolean).length;
    expect(killedInside).toBeGreaterThan(count / 4);
    expect(server.requests.flatMap(({ violations }) => violations)).toEqual([]);
  });

  function check(log: readonly Durable[], folder: string, name: string): void {
    for (const event of log) {
      if (event.type !== "input.accepted") continue;
      const ends = log.filter(
        (other) => other.type === "turn.finished" && other.inputIds.includes(event.input.id),
      );
      expect(ends, name).toHaveLength(1);
    }
    const trace = path.join(folder, "trace.txt");
    const made = existsSync(trace) ? readFileSync(trace, "utf8").trim().split("\n") : [];
    for (const mark of marks) {
      const times = made.filter((line) => line === mark).length;
      const outcome = log.find((event) => event.type === "tool.finished" && event.callId === mark);
      const unknown = outcome?.type === "tool.finished" && outcome.interrupted === true;
      // A finished command ran exactly once; one whose outcome is unknown at most once.
      expect(times, `${name}: ${mark}`).toBeLessThanOrEqual(1);
      if (outcome && !unknown) expect(times, `${name}: ${mark}`).toBe(1);
      if (!outcome) expect(times, `${name}: ${mark}`).toBe(0);
      const starts = log.filter((event) => event.type === "tool.started" && event.callId === mark);
      expect(starts.length, `${name}: ${mark}`).toBeLessThanOrEqual(1);
    }
  }
});

const sessionId = (run: number): string => `00000000-0000-4000-8000-${String(run).padStart(12, "0")}`;
