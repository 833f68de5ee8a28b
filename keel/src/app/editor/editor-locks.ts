/**
 * Editors that run on this machine and let themselves be found: each has written a file `<port>.lock`, with the folders
 * that it has open and a token. A file counts if nobody else can read or have written it, and if the process that wrote
 * it still runs. What it says is data.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { asObject, parseJson } from "../../kernel/json.ts";
import { isInside } from "../../kernel/path.ts";
import { oneLine, shorten } from "../../kernel/text.ts";

export type EditorLock = {
  readonly port: number;
  readonly pid: number;
  readonly name: string;
  readonly folders: readonly string[];
  readonly token: string;
};

const maxBytes = 64 * 1024;
/** More than anybody has open; the rest is not looked at. */
const maxLocks = 100;
const maxName = 40;
/** Clocks of files and of processes are not read at one moment. */
const slackMs = 2_000;

/** Where editors write them: the folder of the field, and our own. */
export const lockFolders = (home: string, env: Readonly<Record<string, string | undefined>>): string[] => {
  const field = env["CLAUDE_CONFIG_DIR"] || (env["HOME"] ? path.join(env["HOME"], ".claude") : undefined);
  return [path.join(home, "ide"), ...(field === undefined ? [] : [path.join(field, "ide")])];
};

/** Those that run; a port stands for one editor, the first that is found. */
export async function runningEditors(folders: readonly string[]): Promise<EditorLock[]> {
  const found = new Map<number, EditorLock>();
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.sort().slice(0, maxLocks)) {
      const port = Number(/^(\d{1,5})\.lock$/.exec(name)?.[1]);
      if (!(port > 0 && port < 65_536) || found.has(port)) continue;
      const lock = await readLock(folder, { name, port }).catch(() => undefined);
      if (lock) found.set(port, lock);
    }
  }
  return [...found.values()];
}

/** Those that have the folder open, the nearest first; with how many are equally near. */
export async function editorsOf(
  cwd: string,
  running: readonly EditorLock[],
): Promise<{ readonly near: readonly EditorLock[]; readonly best: number }> {
  const place = await realOf(cwd);
  const fits = await Promise.all(
    running.map(async (lock) => {
      const folders = await Promise.all(lock.folders.map(realOf));
      const depth = Math.max(
        0,
        ...folders.filter((folder) => isInside(place, [folder])).map(({ length }) => length),
      );
      return { lock, depth };
    }),
  );
  const near = fits.filter(({ depth }) => depth > 0).sort((left, right) => right.depth - left.depth);
  const best = near.filter(({ depth }) => depth === near[0]?.depth).length;
  return { near: near.map(({ lock }) => lock), best };
}

const realOf = (folder: string): Promise<string> => realpath(folder).catch(() => path.resolve(folder));

async function readLock(
  folder: string,
  { name, port }: { name: string; port: number },
): Promise<EditorLock | undefined> {
  const around = await lstat(folder);
  if (!isOwn(around)) return undefined;
  // A link is not followed, and a pipe does not hang us.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using file = await open(path.join(folder, name), flags);
  const facts = await file.stat();
  if (!facts.isFile() || !isOwn(facts) || facts.size > maxBytes) return undefined;
  if (!isClosed(facts) && !isClosed(around)) return undefined;
  const lock = lockOf(await textOf(file), port);
  return lock && (await isRunning(lock.pid, facts.mtimeMs)) ? lock : undefined;
}

async function textOf(file: FileHandle): Promise<string> {
  const buffer = Buffer.alloc(maxBytes);
  const { bytesRead } = await file.read(buffer, 0, maxBytes, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

const isOwn = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();

/** Nobody else reads it: by its own mode, or because its folder lets nobody in. */
const isClosed = ({ mode }: Stats): boolean => process.getuid === undefined || (mode & 0o077) === 0;

function lockOf(text: string, port: number): EditorLock | undefined {
  const { pid, workspaceFolders, ideName, authToken, transport = "ws" } = asObject(parseJson(text));
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 1 || transport !== "ws")
    return undefined;
  if (typeof authToken !== "string" || !/^[\x21-\x7e]{8,500}$/.test(authToken)) return undefined;
  const folders = Array.isArray(workspaceFolders) ? workspaceFolders.filter(isAbsolute) : [];
  const name = typeof ideName === "string" ? shorten(oneLine(ideName), maxName).trim() : "";
  return { port, pid, name: name || "an editor", folders, token: authToken };
}

const isAbsolute = (value: unknown): value is string => typeof value === "string" && path.isAbsolute(value);

/** A process that began after the file was written is another one, which has got the number since. */
async function isRunning(pid: number, writtenAtMs: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const startedAtMs = await startOf(pid).catch(() => undefined);
  return startedAtMs === undefined || startedAtMs <= writtenAtMs + slackMs;
}

/** Undefined where the system does not say. */
async function startOf(pid: number): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const [own, all] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile("/proc/stat", "utf8"),
  ]);
  // The name of a program may hold anything, blanks and brackets too: what counts stands behind its last bracket.
  const ticks = Number(own.slice(own.lastIndexOf(")") + 2).split(" ")[19]);
  const bootSeconds = Number(/^btime (\d+)$/m.exec(all)?.[1]);
  const startedAt = (bootSeconds + ticks / 100) * 1_000;
  return Number.isFinite(startedAt) ? startedAt : undefined;
}
