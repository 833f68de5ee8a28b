/**
 * A session into a file, which goes wherever a person carries it. The steps, each of which lasts: the parcel is written
 * under another name (`.part`), the log gets its last record, the parcel gets its end, and then its name. A move that broke
 * is run again and goes on: as long as the parcel has the other name, nobody can have taken it.
 */
import { open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
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
import { syncFolder } from "./move-store.ts";
import { endLine, readParcel, sumOf } from "./parcel.ts";

export type MoveReport = {
  readonly session: string;
  readonly move: string;
  readonly to: string;
  /** Where it goes on, where that is known. */
  readonly cwd?: string | undefined;
  readonly bytes: number;
  /** Files that stayed here. */
  readonly left: readonly string[];
  readonly notices: readonly string[];
};

/** Throws `not_moved`, `session_moved` and `usage`; the session is then where it was. */
export async function moveToFile(
  options: DepartOptions & { readonly file: string },
  ports: MovePorts,
): Promise<MoveReport> {
  const leaving = await openLeaving(options.session, ports);
  try {
    const { moved } = leaving.state;
    if (!moved) return await begin(leaving, options, ports);
    if (moved.to.kind === "file" && moved.to.name === options.file)
      return await goOn(leaving, { move: moved.move, file: options.file }, ports);
    throw fault("session_moved", { session: leaving.session, to: moved.to.name });
  } finally {
    await leaving.log.close();
  }
}

const partOf = (file: string): string => `${file}.part`;

async function begin(
  leaving: Leaving,
  { file, files }: DepartOptions & { readonly file: string },
  ports: MovePorts,
): Promise<MoveReport> {
  const { session } = leaving;
  const part = partOf(file);
  if (await exists(file)) throw fault("usage", { reason: `${file} is there already.` });
  await removeOwn(part, session);
  const move = ports.home.ids.uuid();
  const output = await openNew(part).catch((thrown: unknown) => {
    throw fault("usage", { reason: `${part} cannot be written: ${String(thrown)}`, cause: thrown });
  });
  let tree: string | undefined;
  let left: readonly string[] = [];
  try {
    try {
      ({ tree, left } = await pack(leaving, { move, output, files }, ports));
    } finally {
      await output.close();
    }
    await syncFolder(path.dirname(part));
    await ports.step?.("packed");
  } catch (thrown) {
    await rm(part, { force: true });
    await movesOf(ports).forget("out", move);
    throw thrown;
  }
  await leave(leaving, { move, to: { kind: "file", name: file }, tree }, ports);
  return { ...(await goOn(leaving, { move, file }, ports)), left };
}

/** What an earlier try of the same session left, which never left here. */
async function removeOwn(part: string, session: string): Promise<void> {
  if (!(await exists(part))) return;
  const known = await readParcel({ file: part, isUnsealed: true }).catch(() => undefined);
  const { size } = await stat(part);
  if (known?.head.session !== session && size > 0)
    throw fault("usage", {
      reason: `${part} is there already: another session is being moved to that file.`,
    });
  await rm(part, { force: true });
}

/** The log says that it went: the parcel gets its end and its name, as far as it has them not. */
async function goOn(
  leaving: Leaving,
  { move, file }: { readonly move: string; readonly file: string },
  ports: MovePorts,
): Promise<MoveReport> {
  const { session } = leaving;
  const part = partOf(file);
  const report = (bytes: number): MoveReport => ({ session, move, to: file, bytes, left: [], notices: [] });
  const found = await readParcel({ file: part, isUnsealed: true }).catch(() => undefined);
  if (found?.head.move !== move) {
    const done = await readParcel({ file }).catch(() => undefined);
    if (done?.head.move !== move) throw fault("session_moved", { session, to: file });
    await movesOf(ports).forget("out", move);
    return report(done.bodyBytes);
  }
  try {
    const tombstone = await tombstoneOf(leaving.file, found.logBytes, ports);
    const handle = await open(part, "r+");
    try {
      await handle.truncate(found.bodyBytes);
      const end = endLine(await sumOf(part, found.bodyBytes), tombstone);
      await handle.write(end, 0, end.length, found.bodyBytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    // Without its end nobody can take it.
    await rm(part, { force: true });
    await stay(leaving, move, ports);
    throw fault("not_moved", {
      session,
      reason: `${file} cannot be written: ${String(thrown)}.`,
      cause: thrown,
    });
  }
  await ports.step?.("sealed");
  if (await exists(file)) throw fault("usage", { reason: `${file} is there already.` });
  await rename(part, file);
  await syncFolder(path.dirname(file));
  await ports.step?.("published");
  await movesOf(ports).forget("out", move);
  return report(found.bodyBytes);
}

const exists = async (file: string): Promise<boolean> =>
  (await stat(file).catch(() => undefined)) !== undefined;
