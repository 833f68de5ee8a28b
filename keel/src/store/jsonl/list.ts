/**
 * What a listing shows of a session, from the start and the end of its log only. A title that was given in the middle
 * of a long log is not seen here.
 */
import { shorten } from "../../kernel/text.ts";
import type { SessionInfo } from "../../ports/store.ts";
import { type DurableEvent, durableEventSchema, logVersion } from "../../protocol/event/durable.ts";
import { textOf } from "../../protocol/message.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";
import type { FileFacts, FileLayer, OpenFile } from "./files.ts";
import { type CheckedLine, checkLine, decodeLine } from "./line.ts";
import type { LogLocation } from "./log-locations.ts";
import { upgradeRecord } from "./upgrade.ts";

const END_BYTES = 64 * 1024;
/** The first input stands behind the prompt and its tools, which may be long. */
const MAX_START_BYTES = 1024 * 1024;
const FIRST_INPUT_CHARACTERS = 200;
const AT_ONCE = 16;
const SETTINGS_CHANGED = '"settings.changed"';

/** Newest change first; only the newest `limit` are read. */
export async function listLogs(
  files: FileLayer,
  places: readonly LogLocation[],
  limit: number,
): Promise<SessionInfo[]> {
  const found = await inParallel(places, async (place) => ({ place, facts: await plainFacts(files, place) }));
  const newest = found
    .flatMap(({ place, facts }) => (facts ? [{ place, facts }] : []))
    .sort((left, right) => right.facts.changedAt - left.facts.changedAt)
    .slice(0, limit);
  const infos = await inParallel(newest, ({ place, facts }) => readInfo(files, place, facts));
  return infos.filter((info) => info !== undefined);
}

async function plainFacts(files: FileLayer, place: LogLocation): Promise<FileFacts | undefined> {
  try {
    const facts = await files.facts(place.path);
    return facts.kind === "file" ? facts : undefined;
  } catch {
    // Removed since its name was read.
    return undefined;
  }
}

async function readInfo(
  files: FileLayer,
  place: LogLocation,
  facts: FileFacts,
): Promise<SessionInfo | undefined> {
  try {
    await using file = await files.open(place.path, "read");
    return await infoOf(file, place, facts);
  } catch {
    // A log that cannot be read is not listed; opening it says why.
    return undefined;
  }
}

export async function infoOf(file: OpenFile, place: LogLocation, facts: FileFacts): Promise<SessionInfo> {
  const start = new LogHead();
  const readTo = async (bytes: number): Promise<void> => start.read(await linesAt(file, 0, bytes));
  const firstBytes = Math.min(facts.bytes, END_BYTES);
  await readTo(firstBytes);
  if (start.firstInput === undefined && firstBytes < facts.bytes)
    await readTo(Math.min(facts.bytes, MAX_START_BYTES));
  // A short log was read as a whole.
  const end =
    firstBytes < facts.bytes ? await linesAt(file, Math.max(0, facts.bytes - END_BYTES), END_BYTES) : [];
  const { opened, v } = start;
  return {
    id: place.session,
    cwd: opened?.cwd ?? start.cwd ?? "",
    createdAt: start.at ?? facts.changedAt,
    changedAt: facts.changedAt,
    bytes: facts.bytes,
    ...labelsOf([opened?.settings ?? {}, ...start.patches, ...patchesIn(end, v)]),
    firstInput: start.firstInput,
    branch: opened?.branch,
    forkedFrom: opened?.forkedFrom,
    parent: opened?.parent,
  };
}

/** What the first lines tell. */
class LogHead {
  v = logVersion;
  cwd: string | undefined;
  at: number | undefined;
  opened: Extract<DurableEvent, { type: "session.opened" }> | undefined;
  patches: SettingsPatch[] = [];
  firstInput: string | undefined;

  read(lines: readonly Buffer[]): void {
    for (const { checked, line } of whole(lines)) {
      if (checked.kind === "header") {
        this.v = checked.header.v;
        this.cwd ??= checked.header.cwd;
        this.at ??= checked.header.at;
        continue;
      }
      // Behind the first words only what people gave the session to find it by is of interest.
      if (this.firstInput !== undefined && !line.includes(SETTINGS_CHANGED)) continue;
      const event = eventOf(line, this.v);
      if (event?.type === "session.opened") this.opened ??= event;
      if (event?.type === "settings.changed") this.patches.push(event.patch);
      if (event?.type === "input.accepted" && event.input.from.kind === "person") {
        this.firstInput ??= shorten(textOf(event.input.content), FIRST_INPUT_CHARACTERS);
      }
    }
  }
}

function patchesIn(lines: readonly Buffer[], v: number): SettingsPatch[] {
  return whole(lines).flatMap(({ line }) => {
    if (!line.includes(SETTINGS_CHANGED)) return [];
    const event = eventOf(line, v);
    return event?.type === "settings.changed" ? [event.patch] : [];
  });
}

/** What people gave a session to find it by; the newest counts. */
function labelsOf(patches: readonly SettingsPatch[]): Pick<SessionInfo, "title" | "tag" | "archived"> {
  const newest = <K extends "title" | "tag" | "archived">(name: K): SettingsPatch[K] =>
    patches.findLast((patch) => patch[name] !== undefined)?.[name];
  return { title: newest("title"), tag: newest("tag") || undefined, archived: newest("archived") };
}

function whole(lines: readonly Buffer[]): { checked: CheckedLine; line: Buffer }[] {
  return lines.flatMap((line) => {
    const checked = checkLine(line);
    return checked ? [{ checked, line }] : [];
  });
}

function eventOf(line: Buffer, v: number): DurableEvent | undefined {
  const record = decodeLine(line);
  const parsed = durableEventSchema.safeParse(record && upgradeRecord(record, v));
  return parsed.success ? parsed.data : undefined;
}

async function linesAt(file: OpenFile, position: number, bytes: number): Promise<Buffer[]> {
  const buffer = Buffer.alloc(bytes);
  const part = buffer.subarray(0, await file.read(buffer, position));
  const lines: Buffer[] = [];
  for (let from = 0; from < part.length; ) {
    const end = part.indexOf("\n", from);
    lines.push(part.subarray(from, end === -1 ? part.length : end));
    from = end === -1 ? part.length : end + 1;
  }
  return lines;
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(work))));
  }
  return results;
}
