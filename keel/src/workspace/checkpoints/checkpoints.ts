/** The Checkpoints port on real files: keeps contents before they change, and puts them back. */
import { lstat, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { diffLines } from "diff";
import type { Checkpoints, FileBackup } from "../../ports/checkpoints.ts";
import type { Files } from "../../ports/workspace.ts";
import { stampOf } from "../files/stamps.ts";
import { openBlobs } from "./blobs.ts";
import {
  defaultBounds,
  exclusionsIn,
  noSnapshot,
  type SnapshotBounds,
  snapshotWorkspace,
  type WorkspaceSnapshot,
} from "./snapshot.ts";
import { snapshotStore } from "./snapshot-store.ts";

export type CheckpointOptions = {
  readonly home: string;
  readonly root: string;
  readonly files: Files;
  readonly now: () => number;
  readonly bounds?: SnapshotBounds | undefined;
  /** Bytes of kept contents over all sessions. */
  readonly quotaBytes?: number | undefined;
  /** Files that are never copied, beside those that look like secrets: paths as in rules. */
  readonly exclude?: readonly string[] | undefined;
  /** What `~` means there. */
  readonly userHome?: string | undefined;
};

/** Enough for months of ordinary work, and no surprise on a small disk. */
const defaultQuotaBytes = 2_000_000_000;

export function nodeCheckpoints(options: CheckpointOptions): Checkpoints {
  const { home, root, files, now, bounds = defaultBounds, quotaBytes = defaultQuotaBytes } = options;
  const blobs = openBlobs({ folder: path.join(home, "blobs"), now });
  const unkept = exclusionsIn(root, { exclude: options.exclude, home: options.userHome ?? "/" });
  const used = new Set<string>();
  const stock = snapshotStore({ home, root });
  let latest: WorkspaceSnapshot | undefined;
  let prepared: { key: string; done: Promise<void> } | undefined;
  const ended = new AbortController();

  const look = async (signal: AbortSignal): Promise<WorkspaceSnapshot> => {
    const before = latest ?? (await stock.read(await blobs.names()));
    const either = AbortSignal.any([signal, ended.signal]);
    return snapshotWorkspace({ root, leaveOut: home, blobs, bounds, unkept, before, now }, either);
  };

  async function keep(file: string): Promise<FileBackup> {
    const found = await lstat(file).catch(() => undefined);
    if (!found) return { path: file, blob: null };
    if (found.isSymbolicLink()) return lost(file, "it is a link");
    if (!found.isFile()) return lost(file, "it is not a file");
    if (found.size > bounds.fileBytes * 10) return lost(file, "what it holds now is too much to be kept");
    const content = unkept.isNamed(file) ? undefined : await readFile(file).catch(() => undefined);
    if (!content || unkept.isKey(content)) return lost(file, "what it holds now is never copied");
    return settled({ path: file, blob: await blobs.put(content) });
  }

  /** What a log will name is on disk before it does. */
  async function settled(file: FileBackup): Promise<FileBackup> {
    if ("lost" in file || file.blob === null) return file;
    if (!(await blobs.settle(file.blob))) return { path: file.path, lost: true };
    used.add(file.blob);
    return file;
  }

  return {
    backUp: keep,
    prepare(key, signal) {
      if (prepared?.key !== key) {
        const done = look(signal).then(
          (found) => {
            latest = found;
          },
          // Without a survey nothing of a command can be taken back; its changes are told as lost.
          () => {
            latest = noSnapshot;
          },
        );
        prepared = { key, done };
      }
      return prepared.done;
    },
    async changes(signal) {
      const before = latest ?? noSnapshot;
      const after = await look(signal).catch(() => noSnapshot);
      latest = after;
      return Promise.all((await changed(before, after)).map(settled));
    },
    stamp: async (file) => {
      const content = await readFile(file).catch(() => undefined);
      return content ? stampOf(content) : null;
    },
    async preview(wanted) {
      const changes = wanted.map(async ({ path: file, blob }) => {
        const [now, then] = [
          await readFile(file).catch(() => undefined),
          blob === null ? undefined : await blobs.get(blob),
        ];
        return { path: file, ...countLines(now, then) };
      });
      return (await Promise.all(changes)).filter(({ insertions, deletions }) => insertions + deletions > 0);
    },
    async restore({ path: file, blob }) {
      const found = await lstat(file).catch(() => undefined);
      if (found?.isSymbolicLink()) return "it is a link";
      if (found && !found.isFile()) return "it is not a file any more";
      const facts = await files.describe(file);
      if (facts.links || facts.root === undefined) return "it lies behind a link or outside the workspace";
      if (blob === null) {
        await rm(file, { force: true });
        return undefined;
      }
      const content = await blobs.get(blob);
      if (!content) return "its content was removed to make room";
      const written = await files.write(file, content);
      return written.ok ? undefined : written.why;
    },
    async close() {
      // A look that goes on while the process ends would leave half a content behind.
      ended.abort();
      await prepared?.done;
      if (latest && latest !== noSnapshot) await stock.write(latest);
      await blobs.trim(quotaBytes, used);
    },
  };
}

const lost = (file: string, why: string): FileBackup => ({ path: file, lost: true, why });

/** Files whose content differs between two looks, with what they held before. */
async function changed(before: WorkspaceSnapshot, after: WorkspaceSnapshot): Promise<FileBackup[]> {
  const found: FileBackup[] = [];
  for (const [file, seen] of after.files) {
    const old = before.files.get(file);
    if (old?.mark === seen.mark || (old?.blob !== undefined && old.blob === seen.blob)) continue;
    if (old) found.push(old.blob === undefined ? { path: file, lost: true } : { path: file, blob: old.blob });
    // Only what was born since is new. A file that was ignored before, or not reached, must never be removed.
    else if (before.whole && seen.bornMs >= before.startedAt - clockGrainMs)
      found.push({ path: file, blob: null });
    else if (before.whole) found.push({ path: file, lost: true });
  }
  for (const [file, old] of before.files) {
    if (after.files.has(file) || (await lstat(file).catch(() => undefined))) continue;
    found.push(old.blob === undefined ? { path: file, lost: true } : { path: file, blob: old.blob });
  }
  return found;
}

/** How much older a new file may look than the moment it was made: file systems keep time by a coarser clock. */
const clockGrainMs = 10;

function countLines(
  now: Uint8Array | undefined,
  then: Uint8Array | undefined,
): { insertions: number; deletions: number } {
  const decode = (content: Uint8Array | undefined): string =>
    content ? new TextDecoder().decode(content) : "";
  const parts = diffLines(decode(now), decode(then));
  const countOf = (which: "added" | "removed"): number =>
    parts.reduce((sum, part) => sum + (part[which] ? (part.count ?? 0) : 0), 0);
  return { insertions: countOf("added"), deletions: countOf("removed") };
}
