/**
 * A file with a session in it is taken in, once: whoever takes it renames it first, which only one can, and it is gone when
 * the session is here. What goes wrong gives it its name back.
 */
import { readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import { type Arrival, isTaken, settleIn, type TakeOptions, unpack } from "./arrive.ts";
import { type MovePorts, movesOf } from "./move-ports.ts";
import { syncFolder } from "./move-store.ts";
import { readParcel } from "./parcel.ts";

/** Throws `not_moved` and `usage`, and the file is as it was. */
export async function takeFile(
  options: TakeOptions & { readonly file: string },
  ports: MovePorts,
): Promise<Arrival> {
  const { file } = options;
  const claimed = `${file}.taken-${(await movesOf(ports).id()).slice(0, 8)}`;
  const at = (await exists(file)) ? file : claimed;
  if (!(await exists(at))) throw fault("usage", { reason: await whyMissing(file) });
  const { head, tombstone } = await readParcel({ file: at });
  const { move, session, from, left } = head;
  if (tombstone === undefined)
    throw fault("not_moved", {
      session,
      reason: "the file is not finished. Run the same `keel teleport` again where it is written.",
    });
  if (await isTaken(move, session, ports)) {
    await movesOf(ports).settle(move, "taken");
    if (at === claimed) await rm(claimed, { force: true });
    await movesOf(ports).forget("in", move);
    const [info] = await ports.home.store.list({ only: session });
    return { session, move, from, cwd: info?.cwd ?? "", state: "there", left, notices: [] };
  }
  const lease = await ports.home.store.leases.take(`move-${move}`);
  try {
    const unpacked = await unpack({ ...options, file: at }, ports);
    await ports.step?.("checked");
    if (at === file) await claim(file, claimed, session);
    await ports.step?.("claimed");
    try {
      const arrival = await settleIn(unpacked, tombstone, ports);
      await rm(claimed, { force: true });
      await ports.step?.("file-gone");
      return arrival;
    } catch (thrown) {
      if (!(await isTaken(move, session, ports)) && !(await exists(file))) await rename(claimed, file);
      throw thrown;
    }
  } catch (thrown) {
    await movesOf(ports).forget("in", move);
    throw thrown;
  } finally {
    await lease.release();
  }
}

async function claim(file: string, claimed: string, session: string): Promise<void> {
  try {
    await rename(file, claimed);
    await syncFolder(path.dirname(file));
  } catch (thrown) {
    throw fault("not_moved", {
      session,
      reason: `${file} cannot be renamed, and so not be taken once and no more: copy it into a folder that you may write.`,
      cause: thrown,
    });
  }
}

async function whyMissing(file: string): Promise<string> {
  const names = await readdir(path.dirname(file)).catch(() => []);
  const isBeing = names.some((name) => name.startsWith(`${path.basename(file)}.taken-`));
  return isBeing ? `${file} is being taken in by another home.` : `There is no file ${file}.`;
}

const exists = async (file: string): Promise<boolean> =>
  (await stat(file).catch(() => undefined)) !== undefined;
