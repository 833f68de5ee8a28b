/**
 * Looks at the place where a command would run: which names stand there, and which repository git would find. Git walks
 * up from the real folder and takes the first `.git` or bare repository; so does this, with one difference: where git
 * would pass over something that is broken, this says that it stands there. Folders at which git stops (ceilings, other
 * file systems) are passed too: what lies behind them is then asked about, never used unasked.
 */
import { lstatSync, readFileSync, realpathSync, type Stats } from "node:fs";
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";
import { isInside } from "../../kernel/path.ts";
import type { CommandPlace, ProgramSearch, RepositoryFinding } from "../../ports/shell.ts";
import { commandEnvironment, type ProcessEnvironment } from "../processes/environment.ts";

export type PlaceOptions = {
  /** The project in which the session works, whose repository may act where it is trusted. */
  readonly project: string;
  readonly env: ProcessEnvironment;
};

export function nodeCommandPlace({ project, env }: PlaceOptions): CommandPlace {
  const root = realOf(project);
  let search: ProgramSearch | undefined;
  return {
    search: async () => {
      search ??= searchOf(env);
      return search;
    },
    find: async (folder, names, reach) => {
      // Some programs go by the name of the folder, others by where it really is.
      const starts = [...new Set([folder, realOf(folder)])];
      const folders = reach === "here" ? starts : starts.flatMap(upwards);
      const places = folders.flatMap((at) => names.map((name) => path.join(at, name)));
      return places.find((place) => standing(place) !== "nothing");
    },
    repository: async (folder) => {
      const own = ownOf(root);
      const named = env["GIT_DIR"] ?? env["GIT_COMMON_DIR"];
      if (named !== undefined) {
        const mark = path.resolve(folder, named);
        return own.kind === "own" && realOf(mark) === own.common && !env["GIT_COMMON_DIR"]
          ? { kind: "own" }
          : { kind: "planted", mark };
      }
      for (const at of upwards(realOf(folder))) {
        const found = at === root ? own : repositoryAt(at, own);
        if (found.kind !== "none") return found.kind === "own" ? { kind: "own" } : found;
      }
      return { kind: "none" };
    },
  };
}

/** What commands have of PATH and of other variables. */
function searchOf(env: ProcessEnvironment): ProgramSearch {
  const variables = commandEnvironment(env);
  const named = (variables["PATH"] ?? "").split(":").map((folder) => (folder === "" ? "." : folder));
  const folders = named.flatMap((folder) => (path.isAbsolute(folder) ? [folder, realOf(folder)] : [folder]));
  return { folders: [...new Set(folders)], variables };
}

type OwnRepository = { readonly kind: "own"; readonly common: string };
type Foreign = Exclude<RepositoryFinding, { kind: "own" }>;

/** The repository of the project itself: a `.git` that is a folder, or that git has made for a worktree or a submodule. */
function ownOf(root: string): OwnRepository | Foreign {
  const mark = path.join(root, ".git");
  const found = standing(mark);
  if (found === "nothing") return bareAt(root);
  if (found === "unknown") return { kind: "planted", mark };
  if (found.isDirectory())
    return isMainFolder(mark) ? { kind: "own", common: mark } : { kind: "planted", mark };
  const led = ledTo(root);
  // A folder of its own that it leads to may have come with it.
  return led && !isInside(led.common, [root])
    ? { kind: "own", common: led.common }
    : { kind: "planted", mark };
}

function repositoryAt(at: string, own: OwnRepository | Foreign): OwnRepository | Foreign {
  const mark = path.join(at, ".git");
  const found = standing(mark);
  if (found === "nothing") return bareAt(at);
  if (found === "unknown") return { kind: "planted", mark };
  if (found.isDirectory()) return { kind: isMainFolder(mark) ? "other" : "planted", mark };
  const led = ledTo(at);
  if (!led) return { kind: "planted", mark };
  return own.kind === "own" && led.common === own.common ? own : { kind: "other", mark };
}

/** Whatever is called HEAD may be that of a bare repository: the rest of it may come a moment later. */
function bareAt(at: string): Foreign {
  const mark = path.join(at, "HEAD");
  return standing(mark) === "nothing" ? { kind: "none" } : { kind: "planted", mark };
}

/** As `git init` and `git clone` make it: with a HEAD, and without a word that its settings lie elsewhere. */
const isMainFolder = (folder: string): boolean =>
  standing(path.join(folder, "HEAD")) !== "nothing" && standing(path.join(folder, "commondir")) === "nothing";

/**
 * Where a `.git` file leads, if that place knows of it: a worktree's folder names the file, a submodule's lies in the
 * repository above it. Anybody can write such a file; nobody but git writes the other end.
 */
function ledTo(at: string): { readonly common: string } | undefined {
  const file = path.join(at, ".git");
  const target = /^gitdir: (.+?)\s*$/.exec(firstLine(file) ?? "")?.[1];
  if (target === undefined) return undefined;
  const folder = realOf(path.resolve(at, target));
  const back = firstLine(path.join(folder, "gitdir"));
  const common = firstLine(path.join(folder, "commondir"));
  if (back !== undefined && common !== undefined)
    return realOf(path.resolve(folder, back)) === file
      ? { common: realOf(path.resolve(folder, common)) }
      : undefined;
  const isModule = upwards(path.dirname(at)).some((above) =>
    isInside(folder, [path.join(above, ".git", "modules")]),
  );
  return isModule && isMainFolder(folder) ? { common: folder } : undefined;
}

/** The longest path, with the word before it. */
const maxLine = 8_192;

/** Of a plain file that is as short as git's own; links are not followed. */
function firstLine(file: string): string | undefined {
  const found = standing(file);
  if (typeof found === "string" || !found.isFile() || found.size > maxLine) return undefined;
  try {
    return readFileSync(file, "utf8").split("\n", 1)[0];
  } catch {
    return undefined; // It cannot be read, so it leads nowhere.
  }
}

/** What stands at a place itself. A link stands there, wherever it leads; what may not be looked at may be anything. */
function standing(place: string): Stats | "nothing" | "unknown" {
  try {
    return lstatSync(place);
  } catch (thrown) {
    const code = codeOf(thrown);
    return code === "ENOENT" || code === "ENOTDIR" ? "nothing" : "unknown";
  }
}

/** The folder and every one above it, the nearest first. */
function upwards(folder: string): string[] {
  const folders = [folder];
  for (let at = folder; at !== path.dirname(at); ) {
    at = path.dirname(at);
    folders.push(at);
  }
  return folders;
}

/** As far as it exists: a folder that is made by the command itself lies below one that is there. */
function realOf(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    const above = path.dirname(place);
    return above === place ? place : path.join(realOf(above), path.basename(place));
  }
}
