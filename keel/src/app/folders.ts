/** The folders in which a session works. */
import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { Judged } from "../config/entries.ts";
import { type Environment, userHome } from "../config/paths.ts";
import { fault } from "../kernel/fault.ts";

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
}: {
  cwd: string;
  env: Environment;
  entries: readonly Judged[];
}): Folders {
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

const withHome = (place: string, env: Environment): string =>
  place === "~" || place.startsWith("~/") ? path.join(userHome(env), place.slice(1)) : place;

function realFolder(place: string): string | undefined {
  try {
    return statSync(place, { throwIfNoEntry: false })?.isDirectory() ? realpathSync(place) : undefined;
  } catch {
    // What may not be looked at cannot be worked in.
    return undefined;
  }
}
