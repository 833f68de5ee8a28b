/** What has changed in a work tree, file by file and without contents: bounded, however much it is. */
import { lstat, open } from "node:fs/promises";
import path from "node:path";
import { shorten } from "../../kernel/text.ts";
import type { DiffFile, DiffSummary } from "../../protocol/workspace.ts";
import { type DiffFolder, type DiffPlace, largestFile, openDiffPlace, utf8 } from "./diff-place.ts";

/** More are counted and not listed; before there are counts, so many are: some screens of them. */
const maxFiles = 5_000;
const firstFiles = 500;
/** New files are read to count their lines, so many bytes of each and of all of them. */
const countedBytes = 512 * 1024;
const countedInAll = 16 * 1024 * 1024;

/** What a person does not notice, from the question on; counts that take longer are waited for with the list in sight. */
const quickMs = 200;
/** Files that are looked at together: thousands at once would take descriptors from everybody else. */
const looksAtOnce = 16;

/**
 * `base`: a commit to compare with, in place of the last one. `onListed` is told the files without their counts, where
 * counting takes its time: git has the names of twenty thousand files long before it has compared them.
 */
export async function readDiffSummary(
  folder: DiffFolder & { readonly base?: string | undefined },
  signal: AbortSignal,
  onListed?: (summary: DiffSummary) => void,
): Promise<DiffSummary> {
  const late = AbortSignal.timeout(quickMs);
  const place = await openDiffPlace(folder, signal);
  if (!place.ok) return { files: [], added: 0, removed: 0, more: 0, problem: place.why };
  const from = await baseOf(place, folder.base);
  const [status, committed] = await Promise.all([
    place.git([...statusOf, "--branch", "--untracked-files=all"]),
    from === place.head || !place.head
      ? undefined
      : place.git([...diffOf("--name-status"), "-z", "-M", from, place.head]),
  ]);
  if (!status.ok)
    return { files: [], added: 0, removed: 0, more: 0, problem: shorten(`Git says: ${status.why}`, 300) };
  // Not beside it: where very much has changed, the names would come no sooner than the counts.
  const count = () => place.gitBehind([...diffOf("--numstat"), "-z", "-M", from]);
  const begun = late.aborted && onListed ? undefined : count();
  const { branch, entries } = readStatus(wholeParts(status));
  const found = [...entries, ...readCommitted(committed?.ok ? wholeParts(committed) : "", entries)];
  const first = await inSight(place.top, found.slice(0, firstFiles));
  const about = { base: from, ...(branch === undefined ? {} : { branch }) };
  if (onListed && !(begun && (await isBefore(late, begun)))) {
    const files = first.map(({ entry, stamp }) => ({ ...entry, added: 0, removed: 0, stamp }));
    onListed({ ...about, more: found.length - first.length, files, added: 0, removed: 0, counting: true });
  }
  const counting = begun ?? count();
  const listed = [...first, ...(await inSight(place.top, found.slice(firstFiles, maxFiles)))];
  const counts = await counting;
  const lines = readCounts(counts.ok ? wholeParts(counts) : "");
  const files = await withCounts(place.top, listed, lines);
  return {
    ...about,
    more: found.length - listed.length,
    files,
    added: sum(files, "added") + unlisted(found, lines, "added"),
    removed: sum(files, "removed") + unlisted(found, lines, "removed"),
  };
}

async function isBefore(late: AbortSignal, work: Promise<unknown>): Promise<boolean> {
  if (late.aborted) return false;
  const tooLate = Promise.withResolvers<false>();
  late.addEventListener("abort", () => tooLate.resolve(false), { once: true });
  return Promise.race([work.then(() => true), tooLate.promise]);
}

export const statusOf = ["status", "--porcelain=v2", "-z", "--ignore-submodules=all", "--renames"] as const;

export type DiffTotals = {
  readonly branch?: string | undefined;
  readonly added: number;
  readonly removed: number;
};

/** Only how much has changed since the last commit; undefined where there is no repository. */
export async function readDiffTotals(
  folder: DiffFolder,
  signal: AbortSignal,
): Promise<DiffTotals | undefined> {
  const place = await openDiffPlace(folder, signal);
  if (!place.ok) return undefined;
  const [named, counted] = await Promise.all([
    place.git(["symbolic-ref", "--quiet", "--short", "HEAD"]),
    place.gitBehind([...diffOf("--shortstat"), await baseOf(place)]),
  ]);
  const count = (word: string): number =>
    Number(new RegExp(`(\\d+) ${word}`).exec(counted.ok ? counted.text : "")?.[1] ?? 0);
  return {
    ...(named.ok ? { branch: utf8(named.text).trim() } : {}),
    added: count("insertion"),
    removed: count("deletion"),
  };
}

export const diffOf = (kind: string): string[] => [
  "diff",
  kind,
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--ignore-submodules=all",
];

/** The commit, or the empty tree before there is one. */
export async function baseOf(place: DiffPlace, wanted?: string | undefined): Promise<string> {
  if (wanted !== undefined && /^[0-9a-f]{40,64}$/.test(wanted)) {
    const known = await place.git(["merge-base", "--", wanted, "HEAD"]);
    if (known.ok) return known.text.trim();
  }
  if (place.head !== undefined) return place.head;
  const empty = await place.git(["hash-object", "-t", "tree", "--stdin"], "");
  return empty.ok ? empty.text.trim() : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/** Without a last part that was cut. */
const wholeParts = ({ text, cut }: { text: string; cut: boolean }): string =>
  cut ? text.slice(0, text.lastIndexOf("\0") + 1) : text;

export type StatusEntry = Pick<DiffFile, "path" | "from" | "change" | "staged"> & {
  /** What the index has of it. */
  readonly index: string;
};

/** In the second form of git's status for programs: each field has its place, each path its end. */
export function readStatus(text: string): { branch: string | undefined; entries: StatusEntry[] } {
  const parts = text.split("\0");
  const entries: StatusEntry[] = [];
  let branch: string | undefined;
  for (let at = 0; at < parts.length; at++) {
    const line = parts[at] ?? "";
    const kind = line[0];
    if (kind === "#") {
      const named = /^# branch\.head (.*)$/s.exec(line)?.[1];
      if (named !== undefined && named !== "(detached)") branch = utf8(named);
    } else if (kind === "?")
      entries.push({ path: utf8(line.slice(2)), change: "untracked", staged: "unstaged", index: "" });
    else if (kind === "1" || kind === "u" || kind === "2") {
      // How many fields stand before the path.
      const fields = kind === "1" ? 8 : kind === "2" ? 9 : 10;
      const words = line.split(" ");
      const file = utf8(words.slice(fields).join(" "));
      const from = kind === "2" ? utf8(parts[++at] ?? "") : undefined;
      if (file !== "") entries.push(entryOf(words, { file, from, isConflict: kind === "u" }));
    }
  }
  return { branch, entries };
}

function entryOf(
  words: readonly string[],
  { file, from, isConflict }: { file: string; from: string | undefined; isConflict: boolean },
): StatusEntry {
  const [staged = ".", unstaged = "."] = words[1] ?? "";
  return {
    path: file,
    ...(from === undefined ? {} : { from }),
    change: isConflict ? "conflicted" : changeOf(staged, unstaged),
    staged: staged === "." ? "unstaged" : unstaged === "." ? "staged" : "partly",
    index: words[7] ?? "",
  };
}

function changeOf(staged: string, unstaged: string): DiffFile["change"] {
  if (unstaged === "D" || (staged === "D" && unstaged === ".")) return "deleted";
  const letter = staged === "." ? unstaged : staged;
  return letter === "A" ? "added" : letter === "R" ? "renamed" : letter === "C" ? "copied" : "modified";
}

/** What is in commits since the base, and has not changed since. */
function readCommitted(text: string, changed: readonly StatusEntry[]): StatusEntry[] {
  const parts = text.split("\0");
  const known = new Set(changed.map(({ path: file }) => file));
  const entries: StatusEntry[] = [];
  for (let at = 0; at + 1 < parts.length; ) {
    const letter = parts[at++]?.[0] ?? "";
    const first = utf8(parts[at++] ?? "");
    const isMoved = letter === "R" || letter === "C";
    const file = isMoved ? utf8(parts[at++] ?? "") : first;
    if (file === "" || known.has(file)) continue;
    entries.push({
      path: file,
      ...(isMoved ? { from: first } : {}),
      change: changeOf(letter, "."),
      staged: "committed",
      index: "",
    });
  }
  return entries;
}

type LineCounts = { readonly added: number; readonly removed: number; readonly binary: boolean };

function readCounts(text: string): ReadonlyMap<string, LineCounts> {
  const parts = text.split("\0");
  const counts = new Map<string, LineCounts>();
  for (let at = 0; at < parts.length; at++) {
    const [added = "", removed = "", file = ""] = (parts[at] ?? "").split("\t");
    if (removed === "") continue;
    // A file that was moved has its two paths behind it.
    if (file === "") at += 2;
    const name = file === "" ? (parts[at] ?? "") : file;
    counts.set(utf8(name), {
      added: Number(added) || 0,
      removed: Number(removed) || 0,
      binary: added === "-",
    });
  }
  return counts;
}

type SeenFile = {
  readonly entry: Omit<StatusEntry, "index">;
  readonly stamp: string;
  /** Of a file that can be read; undefined of everything else. */
  readonly size: number | undefined;
};

async function inSight(top: string, entries: readonly StatusEntry[]): Promise<SeenFile[]> {
  const seen: SeenFile[] = [];
  for (let at = 0; at < entries.length; at += looksAtOnce)
    seen.push(...(await Promise.all(entries.slice(at, at + looksAtOnce).map((entry) => lookAt(top, entry)))));
  return seen;
}

async function lookAt(top: string, { index, ...entry }: StatusEntry): Promise<SeenFile> {
  const stats = await lstat(path.join(top, entry.path), { bigint: true }).catch(() => undefined);
  const stamp = `${index.slice(0, 12)}.${stats ? `${stats.mtimeNs}.${stats.size}.${stats.mode}` : "none"}`;
  return { entry, stamp, size: stats?.isFile() === true ? Number(stats.size) : undefined };
}

async function withCounts(
  top: string,
  listed: readonly SeenFile[],
  counts: ReadonlyMap<string, LineCounts>,
): Promise<DiffFile[]> {
  let left = countedInAll;
  const files: DiffFile[] = [];
  for (const { entry, stamp, size } of listed) {
    const known = counts.get(entry.path);
    if (known || entry.change !== "untracked") {
      const { added = 0, removed = 0, binary = false } = known ?? {};
      files.push({ ...entry, added, removed, ...(binary ? { binary } : {}), stamp });
      continue;
    }
    const isRead = size !== undefined && size <= countedBytes && size <= left;
    if (isRead) left -= size;
    const read = isRead
      ? await countLines(path.join(top, entry.path))
      : { added: 0, binary: (size ?? 0) > largestFile };
    files.push({ ...entry, added: read.added, removed: 0, ...(read.binary ? { binary: true } : {}), stamp });
  }
  return files;
}

async function countLines(file: string): Promise<{ added: number; binary: boolean }> {
  const bytes = await readHead(file, countedBytes).catch(() => Buffer.alloc(0));
  if (bytes.subarray(0, 8_000).includes(0)) return { added: 0, binary: true };
  let added = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) added += 1;
  return { added: bytes.length > 0 && bytes.at(-1) !== 10 ? added + 1 : added, binary: false };
}

/** Never more than asked for, and never through a link. */
export async function readHead(file: string, most: number): Promise<Buffer> {
  const { constants } = await import("node:fs");
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(Math.min(most, (await handle.stat()).size));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Of files that are counted and not listed; new ones are not read for it. */
const unlisted = (
  found: readonly StatusEntry[],
  lines: ReadonlyMap<string, LineCounts>,
  field: "added" | "removed",
): number =>
  found.slice(maxFiles).reduce((total, { path: file }) => total + (lines.get(file)?.[field] ?? 0), 0);

const sum = (files: readonly DiffFile[], field: "added" | "removed"): number =>
  files.reduce((total, file) => total + file[field], 0);
