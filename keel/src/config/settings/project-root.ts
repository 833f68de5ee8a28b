/**
 * The root of the project in which somebody works: the nearest repository, else the folder itself. Trust is given to a
 * root, and a repository inside of another one is a root of its own. Only names are looked at; no file of it is read.
 */
import { lstatSync, realpathSync } from "node:fs";
import path from "node:path";
import { projectFolders } from "./paths.ts";

export type Project = {
  readonly root: string;
  /** From the working folder up to the root: where settings may stand, the nearest first. */
  readonly folders: readonly string[];
};

/** Deeper than any project; what is above is not looked at. */
const maxFolders = 64;

export function findProject(cwd: string): Project {
  const start = realOf(cwd);
  const folders: string[] = [];
  for (let at = start; folders.length < maxFolders; at = path.dirname(at)) {
    folders.push(at);
    if (isRepository(at)) return { root: at, folders };
    if (at === path.dirname(at)) break;
  }
  return { root: start, folders: [start] };
}

/** The folders of settings that a project has. Who works in the home folder has one set of files, and it is theirs. */
export function configFoldersIn({ folders }: Project, own: readonly string[]): string[] {
  return folders
    .flatMap((folder) => projectFolders.map((inner) => path.join(folder, inner)))
    .filter((place) => kindOf(place) !== "missing" && !own.some((mine) => realOf(mine) === realOf(place)));
}

/** Also a bare one, which is a repository to git wherever it stands. */
function isRepository(folder: string): boolean {
  const has = (name: string): boolean => kindOf(path.join(folder, name)) !== "missing";
  return has(".git") || (has("HEAD") && has("objects") && has("refs"));
}

/** What stands at a place itself, without following a link. Never throws. */
export function kindOf(place: string): "missing" | "link" | "directory" | "other" {
  try {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found) return "missing";
    return found.isSymbolicLink() ? "link" : found.isDirectory() ? "directory" : "other";
  } catch {
    // What may not be looked at is as good as not there.
    return "missing";
  }
}

/** The path itself when it does not exist, or may not be followed. */
export function realOf(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    return path.resolve(place);
  }
}
