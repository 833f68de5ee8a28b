/** Replaces one file in an opened directory: whole or not at all, and nothing is left behind on failure. */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, link, lstat, mkdir, open, rename, rmdir, unlink } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";
import { no, type Refused } from "../../kernel/result.ts";
import { sayFileError } from "./file-errors.ts";
import { openDirectory, openFile, readAtMost, realPathOf } from "./opened.ts";
import type { Stamps } from "./stamps.ts";

type FileReplacement = {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly basis: { stamp: string | null } | undefined;
  readonly stamps: Stamps;
};

/** Returns why not, or nothing when it is done. */
export async function replaceFile(
  parent: ParentDirectory,
  { name, bytes, basis, stamps }: FileReplacement,
): Promise<string | undefined> {
  const target = parent.child(name);
  // Nobody can guess the name, and O_EXCL refuses whatever stands there already.
  const temporary = parent.child(`.keel-${randomBytes(12).toString("hex")}`);
  try {
    const old = await statIfAny(target);
    if (old && !old.isFile()) return `${name} is not a regular file any more.`;
    if (old && !(await isWritable(target))) return `${name} is read-only.`;
    await fill(temporary, { bytes, old });
    const why =
      (await whyChanged(target, { name, basis, stamps })) ??
      (await publish(temporary, { target, name, basis }));
    if (why !== undefined) await unlink(temporary);
    else if (!(await parent.isInPlace())) return await takeBack(target, old);
    return why;
  } catch (thrown) {
    await unlink(temporary).catch(() => undefined); // It may not have been made at all.
    return sayFileError(thrown, name);
  }
}

async function fill(
  temporary: string,
  { bytes, old }: { bytes: Uint8Array; old: Stats | undefined },
): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  // A new file gets the rights that the user's mask gives; a copy of an old one is private until it has the old ones.
  await using file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, old ? 0o600 : 0o666);
  await file.writeFile(bytes);
  if (old) await keepRights(file, old);
  await file.sync();
}

async function keepRights(file: FileHandle, old: Stats): Promise<void> {
  const fresh = await file.stat();
  // Giving a file to its former owner is a right that an ordinary user has not: then it becomes ours.
  if (fresh.uid !== old.uid || fresh.gid !== old.gid)
    await file.chown(old.uid, old.gid).catch(() => undefined);
  await file.chmod(old.mode & 0o7777);
}

async function whyChanged(
  target: string,
  { name, basis, stamps }: Omit<FileReplacement, "bytes">,
): Promise<string | undefined> {
  if (basis === undefined || basis.stamp === null) return undefined;
  const now = await stampIfAny(target, stamps);
  return now === basis.stamp
    ? undefined
    : `${name} was changed by somebody else at this moment; nothing was written.`;
}

async function publish(
  temporary: string,
  { target, name, basis }: Pick<FileReplacement, "name" | "basis"> & { target: string },
): Promise<string | undefined> {
  if (basis?.stamp !== null) {
    await rename(temporary, target);
    return undefined;
  }
  try {
    await link(temporary, target); // Unlike a rename, this fails when somebody was quicker.
    await unlink(temporary);
    return undefined;
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST")
      return `${name} was made by somebody else at this moment; nothing was written.`;
    await rename(temporary, target); // This file system has no hard links.
    return undefined;
  }
}

async function takeBack(target: string, old: Stats | undefined): Promise<string> {
  if (!old) await unlink(target).catch(() => undefined);
  return "The directory was moved while the file was written. Look where it is and try again.";
}

async function statIfAny(target: string): Promise<Stats | undefined> {
  return await lstat(target).catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  });
}

async function stampIfAny(target: string, stamps: Stamps): Promise<string | undefined> {
  try {
    await using file = await openFile(target);
    const { size } = await file.stat();
    const bytes = await readAtMost(file, { sizeBytes: size, maxBytes: size });
    return bytes && stamps.ofBytes(bytes);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

async function isWritable(target: string): Promise<boolean> {
  return await access(target, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/**
 * An opened directory in which a file is made or replaced. On Linux everything goes through the descriptor
 * (`/proc/self/fd/N/name`), so that a directory that is swapped for a link in the meantime changes nothing.
 */
type ParentDirectory = AsyncDisposable & {
  /** The path under which a name in this directory is reached. */
  child(name: string): string;
  /** Whether the directory is still where it was. */
  isInPlace(): Promise<boolean>;
  /** Takes back the directories that were made for this file. */
  undo(): Promise<void>;
};

type OpenedParent = { readonly ok: true; readonly directory: ParentDirectory } | Refused;

/** Opens `target`, which must pass no link, and makes what is missing of it. */
export async function openParent(target: string): Promise<OpenedParent> {
  const missing: string[] = [];
  for (let existing = target; ; existing = path.dirname(existing)) {
    try {
      const handle = await openDirectory(existing);
      return await descend({ handle, at: existing, missing, made: [] });
    } catch (thrown) {
      if (codeOf(thrown) !== "ENOENT" || existing === path.dirname(existing))
        return no(sayFileError(thrown, existing));
      missing.unshift(path.basename(existing));
    }
  }
}

type ParentStep = {
  readonly handle: FileHandle;
  readonly at: string;
  readonly missing: readonly string[];
  /** The directories that were made, each with the way to it through its parent. */
  readonly made: readonly Made[];
};
type Made = { readonly parent: FileHandle; readonly way: string };

async function descend({ handle, at, missing, made }: ParentStep): Promise<OpenedParent> {
  const [name, ...rest] = missing;
  const parent = parentOf({ handle, at, made });
  if (!(await parent.isInPlace()))
    return await giveUp(parent, `${at} was moved while it was opened. Try again.`);
  if (name === undefined) return { ok: true, directory: parent };
  const way = parent.child(name);
  let fresh = false;
  try {
    fresh = await makeDirectory(way);
    const child = await openDirectory(way);
    const all = fresh ? [...made, { parent: handle, way }] : made;
    if (!fresh) await handle.close();
    return await descend({ handle: child, at: path.join(at, name), missing: rest, made: all });
  } catch (thrown) {
    if (fresh) await rmdir(way).catch(ignore);
    return await giveUp(parent, sayFileError(thrown, path.join(at, name)));
  }
}

async function giveUp(parent: ParentDirectory, why: string): Promise<OpenedParent> {
  await parent.undo();
  await parent[Symbol.asyncDispose]();
  return no(why);
}

function parentOf({ handle, at, made }: Omit<ParentStep, "missing">): ParentDirectory {
  return {
    child: (name) => reach(handle, at, name),
    isInPlace: async () => (await realPathOf(handle, at).catch(() => undefined)) === at,
    undo: async () => {
      for (const { way } of made.toReversed()) await rmdir(way).catch(ignore);
    },
    [Symbol.asyncDispose]: async () => {
      await handle.close();
      for (const { parent } of made) await parent.close().catch(ignore);
    },
  };
}

async function makeDirectory(way: string): Promise<boolean> {
  try {
    await mkdir(way);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return false;
    throw thrown;
  }
}

/** Only Linux lets a path go on behind a descriptor. */
const reach = (handle: FileHandle, at: string, name: string): string =>
  process.platform === "linux" ? `/proc/self/fd/${handle.fd}/${name}` : path.join(at, name);

/** Somebody else has put something into the directory, or taken it away: then it is not ours to remove. */
const ignore = (): void => undefined;
