/**
 * What a revert took away, so that it can be put back: the file as it stood in the work tree, and what the index had of
 * it. Kept outside of the repository, the newest only.
 */
import { randomBytes } from "node:crypto";
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { no, type Refused } from "../../kernel/result.ts";
import { type DiffPlace, isReallyInside } from "./diff-place.ts";

const text = z.string();
const keptFileSchema = z.object({
  path: text,
  /** How it stood there: its mode, where a link led, or nothing at all. */
  stood: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("file"), mode: z.number(), copy: text }),
    z.object({ kind: z.literal("link"), to: text }),
    z.object({ kind: z.literal("none") }),
  ]),
  /** As `git update-index --index-info` takes it; empty where the index had nothing. */
  index: text,
  /** What stands there after the revert: somebody who has changed it since does not lose that. */
  after: z.optional(text),
});
type KeptFile = z.infer<typeof keptFileSchema>;
const undoSchema = z.object({ top: text, at: z.number(), files: z.array(keptFileSchema) });

const maxKept = 50;
const largestKept = 64 * 1024 * 1024;

export type DiffCheckpoint = {
  readonly ok: true;
  /** The revert is done: from now on it can be taken back. Returns the name for that. */
  done(): Promise<string>;
  /** It is not: nothing of it stays. */
  drop(): Promise<void>;
};

/** Keeps files as they are now. A file that cannot be kept is not reverted. */
export async function checkpoint(
  place: DiffPlace,
  folder: string,
  paths: readonly string[],
): Promise<DiffCheckpoint | Refused> {
  const name = `${Date.now().toString(36)}-${randomBytes(4).toString("hex")}`;
  const home = path.join(folder, name);
  await mkdir(home, { recursive: true, mode: 0o700 });
  const files: KeptFile[] = [];
  const drop = (): Promise<void> => rm(home, { recursive: true, force: true });
  for (const [index, file] of paths.entries()) {
    const kept = await keep(place, { file, copy: path.join(home, String(index)) });
    if ("why" in kept) {
      await drop();
      return kept;
    }
    files.push(kept);
  }
  return {
    ok: true,
    drop,
    async done() {
      const seen = await Promise.all(
        files.map(async (kept) => ({ ...kept, after: await stampAt(path.join(place.top, kept.path)) })),
      );
      const undo = { top: place.top, at: Date.now(), files: seen };
      await writeFile(path.join(home, "undo.json"), JSON.stringify(undo), { mode: 0o600 });
      await prune(folder);
      return name;
    },
  };
}

/** Puts it back, once. */
export async function undo(
  place: DiffPlace,
  folder: string,
  name: string,
): Promise<Refused | { readonly ok: true }> {
  const home = path.join(folder, path.basename(name));
  const read = await readFile(path.join(home, "undo.json"), "utf8").catch(() => undefined);
  if (read === undefined) return no("There is nothing to put back under this name any more.");
  const { top, files } = undoSchema.parse(JSON.parse(read));
  if (top !== place.top) return no("It belongs to another repository.");
  for (const { path: file, after } of files)
    if ((await stampAt(path.join(top, file))) !== after)
      return no(`${file} has been changed since: what it holds now would be lost.`);
  for (const { path: file } of files)
    if (!(await isReallyInside(top, file))) return no(`${file} leads out of the repository.`);
  for (const file of files) await putBack(home, top, file);
  const wanted = files.map((file) => file.index || `0 ${"0".repeat(40)}\t${file.path}\0`).join("");
  // Byte by byte, as everything that git is given.
  const indexed = await place.git(
    ["update-index", "-z", "--index-info"],
    Buffer.from(wanted).toString("latin1"),
  );
  if (!indexed.ok) return no(`The files are back, the index is not: ${indexed.why}`);
  await rm(home, { recursive: true, force: true });
  return { ok: true };
}

async function keep(
  place: DiffPlace,
  { file, copy }: { file: string; copy: string },
): Promise<KeptFile | Refused> {
  const at = path.join(place.top, file);
  if (!(await isReallyInside(place.top, file))) return no(`${file} leads out of the repository.`);
  const stats = await lstat(at).catch(() => undefined);
  const listed = await place.git(["ls-files", "--stage", "-z", "--", file]);
  if (!listed.ok) return listed;
  const index = Buffer.from(listed.text, "latin1").toString("utf8");
  if (!stats) return { path: file, stood: { kind: "none" }, index };
  if (stats.isSymbolicLink()) return { path: file, stood: { kind: "link", to: await readlink(at) }, index };
  if (!stats.isFile()) return no(`${file} is no ordinary file.`);
  if (stats.size > largestKept)
    return no(`${file} is too large to be kept, so it is not reverted here. A terminal can do it.`);
  await copyFile(at, copy);
  await chmod(copy, 0o600);
  return { path: file, stood: { kind: "file", mode: stats.mode & 0o777, copy: path.basename(copy) }, index };
}

async function putBack(home: string, top: string, { path: file, stood }: KeptFile): Promise<void> {
  const at = path.join(top, file);
  await unlink(at).catch(() => undefined); // It need not be there.
  if (stood.kind === "none") return;
  await mkdir(path.dirname(at), { recursive: true });
  if (stood.kind === "link") return symlink(stood.to, at);
  await copyFile(path.join(home, path.basename(stood.copy)), at);
  await chmod(at, stood.mode);
}

const stampAt = async (at: string): Promise<string> => {
  const stats = await lstat(at, { bigint: true }).catch(() => undefined);
  return stats ? `${stats.mtimeNs}.${stats.size}.${stats.mode}` : "none";
};

async function prune(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).sort();
  for (const old of names.slice(0, Math.max(0, names.length - maxKept)))
    await rm(path.join(folder, old), { recursive: true, force: true });
}
