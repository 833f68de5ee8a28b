/** Whether a program is the one of its name, and obeys nothing of the folder in which it runs. */
import { isInside } from "../../kernel/path.ts";
import type { ProgramSearch } from "../../ports/shell.ts";
import type { ShellScope } from "../meaning/path-scope.ts";
import type { PlaceDemand, ProgramContext } from "./outcome.ts";
import { bashBuiltin, type Obeys } from "./reader.ts";

/** What has to be looked at before it counts as that program; a sentence when nothing can be told. */
export function placeDemands(
  program: string,
  obeys: Obeys,
  { directories, world }: ProgramContext,
): readonly PlaceDemand[] | string {
  const { files = [], starts = [], variables = [] } = obeys;
  const leading = leadingVariable(variables, world);
  if (leading !== undefined) return `${leading} makes ${program} load something of the folder`;
  if (files.length > 0 && !world.isTrusted)
    return `files of a folder that is not trusted may replace or configure ${program}`;
  // Nobody looks for a builtin.
  const names = obeys === bashBuiltin ? [] : [program, ...starts];
  const searched = names.length === 0 ? [] : ownFolders(world);
  const isRelative = searched.some((folder) => !folder.startsWith("/"));
  if (!directories && (files.length > 0 || isRelative)) return `only the run knows where ${program} is found`;
  const because = `PATH leads into the folder, and ${program} may be a program of it`;
  const replacing = searched
    .flatMap((folder) =>
      folder.startsWith("/") ? [folder] : (directories ?? []).map((at) => `${at}/${folder}`),
    )
    .map((folder): PlaceDemand => ({ kind: "absent", folder, names, reach: "here", because }));
  const configuring = (files.length > 0 ? (directories ?? []) : []).map(
    (folder): PlaceDemand => ({
      kind: "absent",
      folder,
      names: files,
      reach: "up",
      because: `the folder says which ${program} runs, or what it loads`,
    }),
  );
  return [...replacing, ...configuring];
}

/** Variables that put code into every program, or into the shell that starts them. */
const puttingCode =
  /^(?:LD_(?:PRELOAD|LIBRARY_PATH|AUDIT)|DYLD_\w+|BASH_ENV|ENV|GCONV_PATH|LOCPATH|NLSPATH)$/;

/** Folders of PATH that are the workspace's, or that are meant from wherever a command runs. */
const ownFolders = ({ search, roots }: Pick<ShellScope, "search" | "roots">): string[] =>
  (search?.folders ?? []).filter((folder) => !folder.startsWith("/") || isInside(folder, roots));

/** The first of these variables whose value leads into a root, or is meant from wherever a command runs. */
function leadingVariable(names: readonly string[], { search, roots }: ShellScope): string | undefined {
  return Object.entries(search?.variables ?? {}).find(
    ([name, value]) => (puttingCode.test(name) || names.includes(name)) && leadsIn(name, value, roots),
  )?.[0];
}

/**
 * What of the search is the workspace's: all that a proof asks of it, without the values of variables, which may be
 * secret.
 */
export function ownSearch({ search, roots }: Pick<ShellScope, "search" | "roots">): {
  readonly folders: readonly string[];
  readonly variables: readonly string[];
} {
  const variables = Object.entries(search?.variables ?? {}).filter(([name, value]) =>
    leadsIn(name, value, roots),
  );
  return { folders: ownFolders({ search, roots }), variables: variables.map(([name]) => name) };
}

/** A search of which only that is known. */
export const searchOf = ({ folders, variables }: ReturnType<typeof ownSearch>): ProgramSearch => ({
  folders,
  // Wherever a command runs, this leads there.
  variables: Object.fromEntries(variables.map((name) => [name, "./"])),
});

function leadsIn(name: string, value: string, roots: readonly string[]): boolean {
  // An empty place in a list of folders is the folder of the run.
  if (value !== "" && /PATH$/.test(name) && value.split(":").includes("")) return true;
  return value.split(/[:;,\s=]+/).some((piece) => {
    if (piece.startsWith("/")) return isInside(piece, roots);
    return piece !== "" && (/^\.|\/|\.\w+$/.test(piece) || /(?:PATH|LIB|PRELOAD|ENV|AUDIT)$/.test(name));
  });
}
