/**
 * A session to a server, near or far. The steps, each of which lasts: it is packed, sent and checked there; then its log
 * here gets its last record; then it is taken there. A move that broke is run again and is finished, or is made void there
 * first and then undone here: at no moment can both go on with it.
 */
import { open, stat } from "node:fs/promises";
import path from "node:path";
import type { FarMoves } from "../../client/far-moves.ts";
import { Fault, fault } from "../../kernel/fault.ts";
import { maxPieceBytes } from "../../protocol/move-operations.ts";
import {
  type DepartOptions,
  type Leaving,
  leave,
  openLeaving,
  openNew,
  pack,
  stay,
  tombstoneOf,
} from "./depart.ts";
import { type MovePorts, movesOf } from "./move-ports.ts";
import type { MoveReport } from "./move-to-file.ts";
import { readParcel } from "./parcel.ts";

export type ServerTarget = {
  readonly kind: "ssh" | "server";
  /** As a person named it. */
  readonly name: string;
  readonly folder?: string | undefined;
  readonly moves: Omit<FarMoves, "release">;
};

/** Throws `not_moved`, and then it is where it was; `link_lost`, and then the same words go on with it. */
export async function moveToServer(
  options: DepartOptions & { readonly target: ServerTarget },
  ports: MovePorts,
): Promise<MoveReport> {
  const leaving = await openLeaving(options.session, ports);
  try {
    return leaving.state.moved
      ? await goOn(leaving, leaving.state.moved, { target: options.target, ports })
      : await begin(leaving, options, ports);
  } finally {
    await leaving.log.close();
  }
}

type Going = { readonly target: ServerTarget; readonly ports: MovePorts };

async function begin(
  leaving: Leaving,
  { files, target }: DepartOptions & { readonly target: ServerTarget },
  ports: MovePorts,
): Promise<MoveReport> {
  const { session } = leaving;
  const move = ports.home.ids.uuid();
  const moves = movesOf(ports);
  const parcel = path.join(await moves.folder("out", move), "parcel");
  let packed: Awaited<ReturnType<typeof pack>>;
  let home: string;
  try {
    const output = await openNew(parcel);
    try {
      packed = await pack(leaving, { move, output, files }, ports);
    } finally {
      await output.close();
    }
    await ports.step?.("packed");
    home = (await send({ move, session, parcel, bytes: packed.bytes }, { target, ports })).home;
    await ports.step?.("sent");
    await target.moves.check(move);
    await ports.step?.("checked");
  } catch (thrown) {
    // What is left there says nothing about who has the session.
    await target.moves.void({ move, session }).catch(() => undefined);
    await moves.forget("out", move);
    throw thrown;
  }
  const { kind, name } = target;
  const tombstone = await leave(leaving, { move, to: { kind, name, home }, tree: packed.tree }, ports);
  const report = await take(leaving, { move, tombstone }, { target, ports });
  return { ...report, bytes: packed.bytes, left: packed.left };
}

/** Whatever of it is not there yet. */
async function send(
  { move, session, parcel, bytes }: { move: string; session: string; parcel: string; bytes: number },
  { target, ports }: Going,
): Promise<{ readonly home: string; readonly state: "open" | "taken" | "void" }> {
  const { folder } = target;
  const offer = await target.moves.offer({
    move,
    session,
    bytes,
    ...(folder === undefined ? {} : { folder }),
  });
  if (offer.state !== "open") return offer;
  const handle = await open(parcel, "r");
  try {
    const buffer = Buffer.alloc(maxPieceBytes);
    for (let at = offer.have; at < bytes; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw fault("not_moved", { session, reason: "what was packed is gone." });
      const data = buffer.subarray(0, bytesRead).toString("base64");
      at = (await target.moves.send({ move, at, data })).have;
      ports.tell?.(`sent ${Math.floor((100 * at) / bytes)} % of ${Math.ceil(bytes / 1_000)} KB`);
    }
    return offer;
  } finally {
    await handle.close();
  }
}

/** The log says that it went: it is finished there, or made void there and undone here. */
async function goOn(
  leaving: Leaving,
  moved: NonNullable<Leaving["state"]["moved"]>,
  { target, ports }: Going,
): Promise<MoveReport> {
  const { session } = leaving;
  const { move, to } = moved;
  const elsewhere = fault("session_moved", { session, to: to.name });
  if (to.kind === "file") throw elsewhere;
  const parcel = path.join(await movesOf(ports).folder("out", move), "parcel");
  const bytes = (await stat(parcel).catch(() => undefined))?.size ?? 0;
  const { folder } = target;
  const offer = await target.moves.offer({
    move,
    session,
    bytes,
    ...(folder === undefined ? {} : { folder }),
  });
  if (offer.home !== to.home) throw elsewhere;
  // Without what was packed there is nothing to send; what is there may be whole.
  const found = await readParcel({ file: parcel }).catch(() => undefined);
  const tombstone = found ? await tombstoneOf(leaving.file, found.logBytes, ports) : undefined;
  if (offer.state === "taken" || tombstone === undefined)
    return settle(leaving, { move, reason: "what was packed is gone" }, { target, ports });
  if (offer.state === "open") await send({ move, session, parcel, bytes }, { target, ports });
  return take(leaving, { move, tombstone }, { target, ports });
}

async function take(
  leaving: Leaving,
  { move, tombstone }: { readonly move: string; readonly tombstone: string },
  { target, ports }: Going,
): Promise<MoveReport> {
  try {
    const { cwd, notices } = await target.moves.take({ move, tombstone });
    await ports.step?.("taken");
    return await done(leaving, { move, cwd, notices }, { target, ports });
  } catch (thrown) {
    // Nobody knows whether it was taken: the same words ask again.
    if (!(thrown instanceof Fault) || thrown.code === "link_lost") throw thrown;
    return settle(leaving, { move, reason: thrown.message }, { target, ports });
  }
}

/** What is void there is undone here; what was taken there is there. */
async function settle(
  leaving: Leaving,
  { move, reason }: { readonly move: string; readonly reason: string },
  { target, ports }: Going,
): Promise<MoveReport> {
  const { session } = leaving;
  const { state } = await target.moves.void({ move, session });
  if (state === "taken") return done(leaving, { move, notices: [] }, { target, ports });
  await stay(leaving, move, ports);
  await movesOf(ports).forget("out", move);
  throw fault("not_moved", { session, reason });
}

async function done(
  { session }: Leaving,
  { move, cwd, notices }: { move: string; cwd?: string; notices: readonly string[] },
  { target, ports }: Going,
): Promise<MoveReport> {
  await movesOf(ports).forget("out", move);
  return { session, move, to: target.name, cwd, bytes: 0, left: [], notices };
}
