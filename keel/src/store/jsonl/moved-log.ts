/**
 * A log that came from another machine. It is read to its end and checked before anything is written, and takes its
 * place by one rename: before that the session is not here, after that it is. Its lines stay as they were, behind a
 * first line that says where it is now; so a log that comes back continues the one that was left, byte for byte.
 */
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type FileLayer, makeDurableDirectory, type OpenFile, writeAll } from "./files.ts";
import { encodeHeader, encodeRecord } from "./line.ts";
import { agentsOf, folderOf, LogLocations } from "./log-locations.ts";
import { isSessionId, plainName } from "./names.ts";
import { openForReading, unwritable } from "./reasons.ts";
import { readEvents } from "./records.ts";
import { survey } from "./survey.ts";

/** What a log says of where its session is. */
export type WhereSession = {
  /** The last move away that nothing came after. */
  readonly moved: Extract<Durable, { type: "session.moved" }> | undefined;
  /** Moves by which it came here, or did not go. */
  readonly arrivals: ReadonlySet<string>;
  /** Which contents of files it names. */
  readonly blobs: ReadonlySet<string>;
  readonly last: { readonly seq: number; readonly at: number };
};

/** Throws `not_moved` for what is damaged or of another session, `log_too_new`, and `log_unreadable`. */
export async function checkLog(files: FileLayer, file: string, session: string): Promise<WhereSession> {
  await using opened = await openForReading(files, file, session);
  const { scan, entries, damage } = await survey(opened, { path: file, tornEnd: "told" });
  let moved: WhereSession["moved"];
  let first: string | undefined;
  const arrivals = new Set<string>();
  const blobs = new Set<string>();
  let last = { seq: entries.at(-1)?.seq ?? 0, at: 0 };
  for await (const events of readEvents({ file: opened, entries, session, damage }))
    for (const event of events) {
      first ??= event.type;
      last = { seq: Math.max(last.seq, event.seq), at: event.at };
      if (event.type === "session.moved" && event.of === session) moved = event;
      else moved = undefined;
      if (event.type === "session.arrived") arrivals.add(event.move);
      if (event.type === "files.saved")
        for (const { blob } of event.files) if (blob !== null) blobs.add(blob);
    }
  const damaged = damage.notices().find(({ level }) => level === "warning");
  if (damaged) throw fault("not_moved", { session, reason: `its log is damaged. ${damaged.text}` });
  if (scan.header?.session !== session || first !== "session.opened")
    throw fault("not_moved", { session, reason: "the log is none of this session." });
  return { moved, arrivals, blobs, last };
}

/** Where the log of a session stands in a home, if it does. */
export const findLog = (files: FileLayer, home: string, session: string): Promise<string | undefined> =>
  new LogLocations(home, files).findOwn(session);

/** Whether what came says all that is here, and then more. */
export async function continues(files: FileLayer, here: string, came: string): Promise<boolean> {
  await using old = await openForReading(files, here, here);
  await using fresh = await openForReading(files, came, came);
  const { end } = (await survey(old, { path: here, tornEnd: "told" })).scan;
  let at = await firstLineEnd(old);
  let position = await firstLineEnd(fresh);
  const [left, right] = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)];
  while (at < end) {
    const wanted = Math.min(chunkBytes, end - at);
    const [one, other] = [
      await old.read(left.subarray(0, wanted), at),
      await fresh.read(right.subarray(0, wanted), position),
    ];
    if (one !== wanted || other !== wanted || !left.subarray(0, wanted).equals(right.subarray(0, wanted)))
      return false;
    at += wanted;
    position += wanted;
  }
  return true;
}

const chunkBytes = 64 * 1024;

async function firstLineEnd(file: OpenFile): Promise<number> {
  const buffer = Buffer.alloc(chunkBytes);
  const filled = await file.read(buffer, 0);
  return buffer.subarray(0, filled).indexOf("\n") + 1;
}

export type ArrivingLog = {
  readonly files: FileLayer;
  readonly home: string;
  readonly session: string;
  readonly cwd: string;
  /** The checked log, with the tombstone as its last record. */
  readonly staged: string;
  /** What belongs beside it, checked too. */
  readonly beside: string;
  /** Without what the log itself adds. */
  readonly arrived: (kept: string) => Omit<Extract<Durable, { type: "session.arrived" }>, "seq" | "session">;
  readonly lastSeq: number;
  readonly now: number;
  /** Told before each step that can be seen from outside. */
  step(name: string): Promise<void>;
};

/** The lease of the session is held. Throws `log_unwritable`, and then the session is not here. */
export async function placeLog(arriving: ArrivingLog): Promise<void> {
  const { files, home, session, cwd, staged, beside, arrived, lastSeq, now, step } = arriving;
  const places = new LogLocations(home, files);
  try {
    const before = await places.findOwn(session);
    const { log, durable } = await places.newLog(session, { cwd });
    await durable;
    const part = `${log}.part`;
    await files.removeTree(part);
    await using fresh = await files.open(part, "create");
    await using old = await files.open(staged, "read");
    const header = encodeHeader({ session, cwd, at: now });
    await writeAll(fresh, header, 0);
    const copied = await copyBehind(old, fresh, header.length);
    const event = { ...arrived(folderOf(log)), seq: lastSeq + 1, session };
    await writeAll(fresh, encodeRecord(event), copied);
    await fresh.datasync();
    await step("log-staged");
    // Its tombstone goes along first: at no moment are there two logs of one session.
    if (before !== undefined && before !== log) {
      await files.rename(before, log);
      await files.syncDirectory(path.dirname(log));
      await files.syncDirectory(path.dirname(before));
    }
    await step("tombstone-in-place");
    await copyTree(beside, folderOf(log), files);
    await step("beside-in-place");
    await files.rename(part, log);
    await files.syncDirectory(path.dirname(log));
    await step("log-in-place");
    if (before !== undefined && before !== log) await files.removeTree(folderOf(before));
  } catch (thrown) {
    throw unwritable(home, thrown);
  }
}

/** From behind the first line on. Returns where it ended. */
async function copyBehind(from: OpenFile, to: OpenFile, start: number): Promise<number> {
  let position = await firstLineEnd(from);
  let at = start;
  const buffer = Buffer.alloc(chunkBytes);
  for (;;) {
    const filled = await from.read(buffer, position);
    if (filled === 0) return at;
    await writeAll(to, buffer.subarray(0, filled), at);
    position += filled;
    at += filled;
  }
}

/** Files of the same name are those of the same session, or newer ones of it. */
async function copyTree(from: string, to: string, files: FileLayer): Promise<void> {
  const names = await readdir(from).catch(() => []);
  if (names.length > 0) await makeDurableDirectory(files, to);
  for (const name of names) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    if ((await lstat(source)).isDirectory()) {
      await copyTree(source, target, files);
      continue;
    }
    await files.removeTree(`${target}.part`);
    {
      await using old = await files.open(source, "read");
      await using fresh = await files.open(`${target}.part`, "create");
      await copyAll(old, fresh);
      await fresh.datasync();
    }
    await files.rename(`${target}.part`, target);
  }
  if (names.length > 0) await files.syncDirectory(to);
}

async function copyAll(from: OpenFile, to: OpenFile): Promise<void> {
  const buffer = Buffer.alloc(chunkBytes);
  for (let at = 0; ; ) {
    const filled = await from.read(buffer, at);
    if (filled === 0) return;
    await writeAll(to, buffer.subarray(0, filled), at);
    at += filled;
  }
}

/** What belongs to a session beside its log, as names that `isBesideName` takes. Logs of agents need not be files. */
export async function besideOf(
  log: string,
  agents: (session: string) => Promise<readonly string[]>,
): Promise<{ readonly name: string; readonly file: string }[]> {
  const found = new Map<string, string>();
  const walk = async (folder: string, prefix: string): Promise<void> => {
    for (const name of await readdir(folder).catch(() => [])) {
      const file = path.join(folder, name);
      const facts = await lstat(file);
      const inside = `${prefix}${name}`;
      if (facts.isDirectory()) await walk(file, `${inside}/`);
      else if (facts.isFile() && isBesideName(inside)) found.set(inside, file);
    }
  };
  const walkAgents = async (above: string, prefix: string): Promise<void> => {
    for (const id of await agents(path.basename(above, ".jsonl"))) {
      const file = path.join(agentsOf(above), `${id}.jsonl`);
      const inside = `${prefix}${agentsName}/${id}`;
      if (found.has(`${inside}.jsonl`) && prefix.length > maxPrefix) continue;
      found.set(`${inside}.jsonl`, file);
      await walkAgents(file, `${inside}/`);
    }
  };
  await walk(folderOf(log), "");
  await walkAgents(log, "");
  return [...found]
    .map(([name, file]) => ({ name, file }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
/** Deeper than agents may start each other. */
const maxPrefix = 1_000;

/** Outputs and plans of the session, and logs of its agents with what is theirs: nothing else has a place there. */
export function isBesideName(name: string): boolean {
  const parts = name.split("/");
  while (parts.length > 2 && parts[0] === agentsName && isSessionId(parts[1] ?? "")) parts.splice(0, 2);
  const [kind = "", file = "", ...more] = parts;
  if (more.length > 0 || file === "") return false;
  if (kind === agentsName) return file.endsWith(".jsonl") && isSessionId(file.slice(0, -".jsonl".length));
  return (kind === "output" || kind === "plans") && file === plainName(file);
}
const agentsName = path.basename(agentsOf("x.jsonl"));

/** How long a log is, with the lease of its session held. */
export async function endOfLog(files: FileLayer, log: string): Promise<number> {
  return (await files.facts(log)).bytes;
}

/** As it stands there. */
export async function* bytesOf(
  files: FileLayer,
  file: string,
  { from = 0, to }: { readonly from?: number; readonly to: number },
): AsyncGenerator<Buffer> {
  await using opened = await files.open(file, "read");
  for (let at = from; at < to; ) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, to - at));
    const filled = await opened.read(chunk, at);
    if (filled === 0) return;
    at += filled;
    yield chunk.subarray(0, filled);
  }
}
