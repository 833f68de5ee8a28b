// A process that writes a log, for tests that watch several of them or kill one. Says on stdout, a line each, what
// became true: `held`, `busy <ms>`, `acknowledged <seq>`, `done`.
import { writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../keel/src/kernel/fault.ts";
import type { Log } from "../../keel/src/ports/store.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { sqliteStore } from "../../keel/src/store/sqlite/store.ts";
import { envelopes, said, started } from "../../keel/src/testing/store-suite-events.ts";
import { randomOf } from "./random.ts";

const [home = "", session = "", task = "", name = "", count = "0", kind = "jsonl"] = process.argv.slice(2);
const store = (kind === "sqlite" ? sqliteStore : jsonlStore)({ home });
const random = randomOf(Number(count) + name.length);
const tasks: Record<string, () => Promise<void>> = { share, hold, flood, own, fill };
await tasks[task]?.();
say("done");

/** Appends its events, a few at a time, and lets others write in between. */
async function share(): Promise<void> {
  for (let written = 0; written < Number(count); ) {
    const log = await opened();
    const few = Math.min(1 + random.below(5), Number(count) - written);
    for (let index = 0; index < few; index++) {
      written += 1;
      await log.append(envelopes(session, [started(`${name}-${written}`)], log.lastSeq));
    }
    await log.close();
  }
}

/** Takes the session once, or says that it cannot, and keeps it until it is killed. */
async function hold(): Promise<void> {
  try {
    await store.open(session);
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== "session_busy") throw thrown;
    say("busy");
    return;
  }
  say("held");
  await sleep(60_000);
}

/** Appends without end, in batches of any size, several at a time. */
async function flood(): Promise<void> {
  const log = await opened();
  say("held");
  let seq = log.lastSeq;
  for (;;) {
    const batch = Array.from({ length: 1 + random.below(4) }, () =>
      said("x".repeat(random.below(random.pick([50, 200_000])))),
    );
    const events = envelopes(session, batch, seq);
    seq += events.length;
    const last = seq;
    const acknowledged = log.append(events).then(() => say(`acknowledged ${last}`));
    if (random.below(3) === 0) await acknowledged;
  }
}

/** Writes a session of its own, one event after the other, and looks at the others now and then. */
async function own(): Promise<void> {
  const log = await store.create(session, { cwd: "/srv" });
  for (let seq = 1; seq <= Number(count); seq++) {
    await log.append(envelopes(session, [started(`${name}-${seq}`)], seq - 1));
    if (seq % 25 === 0) await store.list({ limit: 5 });
  }
  await log.close();
}

/** Appends until the disk is full, makes room, and goes on. */
async function fill(): Promise<void> {
  const log = await store.create(session, { cwd: "/srv" });
  const append = (): Promise<void> => log.append(envelopes(session, [said("x".repeat(20_000))], log.lastSeq));
  for (;;) {
    try {
      await append();
      say(`acknowledged ${log.lastSeq}`);
    } catch (thrown) {
      say(thrown instanceof Fault ? `refused ${thrown.code} ${thrown.message}` : String(thrown));
      break;
    }
  }
  await rm(path.join(home, "..", "ballast"));
  await append();
  say(`acknowledged ${log.lastSeq}`);
  await log.close();
  const found = (await Array.fromAsync(store.read(session))).length;
  say(`found ${found}`);
}

async function opened(): Promise<Log> {
  for (;;) {
    const began = performance.now();
    try {
      return await store.open(session);
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== "session_busy") throw thrown;
      say(`busy ${Math.round(performance.now() - began)}`);
    }
    await sleep(random.below(10));
  }
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}
