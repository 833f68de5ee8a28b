// G1 and G7 with real processes: one writer at a time, a killed one frees its session, and what it acknowledged is there.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { type Home, makeHome, readAll, session, writeLog } from "../store/home.ts";
import { randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";

const child = path.join(import.meta.dirname, "../store/append-child.ts");
const children: ChildProcess[] = [];

let place: Home;
beforeEach(async () => {
  place = await makeHome();
  await writeLog(jsonlStore({ home: place.home }), place.cwd, 1);
});
afterEach(async () => {
  for (const each of children.splice(0)) await end(each);
  await place.remove();
});

test("four processes that share a session lose and mix nothing, and are told at once that it is busy", async () => {
  verifies("G7");
  const count = countOf("log-writers");
  const names = ["a", "b", "c", "d"];
  const runs = names.map((name) => run("share", { name, count }));
  await Promise.all(runs.map(({ process: each }) => once(each, "close")));
  const lines = runs.flatMap((each) => each.lines);
  expect(lines.filter((line) => line === "done")).toHaveLength(names.length);
  const busyMs = lines.flatMap((line) => (line.startsWith("busy ") ? [Number(line.slice(5))] : []));
  expect(busyMs.length).toBeGreaterThan(0);
  expect(Math.max(...busyMs)).toBeLessThan(1_000);

  const told: string[] = [];
  const events = await readAll(
    jsonlStore({ home: place.home }).read(session, 0, ({ text }) => told.push(text)),
  );
  expect(told).toEqual([]);
  expect(events.map(({ seq }) => seq)).toEqual(
    Array.from({ length: 1 + names.length * count }, (_, index) => index + 1),
  );
  const ids = events.flatMap((event) => (event.type === "tool.started" ? [event.callId] : []));
  for (const name of names) {
    const own = ids.filter((id) => id.startsWith(`${name}-`));
    expect(own).toEqual(Array.from({ length: count }, (_, index) => `${name}-${index + 1}`));
  }
});

test("a session is refused within a second while it is held, and free within two once its holder is killed", async () => {
  verifies("G7");
  const holder = run("hold", { name: "holder", count: 0 });
  await holder.says("held");
  const store = jsonlStore({ home: place.home });
  const began = performance.now();
  await expect(store.open(session)).rejects.toMatchObject({
    code: "session_busy",
    detail: { pid: holder.process.pid },
  });
  expect(performance.now() - began).toBeLessThan(1_000);
  await end(holder.process);
  const killed = performance.now();
  const log = await store.open(session);
  expect(performance.now() - killed).toBeLessThan(2_000);
  await log.close();
});

test("of several processes that find a dead holder's lock, one takes the session", async () => {
  const holder = run("hold", { name: "holder", count: 0 });
  await holder.says("held");
  await end(holder.process);
  const takers = ["a", "b", "c"].map((name) => run("hold", { name, count: 0 }));
  const said = await Promise.all(takers.map((taker) => taker.says("held", "busy")));
  expect(said.toSorted()).toEqual(["busy", "busy", "held"]);
});

test("what was acknowledged before kill -9 is there afterwards", async () => {
  const count = countOf("log-kills");
  for (let index = 0; index < count; index++) {
    const random = randomOf(seed() + index);
    const writer = run("flood", { name: "writer", count: index });
    await writer.says("held");
    await sleep(random.below(50));
    await end(writer.process);
    const acknowledged = writer.lines.flatMap((line) =>
      line.startsWith("ack") ? [Number(line.split(" ")[1])] : [],
    );
    const log = await jsonlStore({ home: place.home }).open(session);
    const events = await readAll(log.read());
    expect(
      events.map(({ seq }) => seq),
      `seed ${seed()}, kill ${index}`,
    ).toEqual(events.map((_, at) => at + 1));
    expect(log.lastSeq, `seed ${seed()}, kill ${index}`).toBeGreaterThanOrEqual(Math.max(1, ...acknowledged));
    await log.close();
    await jsonlStore({ home: place.home }).delete(session);
    await writeLog(jsonlStore({ home: place.home }), place.cwd, 1);
  }
});

type Run = {
  readonly process: ChildProcess;
  readonly lines: string[];
  /** Resolves to the first line that is one of these. */
  says(...wanted: string[]): Promise<string>;
};

function run(task: string, { name, count }: { name: string; count: number }): Run {
  const parameters = [child, place.home, session, task, name, String(count)];
  const started = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(started);
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  createInterface({ input: started.stdout }).on("line", (line) => {
    lines.push(line);
    for (const each of waiting) each(line);
  });
  const says = (...wanted: string[]) =>
    new Promise<string>((resolve, reject) => {
      const hear = (line: string) => void (wanted.includes(line) && resolve(line));
      waiting.push(hear);
      started.once("exit", () => reject(new Error(`${name} ended and never said ${wanted.join(" or ")}`)));
      for (const line of lines) hear(line);
    });
  return { process: started, lines, says };
}

async function end(each: ChildProcess): Promise<void> {
  if (each.exitCode !== null || each.signalCode !== null) return;
  const closed = once(each, "close");
  each.kill("SIGKILL");
  await closed;
}
