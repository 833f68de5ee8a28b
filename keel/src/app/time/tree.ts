/** The files of a folder, and how those of another differ from them. */
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import { createTwoFilesPatch } from "diff";

export type TreeChange = {
  /** Within the folder. */
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly insertions: number;
  readonly deletions: number;
  /** Undefined for what is no text, or too much of it. */
  readonly diff?: string | undefined;
};

const left: readonly string[] = [".git", "node_modules", ".venv", "vendor"];
const maxDiffBytes = 512 * 1024;

/** Sorted by path. Installed packages and git's own files do not count. */
export async function changesBetween(before: string, after: string): Promise<TreeChange[]> {
  const names = new Set([...(await filesIn(before)), ...(await filesIn(after))]);
  const changes: TreeChange[] = [];
  for (const name of [...names].sort()) {
    const [then, now] = [await contentOf(path.join(before, name)), await contentOf(path.join(after, name))];
    if (then === undefined ? now === undefined : now !== undefined && then.equals(now)) continue;
    changes.push(changeOf(name, then, now));
  }
  return changes;
}

async function filesIn(folder: string, below = ""): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(path.join(folder, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (left.includes(entry.name)) continue;
    const name = path.join(below, entry.name);
    if (entry.isDirectory()) found.push(...(await filesIn(folder, name)));
    else found.push(name);
  }
  return found;
}

/** A link is what it names. */
async function contentOf(file: string): Promise<Buffer | undefined> {
  const facts = await lstat(file).catch(() => undefined);
  if (facts?.isSymbolicLink()) return Buffer.from(`→ ${await readlink(file)}`);
  return facts?.isFile() ? readFile(file) : undefined;
}

function changeOf(name: string, then: Buffer | undefined, now: Buffer | undefined): TreeChange {
  const kind = then === undefined ? "added" : now === undefined ? "removed" : "changed";
  const isText = [then, now].every((each) => each === undefined || (isReadable(each) && !each.includes(0)));
  if (!isText) return { path: name, kind, insertions: 0, deletions: 0 };
  const diff = createTwoFilesPatch(name, name, then?.toString() ?? "", now?.toString() ?? "", "", "");
  const lines = diff.split("\n").slice(4);
  const counted = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { path: name, kind, insertions: counted("+"), deletions: counted("-"), diff };
}

const isReadable = (content: Buffer): boolean => content.length <= maxDiffBytes;
