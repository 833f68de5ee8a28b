/** Drops the contents of files that only a deleted session kept. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { Store } from "../../ports/store.ts";

/** Which contents a log names. Of a damaged log those that can be read. */
export async function blobsOf(store: Store, session: string): Promise<Set<string>> {
  const names = new Set<string>();
  try {
    for await (const event of store.read(session))
      if (event.type === "files.saved")
        for (const { blob } of event.files) if (blob !== null) names.add(blob);
  } catch {
    // What cannot be read names nothing; the quota takes care of what is left.
  }
  return names;
}

/**
 * `own` is what the deleted session named. What no session names is the stock that was taken before commands: it goes
 * too, unless another session is open, which may be about to name it.
 */
export async function forgetBlobs(
  { store, home, now }: { store: Store; home: string; now: () => number },
  { own, isOpen }: { own: ReadonlySet<string>; isOpen: (session: string) => boolean },
): Promise<void> {
  const folder = path.join(home, "blobs");
  if (!existsSync(folder)) return;
  const others = (await store.list()).map(({ id }) => id);
  const named = new Set<string>();
  for (const id of others) for (const blob of await blobsOf(store, id)) named.add(blob);
  const isQuiet = !others.some(isOpen);
  const { openBlobs } = await import("../../workspace/checkpoints/blobs.ts");
  if (isQuiet) {
    const { snapshotFolder } = await import("../../workspace/checkpoints/snapshot-store.ts");
    await rm(snapshotFolder(home), { recursive: true, force: true });
  }
  await openBlobs({ folder, now }).drop((name) => !named.has(name) && (isQuiet || own.has(name)));
}
