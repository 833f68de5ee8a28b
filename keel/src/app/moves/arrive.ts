/**
 * A session is taken in: its parcel is opened and checked as somebody else's word, its folder is brought to the state that
 * came with it, and its log takes its place by one rename. Before that it is not here; behind it, it is, and nowhere
 * else. Each step may be done again.
 */
import { hash } from "node:crypto";
import { copyFile, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Fault, fault } from "../../kernel/fault.ts";

import { checkLog, continues, findLog, placeLog, type WhereSession } from "../../store/jsonl/moved-log.ts";
import { openBlobs } from "../../workspace/checkpoints/blobs.ts";
import { forgetWork, prepareFolder, type Restoring } from "../../workspace/git/restore-folder.ts";
import { folderPlace, type MovePorts, movesOf } from "./move-ports.ts";
import { syncFolder } from "./move-store.ts";
import { gitPart, logPart, type ParcelHead, readParcel } from "./parcel.ts";

export type Arrival = {
  readonly session: string;
  readonly move: string;
  readonly from: ParcelHead["from"];
  readonly cwd: string;
  /** `there`: it was taken in before, and nothing was changed. */
  readonly state: "new" | "there";
  readonly left: readonly string[];
  readonly notices: readonly string[];
};

/** A parcel that was opened into a folder of ours, and what would be done with it. */
export type Unpacked = {
  readonly head: ParcelHead;
  readonly staging: string;
  readonly cwd: string;
  readonly folder: Restoring | undefined;
};

export type TakeOptions = {
  /** Where the parcel stands, or its body without an end. */
  readonly file: string;
  /** Where the session is to work; where it was before, or else `fallback`, when left out. */
  readonly folder?: string | undefined;
  readonly fallback?: string | undefined;
};

/** Whether this home has taken the move. */
export async function isTaken(move: string, session: string, ports: MovePorts): Promise<boolean> {
  if ((await movesOf(ports).settled(move)) === "taken") return true;
  const here = await findLog(ports.home.logs.fs, ports.home.path, session);
  if (here === undefined) return false;
  const where = await checkLog(ports.home.logs.fs, here, session).catch(() => undefined);
  return where?.arrivals.has(move) ?? false;
}

/** Checks everything that can be checked before. Throws `not_moved`, and nothing of this machine has changed. */
export async function unpack(options: TakeOptions, ports: MovePorts): Promise<Unpacked> {
  const { move } = (await readParcel({ file: options.file, isUnsealed: true })).head;
  const staging = path.join(await movesOf(ports).folder("in", move), "parts");
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true, mode: 0o700 });
  const { head } = await readParcel({ file: options.file, into: staging, isUnsealed: true });
  const { session } = head;
  const log = path.join(staging, logPart);
  if (!(await stat(log).catch(() => undefined)))
    throw fault("not_moved", { session, reason: "it has no log." });
  await checkLog(ports.home.logs.fs, log, session);
  await checkParts(head, staging, ports);
  const here = await placeOf(head, log, ports);
  const wanted = options.folder ?? here.cwd ?? options.fallback;
  if (wanted === undefined)
    throw fault("not_moved", { session, reason: "it is not said in which folder it is to go on there." });
  return { head, staging, ...(await aim(head, { wanted, staging, leftTree: here.tree }, ports)) };
}

/** Names were checked when it was read; now what they stand for. */
async function checkParts({ session, folder }: ParcelHead, staging: string, ports: MovePorts): Promise<void> {
  const refuse = (reason: string): Fault => fault("not_moved", { session, reason });
  const bundle = await stat(path.join(staging, gitPart)).catch(() => undefined);
  if ((folder === undefined) !== (bundle === undefined)) throw refuse("it does not hold what it says.");
  for (const name of await readdir(path.join(staging, "blobs")).catch(() => []))
    if (fingerprintOf(await readFile(path.join(staging, "blobs", name))) !== name)
      throw refuse("a file of its checkpoints is not what it is called.");
  for (const log of await agentLogs(path.join(staging, "beside")))
    await checkLog(ports.home.logs.fs, log, path.basename(log, ".jsonl"));
  if (folder && !isInside(folder.prefix)) throw refuse("its folder lies outside of its repository.");
}

const fingerprintOf = (content: Uint8Array): string => hash("sha256", content, "hex");

const isInside = (prefix: string): boolean =>
  !path.isAbsolute(prefix) && !prefix.split(/[\\/]/).includes("..") && !prefix.includes("\0");

async function agentLogs(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => path.join(folder, name));
}

/** A log that is here must have gone away, and what came must go on from it. */
async function placeOf(
  { session, move }: ParcelHead,
  came: string,
  ports: MovePorts,
): Promise<{ readonly cwd?: string | undefined; readonly tree?: string | undefined }> {
  const here = await findLog(ports.home.logs.fs, ports.home.path, session);
  if (here === undefined) return {};
  const where = await checkLog(ports.home.logs.fs, here, session);
  if (where.arrivals.has(move)) return {};
  if (!where.moved)
    throw fault("not_moved", { session, reason: "it is here, and did not go away from here." });
  if (!(await continues(ports.home.logs.fs, here, came)))
    throw fault("not_moved", {
      session,
      reason:
        "it went on in two places, and this is not what was taken from here: it does not continue the log that is here.",
    });
  const [info] = await ports.home.store.list({ only: session });
  return { cwd: info?.cwd, tree: where.moved.tree };
}

async function aim(
  head: ParcelHead,
  { wanted, staging, leftTree }: { wanted: string; staging: string; leftTree: string | undefined },
  ports: MovePorts,
): Promise<Pick<Unpacked, "cwd" | "folder">> {
  const { folder: state, session } = head;
  if (!state) {
    if (!(await stat(wanted).catch(() => undefined))?.isDirectory())
      throw fault("not_moved", { session, reason: `there is no folder ${wanted}.` });
    return { cwd: wanted, folder: undefined };
  }
  // Where it was before is its own folder, which may lie below the root of the repository.
  const isThere = (await stat(wanted).catch(() => undefined)) !== undefined;
  const prefix = state.prefix.replace(/\/$/, "");
  const cwd =
    !isThere && prefix !== "" && wanted.endsWith(`/${prefix}`) ? wanted.slice(0, -prefix.length - 1) : wanted;
  const scratch = path.dirname(staging);
  const isAgain = (await stat(path.join(scratch, applying)).catch(() => undefined)) !== undefined;
  const { commit, branch, tree, work } = state;
  const bundle = path.join(staging, gitPart);
  const coming = { session, bundle, commit, branch, tree, work, leftTree, isAgain };
  const prepared = await prepareFolder(folderPlace(ports, { cwd, scratch }), coming);
  if (!prepared.ok) throw fault("not_moved", { session, reason: `${prepared.why}.` });
  return { cwd: path.join(prepared.value.top, state.prefix), folder: prepared.value };
}

const applying = "applying";

/**
 * The session has left where it was: `tombstone` is the record that says so. Throws `not_moved` and `log_unwritable`, and
 * then it is not here.
 */
export async function settleIn(
  { head, staging, cwd, folder }: Unpacked,
  tombstone: string,
  ports: MovePorts,
): Promise<Arrival> {
  const { move, session, from, left } = head;
  const moves = movesOf(ports);
  const lease = await ports.home.store.leases.take(session);
  try {
    const { staged, where } = await withTombstone({ head, staging, tombstone }, ports);
    await keepContents(staging, ports);
    await ports.step?.("unpacked");
    const mark = path.join(path.dirname(staging), applying);
    await writeFile(mark, "", { flush: true });
    await syncFolder(path.dirname(mark));
    const restored = await folder?.apply().catch((thrown: unknown) => {
      throw fault("not_moved", { session, reason: `${said(thrown)}.`, cause: thrown });
    });
    await ports.step?.("files-in-place");
    try {
      await mkdir(cwd, { recursive: true });
      await placeLog({
        files: ports.home.logs.fs,
        home: ports.home.path,
        session,
        cwd,
        staged,
        beside: path.join(staging, "beside"),
        lastSeq: where.last.seq,
        now: ports.home.clock.now(),
        step: async (name) => ports.step?.(name),
        arrived: (kept) => ({
          type: "session.arrived",
          at: ports.home.clock.now(),
          move,
          from: { host: from.host, cwd: from.cwd },
          host: ports.host,
          cwd,
          roots: { from: head.folder?.top ?? from.cwd, to: folder?.top ?? cwd },
          kept: { from: from.kept, to: kept },
          files: folder !== undefined,
          left,
        }),
      });
    } catch (thrown) {
      await restored?.undo();
      throw thrown;
    }
    await moves.settle(move, "taken");
    await ports.step?.("settled");
    if (folder)
      await forgetWork(folderPlace(ports, { cwd: folder.top, scratch: staging }), folder.top, session);
    await moves.forget("in", move);
    return { session, move, from, cwd, state: "new", left, notices: restored?.notes ?? [] };
  } finally {
    await lease.release();
  }
}

const said = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** The log as it was left: it must end with the record of this very move. */
async function withTombstone(
  { head, staging, tombstone }: { head: ParcelHead; staging: string; tombstone: string },
  ports: MovePorts,
): Promise<{ readonly staged: string; readonly where: WhereSession }> {
  const { session, move } = head;
  const staged = path.join(staging, "left.jsonl");
  await copyFile(path.join(staging, logPart), staged);
  const handle = await open(staged, "a");
  try {
    await handle.writeFile(tombstone);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  const where = await checkLog(ports.home.logs.fs, staged, session);
  if (where.moved?.move !== move)
    throw fault("not_moved", { session, reason: "it did not leave where it was." });
  await placeOf(head, staged, ports);
  return { staged, where };
}

async function keepContents(staging: string, ports: MovePorts): Promise<void> {
  const blobs = openBlobs({ folder: path.join(ports.home.path, "blobs"), now: ports.home.clock.now });
  const folder = path.join(staging, "blobs");
  for (const name of await readdir(folder).catch(() => [])) {
    await blobs.put(await readFile(path.join(folder, name)));
    await blobs.settle(name);
  }
}
