// The store in SQLite with real processes: kills, several writers of one database, a full disk, and a move that is killed.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Store } from "../../keel/src/ports/store.ts";
import { jsonlStore, leasesOf } from "../../keel/src/store/jsonl/store.ts";
import type { LogPlaces } from "../../keel/src/store/log-kind.ts";
import { logPlaces } from "../../keel/src/store/log-places.ts";
import { sqliteStore } from "../../keel/src/store/sqlite/store.ts";
import { calls, envelopes, opened, said } from "../../keel/src/testing/store-suite-events.ts";
import { type Home, makeHome, readAll, session, writeLog } from "../store/home.ts";
import { randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";

const appending = path.join(import.meta.dirname, "../store/append-child.ts");
const moving = path.join(import.meta.dirname, "../store/move-child.ts");
const children: ChildProcess[] = [];
const idOf = (number: number): string => `0193f0a0-0000-7000-8000-${String(number).padStart(12, "0")}`;

let place: Home;
beforeEach(async () => {
  place = await makeHome();
});
afterEach(async () => {
  for (const each of children.splice(0)) await end(each);
  await place.remove();
});

test("eight processes that write to one database at once lose nothing and are never told that it is locked", {
  timeout: 3_600_000,
}, async () => {
  verifies("S1.7");
  const count = countOf("sqlite-writers");
  const runs = Array.from({ length: 8 }, (_, index) =>
    run([appending, place.home, idOf(index), "own", `w${index}`, String(count), "sqlite"]),
  );
  await Promise.all(runs.map(({ process: each }) => once(each, "close")));
  expect(runs.flatMap(({ lines }) => lines)).toEqual(runs.map(() => "done"));
  const store = sqliteStore({ home: place.home });
  expect((await store.list()).map(({ id }) => id).sort()).toEqual(runs.map((_, index) => idOf(index)));
  for (const [index] of runs.entries()) {
    const seqs = (await readAll(store.read(idOf(index)))).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: count }, (_, at) => at + 1));
  }
});

test("what was acknowledged before kill -9 is there afterwards, and the session is free", {
  timeout: 3_600_000,
}, async () => {
  verifies("G1", "G7");
  const count = countOf("sqlite-kills");
  await writeLog(sqliteStore({ home: place.home }), place.cwd, 1);
  for (let index = 0; index < count; index++) {
    const random = randomOf(seed() + index);
    const writer = run([appending, place.home, session, "flood", "writer", String(index), "sqlite"]);
    await writer.says("held");
    await sleep(random.below(50));
    await end(writer.process);
    const told = writer.lines.flatMap((line) => (line.startsWith("ack") ? [Number(line.split(" ")[1])] : []));
    const log = await sqliteStore({ home: place.home }).open(session);
    const events = await readAll(log.read());
    const name = `seed ${seed()}, kill ${index}`;
    expect(log.notices, name).toEqual([]);
    expect(
      events.map(({ seq }) => seq),
      name,
    ).toEqual(events.map((_, at) => at + 1));
    expect(log.lastSeq, name).toBeGreaterThanOrEqual(Math.max(1, ...told));
    await log.close();
    await sqliteStore({ home: place.home }).delete(session);
    await writeLog(sqliteStore({ home: place.home }), place.cwd, 1);
  }
});

test("a move that is killed at any moment leaves every session whole, and the next one ends it", {
  timeout: 3_600_000,
}, async () => {
  verifies("S1.7");
  const count = countOf("sqlite-kills");
  const ids = Array.from({ length: 8 }, (_, index) => idOf(index));
  const store = storeOn(placesOf());
  for (const [index, id] of ids.entries()) {
    const log = await store.create(id, { cwd: place.cwd });
    await log.append(envelopes(id, [opened(place.cwd), said("x".repeat(index * 60_000)), ...calls(20)]));
    await log.close();
  }
  const before = await held(ids);
  for (let index = 0; index < count; index++) {
    const to = index % 2 === 0 ? "sqlite" : "jsonl";
    const mover = run([moving, place.home, to]);
    await mover.says("ready");
    await sleep(randomOf(seed() + index).below(60));
    await end(mover.process);
    expect(await held(ids), `seed ${seed()}, kill ${index}`).toEqual(before);
    const places = placesOf();
    const rest = await Array.fromAsync(places.move({ to }, storeOn(places).leases));
    expect(rest.flatMap(({ left }) => left?.message ?? [])).toEqual([]);
    await places.close();
  }
  expect(await held(ids)).toEqual(before);
});

const placesOf = (): LogPlaces =>
  logPlaces({
    home: place.home,
    now: Date.now,
    wish: async () => ({ kind: "jsonl" }),
    leases: leasesOf({ home: place.home }),
  });
const storeOn = ({ fs, index }: LogPlaces): Store => jsonlStore({ home: place.home, fs, index });

/** What every session holds, and how many times it is listed. */
async function held(ids: readonly string[]): Promise<Record<string, unknown>> {
  const places = placesOf();
  const store = storeOn(places);
  const listed = (await store.list()).map(({ id }) => id).sort();
  const logs: Record<string, unknown> = { listed };
  for (const id of ids) {
    const log = await store.open(id);
    logs[id] = { events: await readAll(log.read()), notices: log.notices };
    await log.close();
  }
  await places.close();
  return logs;
}

test("a full disk is told with its reason, loses nothing that was acknowledged, and room lets it go on", async () => {
  const disk = path.join(path.dirname(place.home), "disk");
  await mkdir(disk);
  const mount = `mount -t tmpfs -o size=3m tmpfs "$1"`;
  try {
    execFileSync("unshare", ["-Urm", "sh", "-c", mount, "sh", disk], { stdio: "ignore" });
  } catch {
    return notRunHere("a full disk", "no file system can be mounted");
  }
  const script = `${mount} && dd if=/dev/zero of="$1/ballast" bs=1k count=512 2>/dev/null && exec "$2" "$3" "$1/home" ${session} fill filler 0 sqlite`;
  const filler = run(["sh", disk, process.execPath, appending], {
    program: "unshare",
    before: ["-Urm", "sh", "-c", script],
  });
  await once(filler.process, "close");
  const acknowledged = filler.lines.filter((line) => line.startsWith("acknowledged"));
  expect(acknowledged.length).toBeGreaterThan(2);
  expect(filler.lines.find((line) => line.startsWith("refused"))).toMatch(/log_unwritable.*the disk is full/);
  expect(filler.lines).toContain(`found ${acknowledged.length}`);
  expect(filler.lines.at(-1)).toBe("done");
  expect(existsSync(path.join(disk, "home"))).toBe(false);
});

type Run = {
  readonly process: ChildProcess;
  readonly lines: string[];
  says(wanted: string): Promise<void>;
};

function run(
  parameters: readonly string[],
  { program = process.execPath, before = [] }: { program?: string; before?: readonly string[] } = {},
): Run {
  const started = spawn(program, [...before, ...parameters], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(started);
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  createInterface({ input: started.stdout }).on("line", (line) => {
    lines.push(line);
    for (const each of waiting) each();
  });
  const says = (wanted: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => void (lines.includes(wanted) && resolve());
      waiting.push(look);
      started.once("exit", () => reject(new Error(`it ended and never said ${wanted}: ${lines.join("; ")}`)));
      look();
    });
  return { process: started, lines, says };
}

async function end(each: ChildProcess): Promise<void> {
  if (each.exitCode !== null || each.signalCode !== null) return;
  const closed = once(each, "close");
  each.kill("SIGKILL");
  await closed;
}
