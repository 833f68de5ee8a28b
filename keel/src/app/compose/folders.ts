/** The folders in which a session works. */
import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { JudgedEntry } from "../../config/settings/entries.ts";
import { type EnvironmentVariables, userHome } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";

export type Folders = {
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly problems: readonly string[];
};

/** Throws `usage` for a folder that was named at the start and is none; one of a file is told and left out. */
export function foldersOf({
  cwd: given,
  env,
  entries,
}: SettingsLocation & { entries: readonly JudgedEntry[] }): Folders {
  const cwd = realFolder(given);
  if (cwd === undefined) throw fault("usage", { reason: `${given} is not a folder.` });
  const roots = new Set([cwd]);
  const problems: string[] = [];
  for (const { path: parts, value, source, file, state } of entries.toReversed()) {
    if (parts.join(".") !== "permissions.additionalDirectories" || state.kind !== "counts") continue;
    const folder = realFolder(path.resolve(cwd, withHome(String(value), env)));
    if (folder !== undefined) roots.add(folder);
    else if (source === "command-line") throw fault("usage", { reason: `${value} is not a folder.` });
    else problems.push(`${file}: ${value} is not a folder and was left out.`);
  }
  return { cwd, roots: [...roots], problems };
}

/** Folders that come and go while a session works; its working folder stays. */
export type LiveFolders = {
  readonly cwd: string;
  /** All that are worked in now, without links in their paths. */
  readonly roots: readonly string[];
  /** For as long as this process has the session open. */
  change(change: "add" | "remove", folders: readonly string[]): void;
  /** Folders that the session itself has learnt, as its log has them. */
  follow(learnt: () => readonly string[]): void;
};

export function liveFolders({ cwd, roots: given }: Folders, env: EnvironmentVariables): LiveFolders {
  let fixed = [...given];
  let learnt: () => readonly string[] = () => [];
  // What a link leads to when its folder is named counts: it may lead elsewhere later.
  const known = new Map<string, string | undefined>();
  const real = (folder: string): string[] => {
    if (!known.has(folder)) known.set(folder, realFolder(path.resolve(cwd, withHome(folder, env))));
    const found = known.get(folder);
    return found === undefined ? [] : [found];
  };
  return {
    cwd,
    get roots() {
      const more = learnt();
      return more.length === 0 ? fixed : [...new Set([...fixed, ...more.flatMap(real)])];
    },
    change(change, folders) {
      const named = folders.flatMap(real);
      fixed =
        change === "add"
          ? [...new Set([...fixed, ...named])]
          : fixed.filter((root) => root === cwd || !named.includes(root));
    },
    follow(folders) {
      learnt = folders;
    },
  };
}

export const withHome = (place: string, env: EnvironmentVariables): string =>
  place === "~" || place.startsWith("~/") ? path.join(userHome(env), place.slice(1)) : place;

/** Undefined for what is no folder. */
export function realFolder(place: string): string | undefined {
  try {
    return statSync(place, { throwIfNoEntry: false })?.isDirectory() ? realpathSync.native(place) : undefined;
  } catch {
    // What may not be looked at cannot be worked in.
    return undefined;
  }
}
