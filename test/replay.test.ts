// Recorded sessions through today's engine: what was sent must be what would be sent.
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../keel/src/core/limits.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { readLogFile } from "../keel/src/store/jsonl/log-file.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import type { ReplayWorld } from "../keel/src/time/replay/ports-of-log.ts";
import { replayLog } from "../keel/src/time/replay/replay.ts";
import type { RequestDifference } from "../keel/src/time/replay/replayed.ts";
import { type Mutation, mutations, type SourceChange } from "./replay/mutations.ts";
import { simulatedInfo } from "./simulation/model.ts";
import { simulate } from "./simulation/run.ts";
import { simulatedSums } from "./simulation/sums.ts";
import { countOf, partOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 2 * 60 * 60_000 };
const world: ReplayWorld = {
  model: { info: simulatedInfo, prepare: simulatedSums },
  limits: { ...defaultLimits, maxObjections: 3 },
};

describe("a replay", () => {
  test("of sessions that go wrong in every way sends every request as it was sent", patience, async () => {
    verifies("P28", "P29");
    const first = seed();
    const count = countOf("replayed-sessions");
    let requests = 0;
    for (let offset = 0; offset < count; offset++) {
      const { logs } = await simulate(first + offset, { sums: "kept" });
      for (const [session, lines] of logs) {
        const events = lines.map((line): Durable => JSON.parse(line));
        const { difference, ...report } = await replayLog(events, world);
        expect(difference, `seed ${first + offset}, session ${session}`).toBeUndefined();
        expect(report.events).toBe(events.length);
        expect(report.equalRequests).toBe(report.requests);
        requests += report.requests;
      }
    }
    expect(requests).toBeGreaterThan(count);
  });

  test(
    "finds every change of prompts, tools, settings, prices and the engine, and says where and why",
    patience,
    async () => {
      verifies("P29");
      const wanted = partOf("replay-mutations", () => mutations);
      const logs = wanted.length < 10 ? await recordedLogs(8) : await logsWithEverything();
      const folder = await mkdtemp(path.join(os.tmpdir(), "keel-mutations-"));
      const file = path.join(folder, "logs.json");
      await writeFile(file, JSON.stringify(logs));
      try {
        const wrong: string[] = [];
        for (const mutation of wanted) {
          const difference = await findMutation(mutation, logs, file);
          if (!difference) wrong.push(`${mutation.name}: not found`);
          else if (!mutation.causes.includes(difference.cause))
            wrong.push(`${mutation.name}: ${difference.cause}, ${difference.what}`);
          else if (mutation.first && difference.request > 1)
            wrong.push(`${mutation.name}: only at request ${difference.request}`);
        }
        expect(wrong).toEqual([]);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  test("of old logs says of each what it lacks, and neither compares nor guesses that", async () => {
    const folder = path.join(import.meta.dirname, "golden/logs");
    const lacks: Record<string, readonly string[]> = {};
    for (const name of globSync("v*-*.jsonl", { cwd: folder }).sort()) {
      const events = await readLogFile(path.join(folder, name), ({ text }) => expect.fail(text));
      lacks[name] = (await replayLog(events, world)).lacks;
    }
    expect(lacks).toMatchInlineSnapshot(`
      {
        "v1-agents.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-consulted.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-decision-facts.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-every-event.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-forgotten-memory.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-goals.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-kept-folder.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-moved-session.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-returned.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-rewind.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-teams.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
        "v1-who.jsonl": [
          "the request's fingerprint",
          "what the request was expected to use",
        ],
      }
    `);
  });

  test("of an exported log finds every byte that was changed in it", patience, async () => {
    verifies("P29");
    const file = path.join(import.meta.dirname, "golden/logs/v1-every-event.jsonl");
    const whole = await readFile(file);
    const chance = countingIds({ seed: seed() + 8 });
    const folder = await mkdtemp(path.join(os.tmpdir(), "keel-flips-"));
    const changed = path.join(folder, "changed.jsonl");
    try {
      const missed: string[] = [];
      for (let flip = 0; flip < countOf("flipped-bytes"); flip++) {
        const at = Math.floor(chance.random() * whole.length);
        const bytes = Buffer.from(whole);
        bytes[at] = (whole[at] ?? 0) ^ (1 << Math.floor(chance.random() * 8));
        await writeFile(changed, bytes);
        const told: string[] = [];
        const read = readLogFile(changed, ({ text }) => told.push(text));
        const events = await read.catch((thrown: unknown) => void told.push(String(thrown)));
        // A replay of what is left ends in words, never in a throw.
        if (events) await replayLog(events, world);
        if (told.length === 0) missed.push(`byte ${at}: ${bytes.subarray(at - 20, at + 20).toString()}`);
      }
      expect(missed).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("of a part of a session looks no further than told", async () => {
    const [events = []] = await recordedLogs(1);
    const { events: taken, difference } = await replayLog(events, world, { to: 5 });
    expect({ taken, difference }).toEqual({ taken: 5, difference: undefined });
  });
});

async function recordedLogs(worlds: number): Promise<Durable[][]> {
  const logs: Durable[][] = [];
  for (let number = 1; number <= worlds; number++)
    for (const lines of (await simulate(number, { sums: "kept" })).logs.values())
      logs.push(lines.map((line): Durable => JSON.parse(line)));
  return logs;
}

/** What happens seldom, and must have happened for a change of it to be seen. */
const seldom: readonly ((event: Durable) => boolean)[] = [
  (event) => event.type === "context.compacted" && event.trigger === "full",
  (event) => event.type === "context.added" && event.why === "output_limit",
  (event) => event.type === "turn.finished" && event.reason === "refusal",
];

async function logsWithEverything(): Promise<Durable[][]> {
  const logs = await recordedLogs(40);
  for (const isWanted of seldom)
    for (let number = 41; !logs.some((events) => events.some(isWanted)); number++) {
      const { logs: more } = await simulate(number, { sums: "kept" });
      const found = [...more.values()].map((lines) => lines.map((line): Durable => JSON.parse(line)));
      logs.push(...found.filter((events) => events.some(isWanted)));
    }
  return logs;
}

async function findMutation(
  mutation: Mutation,
  logs: readonly (readonly Durable[])[],
  file: string,
): Promise<RequestDifference | undefined> {
  if ("source" in mutation) return findInChild(mutation.source, file);
  const changed = mutation.world(world);
  for (const events of logs) {
    const { difference } = await replayLog(events, changed);
    if (difference) return difference;
  }
  return undefined;
}

async function findInChild(change: SourceChange, file: string): Promise<RequestDifference | undefined> {
  const child = path.join(import.meta.dirname, "replay/mutated-child.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(change), file]);
  const { changed, difference } = JSON.parse(stdout);
  expect(changed, change.file).toBe(1);
  return difference;
}
