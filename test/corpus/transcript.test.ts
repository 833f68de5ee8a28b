// Broken transcripts, at the level of the store: what is kept, what is told, and that nothing of the original is lost.
// What the engine makes of them (valid requests, settled calls) is another test over the same map.
import { execFileSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Log } from "../../keel/src/ports/store.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { nodeFiles } from "../../keel/src/store/jsonl/files.ts";
import { jsonlStore, leasesOf } from "../../keel/src/store/jsonl/store.ts";
import { calls, envelopes } from "../../keel/src/testing/store-suite-events.ts";
import { failAll, failingFiles } from "../store/failing-files.ts";
import { copiesOf, type Home, makeHome, readAll, warnings } from "../store/home.ts";
import {
  applyOps,
  baseLines,
  isWithoutCounterpart,
  type MapLine,
  needsEngine,
  seqOf,
  toBytes,
} from "./transcript-map.ts";
import { type Expected, type Row, readBase, readRows } from "./transcript-rows.ts";

const session = "5f0c2d3e-1111-4222-8333-444455556666";
const rows = readRows();
// Long logs take seconds: test/e2e/long-log.test.ts has them.
const changed = rows.filter(({ ops }) => ops !== undefined);
const surrounded = rows.filter(({ env }) => env !== undefined && env.records === undefined);

let place: Home;
let file: string;

beforeEach(async () => {
  place = await makeHome();
  file = path.join(place.home, "projects", "project", `${session}.jsonl`);
  await mkdir(path.dirname(file), { recursive: true });
});
afterEach(() => place.remove());

test("the transcript corpus is here", () => {
  expect(rows.length).toBeGreaterThanOrEqual(50);
});

describe("a changed transcript", () => {
  test.each(changed)("$id $class: $why", async (row) => {
    const base = baseLines(readBase(row.base));
    const lines = applyOps(base, row.ops ?? []);
    const original = toBytes(lines);
    await writeFile(file, original);
    if (row.expect.resumable === false) return expectRefused(row.expect, original);

    const began = performance.now();
    const { log, events } = await open();
    expect(performance.now() - began).toBeLessThan(row.maxMs ?? 2_000);
    expectKept(row, { base, lines, events });
    expectTold(row, log);
    await expectOriginalKept(row.expect, original);
    await expectUsable(log, events);
    await expectCarriedAlong(row.expect, lines);
  });
});

describe("a transcript in a bad place", () => {
  test.each(surrounded)("$id $class: $why", async (row) => {
    const bytes = toBytes(baseLines(readBase(row.base)));
    const { env = {} } = row;
    if (env.path !== undefined) return inPlaceOf(env.path, bytes);
    await writeFile(file, bytes);
    if (env.mode !== undefined) return withoutRights({ row, target: file, mode: env.mode, bytes });
    // An append needs no right to the directory: only where nothing may be written can nothing be saved.
    if (env.readOnlyDir) return withoutRights({ row, target: place.home, mode: "a-w", bytes });
    if (env.disk === "full") return onFullDisk(row.expect);
    if (env.openTwice) return openedTwice();
    if (env.staleLock !== undefined) return withStaleLock(row.expect);
    throw new Error(`No such surrounding is known: ${JSON.stringify(env)}`);
  });
});

function expectKept(
  row: Row,
  { base, lines, events }: { base: MapLine[]; lines: MapLine[]; events: Durable[] },
): void {
  const found = new Set(events.map(({ seq }) => seq));
  const { keep, mustKeep = [], userMessages, records, contains, checkProto } = row.expect;
  if (keep) {
    const neutrals = [...new Set(base.map(({ neutral }) => neutral))].filter(
      (neutral) => neutral !== undefined,
    );
    expect(neutrals.filter((neutral) => found.has(seqOf(base, neutral) ?? 0))).toEqual(keep);
  }
  for (const neutral of mustKeep) {
    const record = lines.find((line) => line.neutral === neutral && line.role === "main")?.record;
    const isKnown = base.some((line) => line.record?.["type"] === record?.["type"]);
    if (record && isKnown) expect(found.has(record.seq), `record ${neutral}`).toBe(true);
  }
  const inputs = events.filter(({ type }) => type === "input.accepted");
  if (userMessages !== undefined) expect(inputs).toHaveLength(userMessages);
  if (records !== undefined) expect(events).toHaveLength(records);
  if (contains !== undefined) expect(JSON.stringify(events)).toContain(contains);
  if (checkProto) expect(Object.keys(Object.prototype)).toEqual([]);
  // Whatever was read is what was written, never a mixture.
  const written = new Map(lines.map(({ record }) => [record?.seq, record?.["type"]]));
  for (const { seq, type } of events) expect(type).toBe(written.get(seq));
}

function expectTold({ ops = [], expect: { warn, skippedLines } }: Row, log: Log): void {
  const told = warnings(log.notices);
  expect(told.length).toBeLessThanOrEqual(1);
  if (warn === false) expect(told).toEqual([]);
  const isVisibleHere = !ops.some((op) => isWithoutCounterpart(op) || needsEngine(op));
  if (warn === true && isVisibleHere) expect(told).toHaveLength(1);
  if (skippedLines !== undefined) expect(told[0]).toMatch(new RegExp(`\\b${skippedLines} stretch`));
}

/** Either nothing was cut, or a copy has every byte. */
async function expectOriginalKept({ backup }: Expected, original: Buffer): Promise<void> {
  const copies = await copiesOf(file);
  const isCopied = copies.some((copy) => copy.equals(original));
  const isThere = (await readFile(file)).subarray(0, original.length).equals(original);
  expect(isCopied || isThere).toBe(true);
  if (backup) expect(isCopied).toBe(true);
}

async function expectUsable(log: Log, events: readonly Durable[]): Promise<void> {
  const next = envelopes(session, calls(1), log.lastSeq);
  await log.append(next);
  await log.close();
  const { log: again, events: after } = await open();
  expect(after).toEqual([...events, ...next]);
  await again.close();
}

/** What must be kept and is of no known type stays in the file, also after the session went on. */
async function expectCarriedAlong({ mustKeep = [] }: Expected, lines: readonly MapLine[]): Promise<void> {
  const bytes = await readFile(file);
  for (const line of lines) {
    if (line.neutral !== undefined && mustKeep.includes(line.neutral))
      expect(bytes.includes(line.bytes)).toBe(true);
  }
}

async function expectRefused({ error }: Expected, original: Buffer): Promise<void> {
  const code = error === "newer version" ? "log_too_new" : expect.stringMatching(/^log_/);
  await expect(open()).rejects.toMatchObject({ name: "Fault", code });
  await expect(readAll(jsonlStore({ home: place.home }).read(session))).rejects.toMatchObject({
    name: "Fault",
    code,
  });
  expect((await readFile(file)).equals(original)).toBe(true);
  expect(await copiesOf(file)).toEqual([]);
}

async function inPlaceOf(kind: string, bytes: Buffer): Promise<void> {
  const outside = path.join(place.cwd, "outside.jsonl");
  await writeFile(outside, bytes);
  if (kind === "directory") await mkdir(file);
  else if (kind === "fifo") execFileSync("mkfifo", [file]);
  else if (kind.startsWith("symlink")) await symlink(outside, file);
  else throw new Error(`No such thing is known in the place of a log: ${kind}`);
  await expect(open()).rejects.toMatchObject({ name: "Fault", code: "log_unreadable" });
  expect((await readFile(outside)).equals(bytes)).toBe(true);
}

async function onFullDisk({ accepted }: Expected): Promise<void> {
  const files = failingFiles(nodeFiles());
  failAll(files, "ENOSPC");
  const log = await jsonlStore({ home: place.home, fs: files }).open(session);
  const before = await readAll(log.read());
  expect(before.length).toBeGreaterThan(0);
  expect(warnings(log.notices)).toEqual([expect.stringContaining("disk is full")]);
  const refusal = log.append(envelopes(session, calls(1), log.lastSeq));
  if (accepted) await expect(refusal).rejects.toMatchObject({ code: "log_unwritable" });
  await log.close();
  const { log: again, events } = await open();
  expect(events).toEqual(before);
  await again.close();
}

async function openedTwice(): Promise<void> {
  const { log, events } = await open();
  const other = jsonlStore({ home: place.home });
  await expect(other.open(session)).rejects.toMatchObject({ code: "session_busy" });
  await other.fork(session, { id: "5f0c2d3e-1111-4222-8333-444455556677" });
  await expectUsable(log, events);
}

async function withStaleLock({ withinMs }: Expected): Promise<void> {
  const dead = leasesOf({ home: place.home });
  await dead.take(session);
  dead.abandon();
  const began = performance.now();
  const { log } = await open();
  expect(performance.now() - began).toBeLessThan(withinMs ?? 2_000);
  await log.close();
}

type Rights = { readonly row: Row; readonly target: string; readonly mode: string; readonly bytes: Buffer };

/** Root may do everything: the row runs as somebody else, in a process of its own. */
async function withoutRights({ row, target, mode, bytes }: Rights): Promise<void> {
  const child = path.join(import.meta.dirname, "open-as-other.ts");
  const asRoot = process.getuid?.() === 0;
  if (asRoot) execFileSync("chown", ["-R", "65534:65534", path.dirname(place.home)]);
  execFileSync("chmod", ["-R", mode, target]);
  const options = asRoot ? { uid: 65_534, gid: 65_534 } : {};
  const output = execFileSync(process.execPath, [child, place.home, session], {
    ...options,
    encoding: "utf8",
    cwd: "/",
  });
  execFileSync("chmod", ["-R", "u+rwX", target]);
  const found: { opened: boolean; code?: string; events?: number; warnings?: string[]; append?: string } =
    JSON.parse(output);
  expect(found.opened).toBe(row.expect.resumable);
  if (!found.opened) expect(found.code).toBe("log_unreadable");
  if (row.expect.saveWarning) {
    expect(found.events).toBeGreaterThan(0);
    expect(found.warnings).toEqual([expect.stringContaining("no permission")]);
    expect(found.append).toBe("log_unwritable");
  }
  expect((await readFile(file)).equals(bytes)).toBe(true);
}

async function open(): Promise<{ log: Log; events: Durable[] }> {
  const log = await jsonlStore({ home: place.home }).open(session);
  return { log, events: await readAll(log.read()) };
}
