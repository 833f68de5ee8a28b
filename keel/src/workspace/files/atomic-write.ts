/** Replaces one file in an opened directory: whole or not at all, and nothing is left behind on failure. */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import { codeOf } from "../../kernel/fault.ts";
import { sayFileError } from "./file-errors.ts";
import { openFile, readAtMost } from "./opened.ts";
import type { ParentDirectory } from "./parent.ts";
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
