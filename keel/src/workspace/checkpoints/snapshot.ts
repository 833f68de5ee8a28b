/** Which files a command could change, and what they hold: everything git would not ignore, within stated bounds. */
import { execFile } from "node:child_process";
import { lstat, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pathMatcher } from "../../policy/path-rules.ts";
import { inert } from "../git/git.ts";
import type { Blobs } from "./blobs.ts";

/** What is kept of a workspace. What lies beyond is told as changed, but cannot be restored. */
export type SnapshotBounds = Readonly<Record<"files" | "fileBytes" | "allBytes", number>>;

export const defaultBounds: SnapshotBounds = { files: 20_000, fileBytes: 1_000_000, allBytes: 500_000_000 };

/** A file as it was seen. `blob` is undefined when it was beyond the bounds, or is never copied. */
export type SnapshotEntry = {
  readonly mark: string;
  readonly blob: string | undefined;
  readonly bornMs: number;
  /** It was read and holds a private key. */
  readonly isKey?: boolean;
};

export type WorkspaceSnapshot = {
  readonly files: ReadonlyMap<string, SnapshotEntry>;
  readonly startedAt: number;
  /** Every file there was is in it. Only then does a file that is not in it count as new. */
  readonly whole: boolean;
};

export const noSnapshot: WorkspaceSnapshot = { files: new Map(), startedAt: 0, whole: false };

type SnapshotRequest = {
  readonly root: string;
  /** A folder that is not the project's although it may lie in it: where the contents themselves are kept. */
  readonly leaveOut: string;
  readonly blobs: Blobs;
  readonly bounds: SnapshotBounds;
  readonly unkept: CopyExclusions;
  readonly before: WorkspaceSnapshot;
  readonly now: () => number;
};

/** How many files are looked at together. */
const together = 16;

/** Looks at every file, and reads only those whose size or time differ from `before`. */
export async function snapshotWorkspace(
  { root, leaveOut, blobs, bounds, unkept, before, now }: SnapshotRequest,
  signal: AbortSignal,
): Promise<WorkspaceSnapshot> {
  const startedAt = now();
  const listed = await listFiles(root, bounds.files + 1);
  const names = listed.filter((name) => !path.join(root, name).startsWith(leaveOut + path.sep));
  const files = new Map<string, SnapshotEntry>();
  let bytes = 0;

  async function look(file: string): Promise<void> {
    const facts = await lstat(file, { bigint: true }).catch(() => undefined);
    if (!facts?.isFile()) return;
    const mark = `${facts.size}:${facts.mtimeNs}:${facts.ino}`;
    const size = Number(facts.size);
    const known = before.files.get(file);
    const fits = size <= bounds.fileBytes && bytes + size <= bounds.allBytes && files.size < bounds.files;
    const isWanted = fits && !unkept.isNamed(file);
    if (isWanted) bytes += size;
    if (known?.mark === mark && (known.blob !== undefined || known.isKey || !isWanted))
      return void files.set(file, known);
    const content = isWanted ? await readFile(file).catch(() => undefined) : undefined;
    const isKey = content !== undefined && unkept.isKey(content);
    const blob = content && !isKey ? await blobs.put(content) : undefined;
    files.set(file, { mark, blob, bornMs: Number(facts.birthtimeMs), ...(isKey ? { isKey } : {}) });
  }

  for (let start = 0; start < names.length && !signal.aborted; start += together) {
    await Promise.all(names.slice(start, start + together).map((name) => look(path.join(root, name))));
  }
  return { files, startedAt, whole: !signal.aborted && listed.length <= bounds.files };
}

/** What git would not ignore; without git, everything but git's own folder. */
async function listFiles(root: string, most: number): Promise<string[]> {
  const listed = await gitFiles(root);
  if (listed) return listed.slice(0, most);
  const names: string[] = [];
  const folders = [""];
  for (let folder = folders.shift(); folder !== undefined && names.length < most; folder = folders.shift()) {
    for (const entry of await readdir(path.join(root, folder), { withFileTypes: true }).catch(() => [])) {
      const name = path.join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== ".git") folders.push(name);
      if (entry.isFile()) names.push(name);
    }
  }
  return names.slice(0, most);
}

/** Undefined where git is absent or the folder is no repository. Programs that a repository names are not run. */
function gitFiles(root: string): Promise<string[] | undefined> {
  const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  return new Promise((resolve) => {
    execFile(
      "git",
      [...inert, "-C", root, ...listing],
      { maxBuffer: 64 * 1024 * 1024, timeout: 20_000 },
      (error, stdout) => {
        resolve(error ? undefined : [...new Set(stdout.split("\0").filter(Boolean))]);
      },
    );
  });
}

/** What is never copied: secrets by their usual names, private keys by their first line, and what the settings name. */
export type CopyExclusions = {
  /** By its absolute path. */
  isNamed(file: string): boolean;
  /** By what it holds. */
  isKey(content: Uint8Array): boolean;
};

const secretNames = [
  /^\.env/i,
  /\.env$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
  /\.(?:pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx)$/i,
  /^\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)$/i,
];

export function exclusionsIn(
  root: string,
  { exclude = [], home }: { exclude?: readonly string[] | undefined; home: string },
): CopyExclusions {
  const excluded = exclude.map((rule) => pathMatcher(rule, { roots: [root], home }));
  return {
    isNamed: (file) => {
      const name = path.basename(file);
      return secretNames.some((secret) => secret.test(name)) || excluded.some((matches) => matches(file));
    },
    isKey: (content) => privateKey.test(Buffer.from(content.subarray(0, maxLineBytes)).toString("latin1")),
  };
}

/** Long enough for the first line of any key. */
const maxLineBytes = 64;
const privateKey = /^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY/;
