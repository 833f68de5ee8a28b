/**
 * Tells when something may have changed in a work tree: one watcher for each folder that git does not ignore, up to a
 * bound, and one for what git keeps of it. What was told at once is told once, and never while the last telling is heard.
 */
import { type FSWatcher, watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";

export type FolderWatch = {
  /** How many folders there are beyond the bound, whose changes are not noticed by themselves. */
  readonly unwatched: number;
  close(): void;
};

export type WatchedFolder = {
  readonly top: string;
  readonly gitFolder: string;
  /** Folders that git ignores, with all below them. */
  readonly ignored: ReadonlySet<string>;
};

const maxFolders = 4_000;
/** What comes within this time is told together, and not more often than the second. */
const settleMs = 150;
const leastMs = 500;

export async function watchFolder(
  { top, gitFolder, ignored }: WatchedFolder,
  tell: () => Promise<void>,
): Promise<FolderWatch> {
  const watchers = new Map<string, FSWatcher>();
  let unwatched = 0;
  let isClosed = false;
  const soon = telling(tell, () => isClosed);

  const listen = (folder: string, heard: (name: string | null) => void): boolean => {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => heard(name));
      // A folder that goes takes its watcher along; the one above tells of it.
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(folder);
      });
      watchers.set(folder, watcher);
      return true;
    } catch {
      return false; // No more watchers on this machine, or the folder has gone.
    }
  };

  const add = async (folder: string): Promise<void> => {
    const waiting = [folder];
    for (let next = waiting.shift(); next !== undefined && !isClosed; next = waiting.shift()) {
      const here = next;
      if (here === path.join(top, ".git") || ignored.has(here) || watchers.has(here)) continue;
      if (watchers.size >= maxFolders || !listen(here, (name) => heardIn(here, name))) {
        unwatched += 1;
        continue;
      }
      const entries = await readdir(here, { withFileTypes: true }).catch(() => []);
      for (const entry of entries) if (entry.isDirectory()) waiting.push(path.join(here, entry.name));
    }
  };

  const heardIn = (folder: string, name: string | null): void => {
    soon();
    if (name === null || watchers.size >= maxFolders) return;
    const at = path.join(folder, name);
    if (watchers.has(at)) return;
    lstat(at).then(
      (stats) => (stats.isDirectory() ? add(at) : undefined),
      () => undefined,
    );
  };

  await add(top);
  // A lock comes and goes with every command of git, also with one that only looks.
  listen(gitFolder, (name) => (name?.endsWith(".lock") ? undefined : soon()));
  return {
    get unwatched() {
      return unwatched;
    },
    close() {
      isClosed = true;
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

function telling(tell: () => Promise<void>, isOver: () => boolean): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isTelling = false;
  let again = false;
  let toldAt = 0;
  const run = async (): Promise<void> => {
    timer = undefined;
    if (isOver()) return;
    isTelling = true;
    const began = performance.now();
    await tell().catch(() => undefined); // Whoever is told says what was wrong with it.
    toldAt = performance.now();
    // One that takes long is not asked for all the time.
    leastPause = Math.max(leastMs, 2 * (toldAt - began));
    isTelling = false;
    if (again) soon();
    again = false;
  };
  let leastPause = leastMs;
  const soon = (): void => {
    if (isOver()) return;
    if (isTelling) {
      again = true;
      return;
    }
    const pause = Math.max(settleMs, toldAt + leastPause - performance.now());
    timer ??= setTimeout(() => void run(), pause);
    timer.unref();
  };
  return soon;
}
