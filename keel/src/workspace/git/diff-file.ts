/** The hunks of one changed file, each under a name that its contents give it; and the same as patches, byte by byte. */
import { createHash } from "node:crypto";
import { lstat, readlink } from "node:fs/promises";
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import { no, type Refused } from "../../kernel/result.ts";
import type { FileDiff } from "../../protocol/workspace.ts";
import { type DiffPlace, largestFile, utf8 } from "./diff-place.ts";
import { baseOf, diffOf, readHead, readStatus, type StatusEntry, statusOf } from "./diff-summary.ts";

/** What is shown of one file at most. */
const maxLines = 5_000;
const maxShown = 1024 * 1024;

type Hunk = FileDiff["hunks"][number];
/** Where a hunk stands: in the index against the last commit, or in the work tree against the index. */
export type FilePatch = {
  readonly hunk: Hunk;
  /** The head of its file and the hunk, byte by byte. */
  readonly patch: string;
};

export type FileLook = {
  readonly ok: true;
  readonly entry: StatusEntry | undefined;
  readonly diff: FileDiff;
  readonly patches: readonly FilePatch[];
};

/** A file that has not changed, or lies elsewhere, is refused. */
export async function readFileDiff(
  place: DiffPlace,
  file: string,
  base?: string | undefined,
): Promise<FileLook | Refused> {
  const inside = whyOutside(place.top, file);
  if (inside !== undefined) return no(inside);
  const entry = await entryOf(place, file);
  const stamp = await stampOf(place, entry, file);
  if (entry?.change === "untracked") {
    const shown = await newFile(path.join(place.top, file), file);
    return { ok: true, entry, diff: { path: file, stamp, ...shown }, patches: [] };
  }
  const paths = [...(entry?.from === undefined ? [] : [entry.from]), file];
  const from = await baseOf(place, base);
  const [committed, staged, unstaged] = await Promise.all([
    place.head === undefined || from === place.head ? "" : patchText(place, [from, place.head], paths),
    patchText(place, place.head === undefined ? ["--cached"] : ["--cached", place.head], paths),
    patchText(place, [], paths),
  ]);
  const read = [
    ...hunksIn(committed, "committed"),
    ...hunksIn(staged, "staged"),
    ...hunksIn(unstaged, "unstaged"),
  ];
  const texts = [committed, staged, unstaged];
  if (texts.every((text) => text === "")) return no(`${file} has not changed.`);
  const isBinary = texts.some((text) => /^(?:Binary files|GIT binary patch)/m.test(text));
  const bounded = bound(read);
  const omitted = isBinary ? await whyBinary(path.join(place.top, file)) : bounded.omitted;
  const diff: FileDiff = {
    path: file,
    stamp,
    hunks: bounded.patches.map(({ hunk }) => hunk),
    ...(isBinary ? { binary: true } : {}),
    ...(omitted === undefined ? {} : { omitted }),
  };
  return { ok: true, entry, diff, patches: read };
}

function whyOutside(top: string, file: string): string | undefined {
  const at = path.resolve(top, file);
  if (file === "" || file.endsWith("/") || path.isAbsolute(file) || file.includes("\0"))
    return "This is no path of a file in the repository.";
  return isInside(at, [top]) && !isInside(at, [path.join(top, ".git")])
    ? undefined
    : "This is no path of a file in the repository.";
}

async function entryOf(place: DiffPlace, file: string): Promise<StatusEntry | undefined> {
  const look = async (...only: string[]): Promise<StatusEntry | undefined> => {
    const status = await place.git([...statusOf, "--untracked-files=all", ...only]);
    return status.ok ? readStatus(status.text).entries.find((entry) => entry.path === file) : undefined;
  };
  const found = await look("--", file);
  // Whether it was moved shows only beside the others.
  return found?.change === "added" ? look() : found;
}

async function stampOf(place: DiffPlace, entry: StatusEntry | undefined, file: string): Promise<string> {
  const stats = await lstat(path.join(place.top, file), { bigint: true }).catch(() => undefined);
  return `${entry?.index.slice(0, 12) ?? ""}.${stats ? `${stats.mtimeNs}.${stats.size}.${stats.mode}` : "none"}`;
}

async function patchText(
  place: DiffPlace,
  from: readonly string[],
  paths: readonly string[],
): Promise<string> {
  const diff = await place.git([...diffOf("-U3"), "-M", "--full-index", ...from, "--", ...paths]);
  return diff.ok ? diff.text : "";
}

/** Their state is part of their name: the same lines can be staged, and changed once more. */
function hunksIn(text: string, state: "committed" | "staged" | "unstaged"): FilePatch[] {
  const start = text.search(/^@@ /m);
  if (start === -1) return [];
  const head = text.slice(0, start);
  const seen = new Map<string, number>();
  return text
    .slice(start)
    .split(/^(?=@@ )/m)
    .map((hunk) => {
      const [first = "", ...lines] = hunk.replace(/\n$/, "").split("\n");
      const name = createHash("sha256")
        .update(`${state}\n${lines.join("\n")}`, "latin1")
        .digest("hex")
        .slice(0, 16);
      const before = seen.get(name) ?? 0;
      seen.set(name, before + 1);
      return {
        hunk: {
          id: before === 0 ? name : `${name}-${before}`,
          staged: state !== "unstaged",
          ...(state === "committed" ? { committed: true } : {}),
          head: utf8(first),
          lines: linesOf(first, lines),
        },
        patch: `${head}${hunk}`,
      };
    });
}

function linesOf(head: string, lines: readonly string[]): Hunk["lines"] {
  const [, oldStart = "1", newStart = "1"] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(head) ?? [];
  let before = Number(oldStart);
  let after = Number(newStart);
  return lines.flatMap((line): Hunk["lines"] => {
    const text = utf8(line.slice(1));
    if (line.startsWith("+")) return [{ kind: "added", after: after++, text }];
    if (line.startsWith("-")) return [{ kind: "removed", before: before++, text }];
    // "\ No newline at end of file" is no line.
    return line.startsWith("\\") ? [] : [{ kind: "same", before: before++, after: after++, text }];
  });
}

function bound(patches: readonly FilePatch[]): { patches: readonly FilePatch[]; omitted?: string } {
  let lines = 0;
  let size = 0;
  const fitting = patches.findIndex(({ hunk, patch }) => {
    lines += hunk.lines.length;
    size += patch.length;
    return lines > maxLines || size > maxShown;
  });
  if (fitting === -1) return { patches };
  return {
    patches: patches.slice(0, fitting),
    omitted: `${patches.length - fitting} of ${patches.length} changed places are left out: the file is too large to be shown whole.`,
  };
}

async function whyBinary(file: string): Promise<string | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  return stats && stats.size > largestFile ? sayTooLarge(stats.size) : undefined;
}

const sayTooLarge = (bytes: number): string =>
  `The file is ${(bytes / 1024 / 1024).toFixed(1)} MiB: it is too large to be compared line by line.`;

/** All of its lines are added. */
async function newFile(at: string, name: string): Promise<Pick<FileDiff, "hunks" | "binary" | "omitted">> {
  const stats = await lstat(at).catch(() => undefined);
  if (!stats) return { hunks: [], omitted: "The file is not there any more." };
  if (!stats.isFile() && !stats.isSymbolicLink()) return { hunks: [], omitted: "This is no ordinary file." };
  if (stats.size > largestFile) return { hunks: [], binary: true, omitted: sayTooLarge(stats.size) };
  const bytes = stats.isSymbolicLink()
    ? Buffer.from(await readlink(at))
    : await readHead(at, largestFile).catch(() => Buffer.alloc(0));
  if (bytes.subarray(0, 8_000).includes(0)) return { hunks: [], binary: true };
  const all = bytes.toString("utf8").replace(/\n$/, "").split("\n");
  const texts = bytes.length === 0 ? [] : all.slice(0, maxLines);
  const left = all.length - texts.length;
  const lines = texts.map((text, index) => ({
    kind: "added" as const,
    after: index + 1,
    text: text.slice(0, 10_000),
  }));
  const id = createHash("sha256").update(`${name}\0`).update(bytes).digest("hex").slice(0, 16);
  return {
    hunks: texts.length === 0 ? [] : [{ id, staged: false, head: `@@ -0,0 +1,${all.length} @@`, lines }],
    ...(texts.length > 0 && left > 0 ? { omitted: `${left} more lines are left out.` } : {}),
  };
}
