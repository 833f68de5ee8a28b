/**
 * An opened directory in which a file is made or replaced. On Linux everything goes through the descriptor
 * (`/proc/self/fd/N/name`), so that a directory that is swapped for a link in the meantime changes nothing.
 */

import { type FileHandle, mkdir, rmdir } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";
import type { Refused } from "../../kernel/result.ts";
import { sayFileError } from "./file-errors.ts";
import { openDirectory, realPathOf } from "./opened.ts";

export type ParentDirectory = AsyncDisposable & {
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
        return { ok: false, why: sayFileError(thrown, existing) };
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
  return { ok: false, why };
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
