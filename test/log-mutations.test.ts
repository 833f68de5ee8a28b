// G4: however a log is changed, only the damaged records are lost, loudly, and the log can be used again.
import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LogNotice } from "../keel/src/ports/store.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { jsonlStore } from "../keel/src/store/jsonl/store.ts";
import { calls, envelopes } from "../keel/src/testing/store-suite-events.ts";
import { copiesOf, type Home, makeHome, readAll, warnings } from "./store/home.ts";
import { type Random, randomOf } from "./store/random.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const session = "0193f0a0-0000-7000-8000-000000000001";
const golden = readFileSync(path.join(import.meta.dirname, "golden/logs/v1-every-event.jsonl"));
const lines = golden.toString("latin1").split("\n").slice(0, -1);
const records = new Map(lines.slice(1).map((line, index) => [index + 1, line]));

/** Opening for writing costs syncs: a part of the runs shows it. */
const WRITTEN_EVERY = 5;

let place: Home;
let file: string;
beforeEach(async () => {
  place = await makeHome();
  file = path.join(place.home, "projects", "project", `${session}.jsonl`);
  await mkdir(path.dirname(file), { recursive: true });
});
afterEach(() => place.remove());

test("a log that was changed at random gives back every record that is still whole", {
  timeout: 3_600_000,
}, async () => {
  verifies("G4");
  const count = countOf("log-mutations");
  for (let run = 0; run < count; run++) {
    const name = `seed ${seed()}, run ${run}`;
    const random = randomOf(seed() + run);
    const changes = Array.from({ length: 1 + random.below(4) }, () => random.pick(mutations));
    const changed = changes.reduce<Buffer>((bytes, change) => change(bytes, random), golden);
    await writeFile(file, changed);
    const events = await expectSurvivors(changed, name);
    if (run % WRITTEN_EVERY === 0) await expectUsable(changed, events, name);
  }
});

async function expectSurvivors(changed: Buffer, name: string): Promise<Durable[]> {
  const told: LogNotice[] = [];
  const began = performance.now();
  const events = await readAll(
    jsonlStore({ home: place.home }).read(session, 0, (notice) => told.push(notice)),
  );
  expect(performance.now() - began, name).toBeLessThan(2_000);
  const found = new Set(events.map(({ seq }) => seq));
  const text = changed.toString("latin1");
  const whole = [...records].filter(([, line]) => isWhole(text, line)).map(([seq]) => seq);
  expect(
    whole.filter((seq) => !found.has(seq)),
    `${name}: whole, but not read`,
  ).toEqual([]);
  const invented = events.filter(({ seq }) => !text.includes(records.get(seq) ?? "-"));
  expect(invented, `${name}: read, but not there`).toEqual([]);
  if (found.size < Math.max(0, ...found)) expect(warnings(told), name).toHaveLength(1);
  return events;
}

async function expectUsable(changed: Buffer, events: readonly Durable[], name: string): Promise<void> {
  const log = await jsonlStore({ home: place.home }).open(session);
  expect(await readAll(log.read()), name).toEqual(events);
  const copies = await copiesOf(file);
  const next = envelopes(session, calls(1), log.lastSeq);
  await log.append(next);
  await log.close();
  if (log.notices.some(({ text }) => text.includes(".damaged-"))) {
    expect(
      copies.some((copy) => copy.equals(changed)),
      name,
    ).toBe(true);
  }
  expect(await readAll(jsonlStore({ home: place.home }).read(session)), name).toEqual([...events, ...next]);
  await rm(`${file}.damaged-1`, { force: true });
}

/** What is followed by one of these may be a part of another record, and is given up. */
function isWhole(text: string, line: string): boolean {
  const at = text.indexOf(line);
  return at !== -1 && !",]}".includes(text[at + line.length] ?? "\n");
}

type Mutation = (bytes: Buffer, random: Random) => Buffer;

const splice = (bytes: Buffer, from: number, to: number, between: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, from), between, bytes.subarray(to)]);

const garbage = (random: Random, most: number): Buffer =>
  Buffer.from(Array.from({ length: 1 + random.below(most) }, () => random.below(256)));

const mutations: Mutation[] = [
  function flipBit(bytes, random) {
    const copy = Buffer.from(bytes);
    const at = random.below(copy.length);
    if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  function insertGarbage(bytes, random) {
    const at = random.below(bytes.length);
    return splice(bytes, at, at, garbage(random, 40));
  },
  function insertNuls(bytes, random) {
    const at = random.below(bytes.length);
    return splice(bytes, at, at, Buffer.alloc(1 + random.below(5_000)));
  },
  function removeRange(bytes, random) {
    const at = random.below(bytes.length);
    return splice(bytes, at, at + random.below(600), Buffer.alloc(0));
  },
  function repeatRange(bytes, random) {
    const at = random.below(bytes.length);
    return splice(bytes, at, at, bytes.subarray(at, at + random.below(900)));
  },
  function moveRange(bytes, random) {
    const from = random.below(bytes.length);
    const part = bytes.subarray(from, from + random.below(900));
    const rest = splice(bytes, from, from + part.length, Buffer.alloc(0));
    const to = random.below(rest.length);
    return splice(rest, to, to, part);
  },
  function cutOff(bytes, random) {
    return bytes.subarray(0, bytes.length - random.below(Math.min(bytes.length, 1_200)));
  },
  function breakLine(bytes, random) {
    const at = random.below(bytes.length);
    return splice(bytes, at, at, Buffer.from(random.pick(["\n", "\r\n", "\n\n", "\r"])));
  },
  function joinLines(bytes, random) {
    const at = bytes.indexOf("\n", random.below(bytes.length));
    return at === -1 ? bytes : splice(bytes, at, at + 1, Buffer.alloc(0));
  },
];
