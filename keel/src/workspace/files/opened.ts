/** Opening a file without ever waiting for one, and asking the opened object what it is. */
import { constants, fstatSync, read, readlinkSync, readSync } from "node:fs";
import { type FileHandle, lstat, open, realpath, statfs } from "node:fs/promises";
import { promisify } from "node:util";

/** An open file, by whatever it was opened. */
export type Opened = Pick<FileHandle, "fd">;

/** `f_type` of procfs on Linux. */
const procfs = 0x9fa0;

/** How much is asked for at once behind the size that a file had when it was opened. */
const growthBytes = 65_536;
const maxShortBytes = 65_536;

const readInThread = promisify(read);

/** A pipe without a writer does not block, a terminal is not taken over, a link is not followed. */
export const readingFlags =
  constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

export function openFile(path: string): Promise<FileHandle> {
  return open(path, readingFlags);
}

/** Opens a directory to work in; a link in its place is refused. */
export function openDirectory(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/** Where the opened object is now, as the kernel knows it. Undefined when the name means something else by now. */
export async function realPathOf(file: Opened, name: string): Promise<string | undefined> {
  try {
    return readlinkSync(`/proc/self/fd/${file.fd}`); // Of procfs, which never makes anybody wait.
  } catch {
    return await pathByIdentity(file, name); // No procfs here: compare what the name leads to.
  }
}

/** Files of procfs say that they are regular and empty; some of them never end. It may be mounted anywhere. */
export async function isKernelText(file: Opened): Promise<boolean> {
  try {
    return (await statfs(`/proc/self/fd/${file.fd}`)).type === procfs;
  } catch {
    return false; // Without /proc there is no procfs to be afraid of.
  }
}

/** The whole content, or undefined when there is more than `maxBytes`: a file may grow while it is read. */
export async function readAtMost(
  file: Opened,
  { sizeBytes, maxBytes }: { sizeBytes: number; maxBytes: number },
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for (let room = new Uint8Array(sizeBytes + 1); ; room = new Uint8Array(growthBytes)) {
    // What is short is read sooner than a thread would wake up for it; it was looked at a moment ago, so it is there.
    const bytesRead =
      room.length <= maxShortBytes
        ? readSync(file.fd, room, 0, room.length, null)
        : (await readInThread(file.fd, room, 0, room.length, null)).bytesRead;
    total += bytesRead;
    if (total > maxBytes) return undefined;
    // A regular file gives what is asked for, unless it ends.
    if (bytesRead < room.length) return joined(parts, room.subarray(0, bytesRead));
    parts.push(room);
  }
}

function joined(parts: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  return parts.length === 0 ? last : Buffer.concat([...parts, last]);
}

async function pathByIdentity(file: Opened, name: string): Promise<string | undefined> {
  const real = await realpath(name);
  const [opened, named] = [fstatSync(file.fd), await lstat(real)];
  return opened.dev === named.dev && opened.ino === named.ino ? real : undefined;
}
