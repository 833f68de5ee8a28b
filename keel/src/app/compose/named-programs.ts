/**
 * What a session's settings name as programs: the files of hooks, servers and checkers, the folders of plugins, and the
 * files that settings were given in. Whoever writes there writes what runs next, so policy knows them by their paths.
 */
import path from "node:path";
import type { Plugin } from "../../config/definitions/plugins.ts";
import { baseOf, commandWords, filesNamed, waysTo } from "../../config/settings/command-lines.ts";
import type { JudgedEntry } from "../../config/settings/entries.ts";
import { type EnvironmentVariables, userHome } from "../../config/settings/paths.ts";

/** More than settings name; what is beyond is told nobody apart. */
const maxPaths = 500;

export function namedPrograms({
  entries,
  servers,
  plugins,
  cwd,
  root,
  env,
}: {
  entries: readonly JudgedEntry[];
  /** Those that the host names. */
  servers: Readonly<Record<string, unknown>>;
  plugins: readonly Pick<Plugin, "name" | "path">[];
  cwd: string;
  root: string;
  env: EnvironmentVariables;
}): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  const add = (place: string, by: string): void => {
    for (const way of waysTo(place)) if (named.size < maxPaths && !named.has(way)) named.set(way, by);
  };
  const addFiles = (
    entry: Pick<JudgedEntry, "path" | "value">,
    bases: readonly string[],
    by: string,
  ): void => {
    const places = { bases: [...new Set(bases)], home: userHome(env), project: cwd };
    for (const file of filesNamed(commandWords(entry), places)) add(file, by);
  };
  for (const entry of entries) {
    if (entry.state.kind !== "counts") continue;
    const [group = "", name = ""] = entry.path;
    const where = entry.file === undefined ? "" : ` of ${entry.file}`;
    addFiles(entry, [baseOf(entry) ?? cwd, cwd, root], `the setting ${group}${name && `.${name}`}${where}`);
    if (entry.source === "flags" && entry.file !== undefined)
      add(path.resolve(cwd, entry.file), "the option --settings");
  }
  for (const [name, value] of Object.entries(servers))
    addFiles({ path: ["mcpServers", name], value }, [cwd], `the MCP server ${name}`);
  for (const plugin of plugins) add(plugin.path, `the list of plugins (${plugin.name})`);
  return named;
}
