/**
 * The few operations on files that a log needs, as an interface: tests see the order of calls and fail any one of them.
 * Every failure is thrown as Node throws it, with its `code`.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  writeSync,
} from "node:fs";
import { chmod, lstat, mkdir, open, readdir, realpath, rename, rm, unlink } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";

/** An open file. Reads and writes name their position; nothing depends on a cursor. */
export interface OpenFile extends AsyncDisposable {
  /** Fills the buffer from `position`; fewer bytes than asked for only at the end of the file. */
  read(buffer: Buffer, position: number): Promise<number>;
  /** One system call: may write fewer bytes than given. */
  write(bytes: Buffer, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Everything written so far is on disk when it resolves. */
  datasync(): Promise<void>;
  facts(): Promise<FileFacts>;
  close(): Promise<void>;
}

export type FileFacts = {
  readonly kind: "file" | "directory" | "link" | "other";
  readonly bytes: number;
  readonly changedAt: number;
  /** Under how many names the file stands: 0 once it was removed. */
  readonly names: number;
};

export type ReadableNow = Pick<OpenFile, "read"> & Disposable;

/** `read` and `write` need an existing file and follow no link; `create` needs a free name and makes it private. */
export type OpenFor = "read" | "write" | "create";

export interface FileLayer {
  open(path: string, how: OpenFor): Promise<OpenFile>;
  /** With every missing parent, each private. Resolves to the first that was missing. */
  makeDirectory(path: string): Promise<string | undefined>;
  /** Makes a new, renamed or removed name in the directory durable. */
  syncDirectory(path: string): Promise<void>;
  /** Of the name itself: a link is not followed. */
  facts(path: string): Promise<FileFacts>;
  /** As `facts`, for whoever asks of very many: a thread for each would take five times as long. */
  factsNow(path: string): FileFacts;
  /** As `open` for reading, for whoever reads a little of very many. */
  openNow(path: string): ReadableNow;
  names(directory: string): Promise<string[]>;
  rename(from: string, to: string): Promise<void>;
  makePrivate(path: string): Promise<void>;
  remove(path: string): Promise<void>;
  removeTree(path: string): Promise<void>;
  realPath(path: string): Promise<string>;
  namesNow(directory: string): string[];
  existsNow(path: string): boolean;
}

const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
const SHORT_WRITE_BYTES = 64 * 1024;

/** The real files. */
export function nodeFiles(): FileLayer {
  return {
    open: openFile,
    makeDirectory: (path) => mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY }),
    syncDirectory,
    facts: async (path) => factsOf(await lstat(path)),
    factsNow: (path) => factsOf(lstatSync(path)),
    openNow,
    names: (directory) => readdir(directory),
    rename,
    makePrivate: (path) => chmod(path, PRIVATE_FILE),
    remove: unlink,
    removeTree: (path) => rm(path, { recursive: true, force: true }),
    realPath: (path) => realpath(path),
    namesNow: (directory) => readdirSync(directory),
    existsNow: existsSync,
  };
}

/** As `makeDirectory`, and its name and those of its new parents are on disk: what stands in it can be found again. */
export async function makeDurableDirectory(files: FileLayer, directory: string): Promise<void> {
  const { durable } = await makeDirectoryNow(files, directory);
  await durable;
}

/** The same for who has work for the time until it is on disk. All names at once: the disk does them in one go. */
export async function makeDirectoryNow(
  files: FileLayer,
  directory: string,
): Promise<{ readonly durable: Promise<unknown> }> {
  const first = await files.makeDirectory(directory);
  const durable = Promise.all(namesAbove(directory, first).map((parent) => files.syncDirectory(parent)));
  // Told to whoever waits for it.
  durable.catch(() => undefined);
  return { durable };
}

/** Where the names of a folder and of its parents stand, up to the first that was missing. */
function namesAbove(directory: string, first: string | undefined): string[] {
  if (first === undefined) return [];
  const above: string[] = [];
  for (let at = directory; at.length >= first.length && at !== path.dirname(at); at = path.dirname(at))
    above.push(path.dirname(at));
  return above;
}

/** Writes every byte, however few the disk takes at a time. */
export async function writeAll(file: OpenFile, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const written = await file.write(bytes.subarray(done), position + done);
    if (written === 0) throw new Error("the disk takes no more bytes");
    done += written;
  }
}

/** Makes a file under the first name that is free, and returns that. Half a file would be taken for a whole one: it goes. */
export async function createWhole(
  files: FileLayer,
  names: Iterable<string>,
  fill: (file: OpenFile) => Promise<void>,
): Promise<string> {
  let taken: unknown;
  for (const name of names) {
    try {
      await using file = await files.open(name, "create");
      try {
        await fill(file);
        return name;
      } catch (thrown) {
        await files.remove(name).catch(() => undefined);
        throw thrown;
      }
    } catch (thrown) {
      if (codeOf(thrown) !== "EEXIST") throw thrown;
      taken = thrown;
    }
  }
  throw taken;
}

export const isMissing = (thrown: unknown): boolean => codeOf(thrown) === "ENOENT";

// A pipe in the place of a log must not hang the opener; O_NOFOLLOW and O_NONBLOCK do not exist on Windows.
const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const flags: Record<OpenFor, number> = {
  read: constants.O_RDONLY | careful,
  write: constants.O_RDWR | careful,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | careful,
};

async function openFile(path: string, how: OpenFor): Promise<OpenFile> {
  const handle = await open(path, flags[how], PRIVATE_FILE);
  return {
    read: async (buffer, position) => {
      let filled = 0;
      while (filled < buffer.length) {
        const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled;
    },
    // A short one goes into the memory of the kernel at once; what takes time is to have it on disk.
    write: async (bytes, position) =>
      bytes.length <= SHORT_WRITE_BYTES
        ? writeSync(handle.fd, bytes, 0, bytes.length, position)
        : (await handle.write(bytes, 0, bytes.length, position)).bytesWritten,
    truncate: (length) => handle.truncate(length),
    datasync: () => handle.datasync(),
    // Asked before every write. The kernel knows it of an open file; a thread would only make the answer wait.
    facts: async () => factsOf(fstatSync(handle.fd)),
    close: () => handle.close(),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

function openNow(path: string): ReadableNow {
  const file = openSync(path, flags.read);
  return {
    async read(buffer, position) {
      let filled = 0;
      while (filled < buffer.length) {
        const bytes = readSync(file, buffer, filled, buffer.length - filled, position + filled);
        if (bytes === 0) break;
        filled += bytes;
      }
      return filled;
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

async function syncDirectory(path: string): Promise<void> {
  // Windows keeps names durable by itself and refuses to open a directory.
  if (process.platform === "win32") return;
  await using handle = await open(path, constants.O_RDONLY);
  await handle.sync();
}

const factsOf = (stats: Stats): FileFacts => ({
  kind: stats.isSymbolicLink()
    ? "link"
    : stats.isFile()
      ? "file"
      : stats.isDirectory()
        ? "directory"
        : "other",
  bytes: stats.size,
  changedAt: stats.mtimeMs,
  names: stats.nlink,
});
