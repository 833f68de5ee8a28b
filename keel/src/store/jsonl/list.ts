/**
 * What a listing shows of a session, from the start and the end of its log only. A title that was given in the middle
 * of a long log is not seen here.
 */
import { sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { shorten } from "../../kernel/text.ts";
import type { ListPage, SessionInfo } from "../../ports/store.ts";
import { type DurableEvent, durableEventSchema, logVersion } from "../../protocol/event/durable.ts";
import { textOf } from "../../protocol/message.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";
import { byChange } from "../by-change.ts";
import type { FileFacts, FileLayer, OpenFile } from "./files.ts";
import { checkLine, decodeLine } from "./line.ts";
import { type LogLocation, type LogNames, sessionOf } from "./log-locations.ts";
import { isSurelyEvent } from "./records.ts";
import { upgradeRecord } from "./upgrade.ts";

const END_BYTES = 64 * 1024;
/** The first input stands behind the prompt and its tools, which may be long. */
const MAX_START_BYTES = 1024 * 1024;
const FIRST_INPUT_CHARACTERS = 200;
/** A millisecond or two. */
const FACTS_AT_ONCE = 400;
const READ_AT_ONCE = 8;
/** A log may have several: what follows a header is in its format. */
const HEADER = Buffer.from('{"keel":"log"');
const SETTINGS_CHANGED = Buffer.from('"settings.changed"');
const SESSION_MOVED = Buffer.from('"session.moved"');
const BEFORE_WORDS = [
  SETTINGS_CHANGED,
  HEADER,
  ...['"session.opened"', '"input.accepted"'].map((name) => Buffer.from(name)),
];
const LINE_END = 0x0a;

export type FoundLog = {
  readonly id: string;
  readonly path: string;
  readonly changedAt: number;
  readonly bytes: number;
};

/** Newest change first. Of all logs only the times are looked at; those of the page alone are opened. */
export async function listLogs(
  files: FileLayer,
  places: readonly LogNames[],
  { behind, skip = 0, limit = Number.POSITIVE_INFINITY }: ListPage,
): Promise<SessionInfo[]> {
  const wanted = (await newestLogs(files, places, { behind, count: skip + limit })).slice(skip);
  const infos: SessionInfo[] = [];
  for (const [index, log] of wanted.entries()) {
    if (index % READ_AT_ONCE === READ_AT_ONCE - 1) await setImmediate();
    const info = await readInfo(files, log);
    if (info) infos.push(info);
  }
  return infos;
}

/**
 * The first so many in order. A few are looked at a time, so that whatever else this process does goes on in between. Of
 * each two numbers are kept, and only of those that count more: what is made for ten thousand and kept for a moment costs
 * as much again as to ask the kernel for their times.
 */
async function newestLogs(
  files: FileLayer,
  places: readonly LogNames[],
  { behind, count }: { behind: ListPage["behind"]; count: number },
): Promise<FoundLog[]> {
  const all = places.reduce((sum, { names }) => sum + names.length, 0);
  const times = new Float64Array(all).fill(Number.NEGATIVE_INFINITY);
  const sizes = new Float64Array(all);
  let at = 0;
  for (const { directory, names } of places) {
    const above = directory + sep;
    for (const name of names) {
      const index = at++;
      if (index % FACTS_AT_ONCE === FACTS_AT_ONCE - 1) await setImmediate();
      const facts = plainFacts(files, above + name);
      if (!facts || (behind && byChange(behind, { id: sessionOf(name), changedAt: facts.changedAt }) >= 0))
        continue;
      times[index] = facts.changedAt;
      sizes[index] = facts.bytes;
    }
  }
  const oldest = times.toSorted()[Math.max(0, all - count)] ?? 0;
  const found: FoundLog[] = [];
  at = 0;
  for (const { directory, names } of places)
    for (const name of names) {
      const index = at++;
      const changedAt = times[index] ?? Number.NEGATIVE_INFINITY;
      if (changedAt === Number.NEGATIVE_INFINITY || changedAt < oldest) continue;
      found.push({ id: sessionOf(name), path: directory + sep + name, changedAt, bytes: sizes[index] ?? 0 });
    }
  return found.sort(byChange).slice(0, count);
}

/** Each once. */
export function newest(infos: readonly SessionInfo[]): SessionInfo[] {
  const byId = new Map(infos.toReversed().map((info) => [info.id, info]));
  return [...byId.values()].sort(byChange);
}

/** Of one log, wherever it stands; none when it is gone by now. */
export async function listOne(files: FileLayer, { session: id, path }: LogLocation): Promise<SessionInfo[]> {
  const facts = await files.facts(path).catch(() => undefined);
  if (facts?.kind !== "file") return [];
  try {
    await using file = await files.open(path, "read");
    return [await infoOf(file, { id, path, changedAt: facts.changedAt, bytes: facts.bytes })];
  } catch {
    return [];
  }
}

function plainFacts(files: FileLayer, path: string): FileFacts | undefined {
  try {
    const facts = files.factsNow(path);
    return facts.kind === "file" ? facts : undefined;
  } catch {
    // Removed since its name was read.
    return undefined;
  }
}

async function readInfo(files: FileLayer, log: FoundLog): Promise<SessionInfo | undefined> {
  try {
    using file = files.openNow(log.path);
    return await infoOf(file, log);
  } catch {
    // A log that cannot be read is not listed; opening it says why.
    return undefined;
  }
}

export async function infoOf(
  file: Pick<OpenFile, "read">,
  { id, changedAt, bytes }: FoundLog,
): Promise<SessionInfo> {
  const start = new LogHead();
  let part = NOTHING;
  const readTo = async (end: number): Promise<void> => {
    part = await partAt(file, 0, end);
    start.read(part);
  };
  const firstBytes = Math.min(bytes, END_BYTES);
  await readTo(firstBytes);
  if (start.firstInput === undefined && firstBytes < bytes) await readTo(Math.min(bytes, MAX_START_BYTES));
  // A short log was read as a whole.
  const end = firstBytes < bytes ? await partAt(file, Math.max(0, bytes - END_BYTES), END_BYTES) : NOTHING;
  const { opened, v } = start;
  return {
    id,
    // A log that came from another machine says in its first line where it is now.
    cwd: start.cwd || (opened?.cwd ?? ""),
    createdAt: start.at ?? changedAt,
    changedAt,
    bytes,
    ...labelsOf([opened?.settings ?? {}, ...start.patches, ...patchesIn(end, v)]),
    firstInput: start.firstInput,
    branch: opened?.branch,
    forkedFrom: opened?.forkedFrom,
    parent: opened?.parent,
    movedTo: movedTo(lastLine(end.length > 0 ? end : part), id, v),
  };
}

/** Only where nothing follows: what came back goes on behind it. A copy of its log is another session, and is here. */
function movedTo(last: Buffer, id: string, v: number): string | undefined {
  if (!last.includes(SESSION_MOVED) || !checkLine(last)) return undefined;
  const event = eventOf(last, v);
  return event?.type === "session.moved" && event.of === id ? event.to.name : undefined;
}

/** What the first lines tell. */
class LogHead {
  v = logVersion;
  cwd: string | undefined;
  at: number | undefined;
  opened: Extract<DurableEvent, { type: "session.opened" }> | undefined;
  patches: SettingsPatch[] = [];
  firstInput: string | undefined;

  read(part: Buffer): void {
    let from = 0;
    while (from < part.length && this.firstInput === undefined) {
      const line = lineAt(part, from);
      // Before its sum is made: most lines tell nothing.
      if (from === 0 || this.#mayTell(line)) this.#take(line);
      from += line.length + 1;
    }
    // Behind the first words only what people gave the session to find it by is of interest.
    for (const line of linesWith(part, [SETTINGS_CHANGED, HEADER], from)) this.#take(line);
  }

  #take(line: Buffer): void {
    const checked = checkLine(line);
    if (checked?.kind === "header") {
      this.v = checked.header.v;
      this.cwd ??= checked.header.cwd;
      this.at ??= checked.header.at;
    }
    if (checked?.kind !== "record") return;
    const event = eventOf(line, this.v);
    if (event?.type === "session.opened") this.opened ??= event;
    if (event?.type === "settings.changed") this.patches.push(event.patch);
    if (event?.type === "input.accepted" && event.input.from.kind === "person")
      this.firstInput ??= shorten(textOf(event.input.content), FIRST_INPUT_CHARACTERS);
  }

  /** An older format may have had other names. */
  #mayTell(line: Buffer): boolean {
    return this.v !== logVersion || BEFORE_WORDS.some((name) => line.includes(name));
  }
}

function patchesIn(part: Buffer, v: number): SettingsPatch[] {
  return linesWith(part, [SETTINGS_CHANGED])
    .flatMap((line) => {
      const event = checkLine(line) && eventOf(line, v);
      return event?.type === "settings.changed" ? [event.patch] : [];
    })
    .toArray();
}

/** What people gave a session to find it by; the newest counts. */
function labelsOf(patches: readonly SettingsPatch[]): Pick<SessionInfo, "title" | "tag" | "archived"> {
  const newest = <K extends "title" | "tag" | "archived">(name: K): SettingsPatch[K] =>
    patches.findLast((patch) => patch[name] !== undefined)?.[name];
  return { title: newest("title"), tag: newest("tag") || undefined, archived: newest("archived") };
}

function eventOf(line: Buffer, v: number): DurableEvent | undefined {
  const raw = decodeLine(line);
  const record = raw && upgradeRecord(raw, v);
  // To make the schemas of all events takes longer than to list ten thousand sessions.
  if (isSurelyEvent(record)) return record;
  const parsed = durableEventSchema.safeParse(record);
  return parsed.success ? parsed.data : undefined;
}

const NOTHING: Buffer = Buffer.alloc(0);

async function partAt(file: Pick<OpenFile, "read">, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  return buffer.subarray(0, await file.read(buffer, position));
}

/** Without its end. */
function lineAt(part: Buffer, from: number): Buffer {
  const end = part.indexOf(LINE_END, from);
  return part.subarray(from, end === -1 ? part.length : end);
}

/** Those that have one of the names, from the start of a line on. Each name is looked for once in all that there is. */
function* linesWith(part: Buffer, names: readonly Buffer[], from = 0): Generator<Buffer, void> {
  const next = names.map(() => -1);
  for (let at = from; at < part.length; ) {
    for (const [index, name] of names.entries()) {
      if ((next[index] ?? 0) >= at) continue;
      const found = part.indexOf(name, at);
      next[index] = found === -1 ? part.length : found;
    }
    const first = Math.min(...next);
    if (first >= part.length) return;
    const start = part.lastIndexOf(LINE_END, first) + 1;
    const line = lineAt(part, start);
    yield line;
    at = start + line.length + 1;
  }
}

function lastLine(part: Buffer): Buffer {
  const end = part.at(-1) === LINE_END ? part.length - 1 : part.length;
  return part.subarray(end === 0 ? 0 : part.lastIndexOf(LINE_END, end - 1) + 1, end);
}
