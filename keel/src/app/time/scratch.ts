/**
 * A copy of a folder to try things in, which is gone afterwards, whatever ended the work: by its owner, or by the next who
 * makes one where that owner was killed. The folder itself is only read.
 */
import { constants, existsSync } from "node:fs";
import {
  copyFile,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import { isInside } from "../../kernel/path.ts";
import { gitIn } from "../../workspace/git/git.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";

const start = "keel-scratch-";

export type Scratch = AsyncDisposable & {
  readonly folder: string;
  /** Puts a file, by its path in the original; null: removes it. False where it is not in the folder. */
  put(file: string, content: Uint8Array | null): Promise<boolean>;
  /** Puts a file by its name in the folder. Throws `usage` for a name that leads out of it. */
  write(name: string, content: string): Promise<void>;
  /** A place beside the folder that goes with it. */
  beside(name: string): string;
};

export type ScratchWish = {
  /** Whose history the copy has, in a repository of its own without a way back: nothing there is written. */
  readonly historyOf?: string | undefined;
};

/** Of nothing: an empty folder. */
export async function openScratch(
  original: string | undefined,
  env: ProcessEnvironment,
  signal: AbortSignal,
  { historyOf }: ScratchWish = {},
): Promise<Scratch> {
  await sweep();
  const from = original === undefined ? "/case" : await realpath(original);
  const own = await mkdtemp(path.join(os.tmpdir(), `${start}${process.pid}-`));
  const folder = path.join(own, path.basename(from));
  const remove = (): Promise<void> => rm(own, { recursive: true, force: true, maxRetries: 3 });
  try {
    if (original === undefined) await mkdir(folder);
    else await copyTree(from, folder, env, signal);
    if (historyOf !== undefined) await copyHistory(historyOf, folder, env, signal);
  } catch (thrown) {
    await remove();
    throw thrown;
  }
  return {
    folder,
    async put(file, content) {
      const relative = path.relative(from, file);
      if (relative === "" || relative.startsWith("..") || path.isAbsolute(relative)) return false;
      const target = path.join(folder, relative);
      if (content === null) await rm(target, { force: true });
      else {
        await mkdir(path.dirname(target), { recursive: true });
        await writeFile(target, content);
      }
      return true;
    },
    async write(name, content) {
      const target = path.resolve(folder, name);
      if (!isInside(target, [folder])) throw fault("usage", { reason: `${name} is not in the folder.` });
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, content);
    },
    beside: (name) => path.join(own, `${path.basename(from)}.${name}`),
    [Symbol.asyncDispose]: remove,
  };
}

/** What git would not ignore, or everything without git; installed packages are linked, since they are large and only read. */
async function copyTree(
  from: string,
  to: string,
  env: ProcessEnvironment,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(to, { recursive: true });
  const listed = await gitIn({ cwd: from, env, maxBytes: 64 * 1024 * 1024 })(
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    signal,
  );
  if (listed.ok && !listed.cut) {
    for (const name of new Set(listed.text.split("\0").filter((each) => each !== ""))) {
      if (signal.aborted) throw fault("aborted");
      await copyOne(path.join(from, name), path.join(to, name));
    }
  } else await copyFolder(from, to);
  for (const name of linked)
    if (existsSync(path.join(from, name)) && !existsSync(path.join(to, name)))
      await symlink(path.join(from, name), path.join(to, name));
}

/** Where there is no repository, or git refuses, there is no history. */
async function copyHistory(
  from: string,
  to: string,
  env: ProcessEnvironment,
  signal: AbortSignal,
): Promise<void> {
  if (!existsSync(path.join(from, ".git"))) return;
  const draft = `${to}.history`;
  const made = await gitIn({ cwd: path.dirname(to), env, maxMs: 60_000 })(
    ["clone", "--quiet", "--shared", "--no-checkout", from, draft],
    signal,
  );
  if (!made.ok) return;
  await rename(path.join(draft, ".git"), path.join(to, ".git"));
  await rm(draft, { recursive: true, force: true });
  const git = gitIn({ cwd: to, env, maxMs: 60_000 });
  await git(["remote", "remove", "origin"], signal);
  await git(["reset", "--quiet"], signal);
}

const linked: readonly string[] = ["node_modules", ".venv", "vendor"];

function copyFolder(from: string, to: string): Promise<void> {
  const filter = (file: string): boolean => !linked.includes(path.basename(file));
  return cp(from, to, { recursive: true, filter, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
}

async function copyOne(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  // A repository in a repository is listed as one name.
  if ((await lstat(from).catch(() => undefined))?.isDirectory()) return copyFolder(from, to);
  const target = await readlink(from).catch(() => undefined);
  if (target !== undefined) return symlink(target, to);
  // A file that git still lists and somebody has removed.
  await copyFile(from, to, constants.COPYFILE_FICLONE).catch((thrown: unknown) => {
    if (existsSync(from)) throw thrown;
  });
}

/** What the copies of processes left that have ended. */
async function sweep(): Promise<void> {
  for (const name of await readdir(os.tmpdir())) {
    const owner = name.startsWith(start) ? Number(name.slice(start.length).split("-")[0]) : 0;
    if (owner > 0 && !isAlive(owner))
      await rm(path.join(os.tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // Somebody else's: not ours to judge.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
