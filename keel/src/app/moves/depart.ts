/**
 * A session leaves: what belongs to it is packed, then its log gets its last record here, which says where it went. Before
 * that record it is here and nowhere else; behind it, it is not here, and the parcel alone can go on with it.
 */
import { type FileHandle, open, stat } from "node:fs/promises";
import path from "node:path";
import type { SessionState } from "../../core/state/state.ts";
import { UsedIds } from "../../core/used-ids.ts";
import { readState } from "../../engine/load-state.ts";
import { type Fault, fault } from "../../kernel/fault.ts";
import type { Log } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { besideOf, bytesOf, checkLog, endOfLog } from "../../store/jsonl/moved-log.ts";
import { openBlobs } from "../../workspace/checkpoints/blobs.ts";
import { captureFolder, type FolderState } from "../../workspace/git/folder-state.ts";
import { nameOwner } from "../sessions/owners.ts";
import { folderPlace, holdsSecret, type MovePorts, movesOf } from "./move-ports.ts";
import { gitPart, logPart, maxParcelBytes, type ParcelPart, writeParcel } from "./parcel.ts";

export type DepartOptions = {
  readonly session: string;
  /** Whether the files of its folder go along, and with how much history. */
  readonly files: "new" | "all" | "none";
};

/** A session that nobody else has open. */
export type Leaving = {
  readonly session: string;
  readonly state: SessionState;
  readonly log: Log;
  /** Where it stands. */
  readonly file: string;
};

type MovedTo = Extract<Durable, { type: "session.moved" }>["to"];

/** Throws `session_unknown`, `session_busy` and `session_served`. Whoever gets it closes its log. */
export async function openLeaving(id: string, { home }: MovePorts): Promise<Leaving> {
  const { store } = home;
  const log = await store.open(id).catch((thrown: unknown) => nameOwner(store.leases, thrown));
  try {
    const { state } = await readState(log, new UsedIds());
    const file = store.location(log.session);
    if (file === undefined) throw fault("session_unknown", { session: id });
    if (state.opened === null)
      throw fault("not_moved", { session: id, reason: "its log does not begin with a session." });
    return { session: log.session, state, log, file };
  } catch (thrown) {
    await log.close();
    throw thrown;
  }
}

export type Packed = {
  readonly bytes: number;
  readonly tree: string | undefined;
  readonly left: readonly string[];
};

/** Writes the parcel but for its end. Throws `not_moved` with the reason, and nothing has happened then. */
export async function pack(
  leaving: Leaving,
  { move, output, files }: { move: string; output: FileHandle; files: DepartOptions["files"] },
  ports: MovePorts,
): Promise<Packed> {
  const { session, state, file } = leaving;
  const refuse = (reason: string): Fault => fault("not_moved", { session, reason });
  if (path.basename(path.dirname(file)) === "agents")
    throw refuse("it is an agent's, and goes where the session above it goes.");
  const { fs } = ports.home.logs;
  const { blobs: named } = await checkLog(fs, file, session);
  const cwd = state.folder?.cwd ?? state.opened?.cwd ?? "";
  const folder = files === "none" ? undefined : await capture(leaving, { cwd, move, history: files }, ports);
  const scratch = await movesOf(ports).folder("out", move);
  const partOf = (name: string, place: string, bytes: number): ParcelPart => ({
    name,
    bytes,
    from: () => bytesOf(fs, place, { to: bytes }),
  });
  const agents = async (parent: string): Promise<string[]> =>
    (await ports.home.store.list({ parent })).map(({ id }) => id);
  const own = [partOf(logPart, file, await endOfLog(fs, file))];
  for (const { name, file: place } of await besideOf(file, agents))
    own.push(partOf(`beside/${name}`, place, await endOfLog(fs, place)));
  for (const { name, from } of own)
    if (holdsSecret(Buffer.concat(await Array.fromAsync(from())), ports.secrets))
      throw refuse(
        `a key of this machine stands in it (${name === logPart ? "in its log" : name}): change that key, or go on in a new session.`,
      );
  const parts = [...own, ...(await keptContents(named, ports))];
  const bundle = path.join(scratch, gitPart);
  if (folder) parts.push(partOf(gitPart, bundle, (await stat(bundle)).size));
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > maxParcelBytes) throw refuse(`it is too big: ${Math.ceil(total / 1_000_000)} MB.`);
  const from = { host: ports.host, cwd, kept: file.replace(/\.jsonl$/, "") };
  const left = [...(folder?.left ?? [])].slice(0, 10_000);
  const head = { move, session, from, left, ...(folder ? { folder: announced(folder) } : {}) };
  const bytes = await writeParcel(output, head, parts, (done) =>
    ports.tell?.(`packed ${Math.floor((100 * done) / (total + 1))} % of ${Math.ceil(total / 1_000)} KB`),
  );
  return { bytes, tree: folder?.tree, left };
}

const announced = ({ left: _, ...folder }: FolderState) => folder;

async function capture(
  { session }: Leaving,
  { cwd, move, history }: { cwd: string; move: string; history: "new" | "all" },
  ports: MovePorts,
): Promise<FolderState> {
  const scratch = await movesOf(ports).folder("out", move);
  const place = folderPlace(ports, { cwd, scratch });
  const bundle = path.join(scratch, gitPart);
  const captured = await captureFolder({ ...place, session, bundle, history, maxBytes: maxParcelBytes / 2 });
  if (!captured.ok)
    throw fault("not_moved", { session, reason: `${captured.why}. --no-files moves it without its files.` });
  return captured.value;
}

/** The contents that its checkpoints name, as far as they are still there. None that holds a key goes along. */
async function keptContents(named: ReadonlySet<string>, ports: MovePorts): Promise<ParcelPart[]> {
  const blobs = openBlobs({ folder: path.join(ports.home.path, "blobs"), now: ports.home.clock.now });
  const parts: ParcelPart[] = [];
  for (const name of [...named].sort()) {
    const content = await blobs.get(name).catch(() => undefined);
    if (!content || holdsSecret(content, ports.secrets)) continue;
    parts.push({
      name: `blobs/${name}`,
      from: async function* () {
        yield content;
      },
      bytes: content.length,
    });
  }
  return parts;
}

/** From here on it is not here. Returns the record as the log has it. */
export async function leave(
  { log, state, session, file }: Leaving,
  { move, to, tree }: { move: string; to: MovedTo; tree: string | undefined },
  ports: MovePorts,
): Promise<string> {
  const before = await endOfLog(ports.home.logs.fs, file);
  const at = ports.home.clock.now();
  const event = { type: "session.moved" as const, of: session, move, to, ...(tree ? { tree } : {}) };
  await log.append([{ ...event, seq: state.seq + 1, at, session }]);
  await ports.step?.("tombstone");
  return tombstoneOf(file, before, ports);
}

/** What stands in the log behind what a parcel has of it. */
export async function tombstoneOf(file: string, logBytes: number, ports: MovePorts): Promise<string> {
  const { fs } = ports.home.logs;
  const behind = bytesOf(fs, file, { from: logBytes, to: await endOfLog(fs, file) });
  return Buffer.concat(await Array.fromAsync(behind)).toString("utf8");
}

/** Nobody took it, and nobody ever will: it is here again, as if nothing had been. */
export async function stay({ log, session }: Leaving, move: string, ports: MovePorts): Promise<void> {
  const { host } = ports;
  await log.append([
    {
      type: "session.arrived",
      seq: log.lastSeq + 1,
      at: ports.home.clock.now(),
      session,
      move,
      undone: true,
      from: { host, cwd: "" },
      host,
      cwd: "",
      roots: { from: "", to: "" },
      files: false,
      left: [],
    },
  ]);
  await ports.step?.("undone");
}

export const openNew = (file: string): Promise<FileHandle> => open(file, "wx", 0o600);
