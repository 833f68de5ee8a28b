// G22: long sessions are read in bounded time and memory, and a very long record does not stop a log.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { requestLaw } from "../../keel/src/testing/request-law.ts";
import { calls, envelopes, said, started } from "../../keel/src/testing/store-suite-events.ts";
import { type Home, makeHome, readAll, seqs, session, warnings, writeLog } from "../store/home.ts";
import { writeLongSession } from "../store/long-session.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

const child = path.join(import.meta.dirname, "../store/long-log-child.ts");
const MEBIBYTE = 1024 * 1024;
/** The goal is measured where nothing else runs; elsewhere this only guards against hanging. */
const WITHIN_MS = process.env["KEEL_TEST_COUNTS"] === "full" ? 3_000 : 120_000;
/** Of all threads; what a crowd of other processes does to it is not what is held here. */
const CPU_SECONDS = 10;

let place: Home;
beforeEach(async () => {
  place = await makeHome();
});
afterEach(() => place.remove());

describe("a log of 200 MB and 20,000 events", { timeout: 180_000 }, () => {
  const model = "claude-haiku-4-5";

  test.each([
    ["in Latin letters", 'The quick brown fox "jumps" over\n'],
    ["with other letters in every message", 'Der schnelle Fuchs 跳过 "die" Straße\n'],
  ])("%s is resumed by the command within its time and 500 MB", async (_, words) => {
    verifies("G22");
    const peak: { firstMs: number; rssMb: number; cpuSeconds: number }[] = [];
    let startedAt = 0;
    let pid = 0;
    const stage = await openStage(
      { replies: [], otherwise: reply("I am back.") },
      {
        // One request of a session: there is nothing that it could break, and the log is too long to read for that.
        law: requestLaw({ log: () => [] }),
        onRequest: () => peak.push({ firstMs: performance.now() - startedAt, ...costOf(pid) }),
      },
    );
    const wish = { home: stage.home, cwd: stage.project, session, model, words };
    const written = writeLongSession({ ...wish, events: 20_000, bytes: 200_000_000 });
    expect(written.events).toBeGreaterThanOrEqual(20_000);
    expect(written.bytes).toBeGreaterThanOrEqual(200_000_000);

    startedAt = performance.now();
    const running = stage.start(["-p", "--resume", session, "go on"]);
    running.child.stdin?.end();
    pid = running.child.pid ?? 0;
    expect(await running.ended).toMatchObject({ code: 0, stdout: "I am back.\n", stderr: "" });

    // What it asks first holds the newest notes, the newest turns and the new words.
    expect(stage.server.requests).toHaveLength(1);
    const asked = JSON.stringify(stage.server.requests[0]?.body);
    expect(asked).toContain("Everything until ");
    expect(asked).toContain("go on");
    const [first] = peak;
    if (!first) throw new Error("nothing was asked");
    note(
      "counts",
      `long-log-resume ${written.events} (first request after ${Math.round(first.firstMs)} ms, ` +
        `${first.cpuSeconds} s of CPU, peak ${Math.round(first.rssMb)} MB)`,
    );
    expect(first.firstMs).toBeLessThan(WITHIN_MS);
    expect(first.cpuSeconds).toBeLessThan(CPU_SECONDS);
    expect(first.rssMb).toBeLessThan(500);
  });

  test("is held in memory as a whole within its time and 500 MB", () => {
    verifies("G22");
    const { written } = run("write", "20000", "200000000");
    expect(written).toBeGreaterThan(200_000_000);
    const { events, notices, totalMs, rssMb } = run("read");
    expect({ events, notices }).toEqual({ events: 20_000, notices: [] });
    expect(totalMs).toBeLessThan(WITHIN_MS);
    expect(rssMb).toBeLessThan(500);
  });
});

/** What a process has used so far: its largest memory, and the time of all its threads. */
function costOf(pid: number): { rssMb: number; cpuSeconds: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]);
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  // Fields 14 and 15 of proc(5), in hundredths of a second.
  return { rssMb: kilobytes / 1024, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 };
}

test("a record of 64 MiB is kept and read, and one that could not be read again is refused", async () => {
  verifies("G22");
  const store = jsonlStore({ home: place.home });
  await writeLog(store, place.cwd, 2);
  const log = await store.open(session);
  await log.append(envelopes(session, [said("x".repeat(64 * MEBIBYTE)), started("after")], 2));
  const tooLong = envelopes(session, [said("x".repeat(129 * MEBIBYTE))], 4);
  await expect(log.append(tooLong)).rejects.toMatchObject({
    code: "log_unwritable",
    message: expect.stringContaining("longer than"),
  });
  await log.append(envelopes(session, calls(1), 4));
  await log.close();
  const again = await store.open(session);
  expect(again.notices).toEqual([]);
  expect(seqs(await readAll(again.read()))).toEqual([1, 2, 3, 4, 5]);
  await again.close();
});

test("a gap of 300 MB of NULs costs no memory and no record after it", async () => {
  const store = jsonlStore({ home: place.home });
  const { file } = await writeLog(store, place.cwd, 2);
  const { size } = await stat(file);
  // A hole: the file system stores nothing for it, and reading gives zeros.
  execFileSync("truncate", ["--size", String(size + 300 * MEBIBYTE), file]);
  const log = await store.open(session);
  expect(warnings(log.notices)).toHaveLength(1);
  await log.append(envelopes(session, calls(1), 2));
  await log.close();
  expect(seqs(await readAll(store.read(session)))).toEqual([1, 2, 3]);
});

type Said = {
  written: number;
  events: number;
  notices: unknown[];
  openMs: number;
  totalMs: number;
  rssMb: number;
};

function run(task: "write" | "read", ...more: string[]): Said {
  const output = execFileSync(process.execPath, [child, task, place.home, session, ...more], {
    encoding: "utf8",
  });
  return JSON.parse(output);
}
