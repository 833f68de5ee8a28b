/** The plugins that a person has added: shown before they are, listed, and removed. */
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { readLibraryFiles } from "../../config/definitions/library-files.ts";
import { type AddedPlugin, changePluginList, readPluginList } from "../../config/definitions/plugin-list.ts";
import { type Plugin, readPlugin } from "../../config/definitions/plugins.ts";
import { pathsOf } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import { programs } from "../../workspace/processes/program.ts";
import { homeResources } from "../compose/home-resources.ts";
import { fetchPlugin, sourceOf } from "./fetch-plugin.ts";
import type { SettingsLocation } from "./settings-files.ts";
import { settingsLock } from "./settings-lock.ts";

/** What a plugin brings, for a person to read before they say yes. */
export type PluginReport = Pick<Plugin, "name" | "path" | "version" | "description"> & {
  readonly from: string;
  readonly commands: readonly string[];
  readonly skills: readonly string[];
  readonly agents: readonly string[];
  readonly styles: readonly string[];
  /** The programs that its hooks run, by point. */
  readonly hooks: readonly string[];
  readonly servers: readonly string[];
  /** The file of its program. It is not run to find out what it brings. */
  readonly extension: readonly string[];
  readonly problems: readonly string[];
};

export type Offered = {
  readonly report: PluginReport;
  /** Adds it, in the place of one with the same name. */
  accept(): Promise<void>;
  /** Leaves nothing behind. */
  refuse(): Promise<void>;
};

/** Reads or fetches it and adds nothing yet. Throws `usage` for what is no plugin. */
export async function offerPlugin(
  place: SettingsLocation,
  given: string,
  signal: AbortSignal,
): Promise<Offered> {
  const source = sourceOf(given);
  const fetched = source.kind === "folder" ? undefined : await fetchGuarded(source, place, signal);
  const refuse = async (): Promise<void> => fetched?.drop();
  const folder = source.kind === "folder" ? path.resolve(place.cwd, source.path) : (fetched?.path ?? "");
  const read = await readPlugin(folder);
  if (!read.ok) {
    await refuse();
    throw fault("usage", { reason: read.why });
  }
  const from = source.kind === "folder" ? read.plugin.path : given;
  return {
    report: await reportOf(read.plugin, { from, problems: read.problems }),
    refuse,
    async accept() {
      const { name } = read.plugin;
      const kept = fetched ? await fetched.keep(name) : read.plugin.path;
      await change(place, (plugins) => [
        ...plugins.filter((plugin) => plugin.name !== name),
        { name, path: kept, from },
      ]);
    },
  };
}

async function fetchGuarded(
  source: Parameters<typeof fetchPlugin>[0],
  place: SettingsLocation,
  signal: AbortSignal,
) {
  const home = homeResources(pathsOf(place).home);
  try {
    const run = programs({ env: place.env, guard: await home.guard(place.env, {})() });
    return await fetchPlugin(source, { run, folder: path.join(home.path, "plugins"), signal });
  } finally {
    await home.close();
  }
}

export async function listPlugins(
  place: SettingsLocation,
): Promise<readonly (PluginReport | (AddedPlugin & { why: string }))[]> {
  const added = await readPluginList(pathsOf(place).home);
  return Promise.all(
    added.map(async (plugin) => {
      const read = await readPlugin(plugin.path);
      if (!read.ok) return { ...plugin, why: read.why };
      return reportOf(read.plugin, { from: plugin.from ?? plugin.path, problems: read.problems });
    }),
  );
}

/** False when there is none. What was fetched is deleted; a folder of the person's own stays. */
export async function removePlugin(place: SettingsLocation, name: string): Promise<boolean> {
  const { home } = pathsOf(place);
  const found = (await readPluginList(home)).find((plugin) => plugin.name === name);
  if (!found) return false;
  await change(place, (plugins) => plugins.filter((plugin) => plugin.name !== name));
  if (found.path === path.join(home, "plugins", name)) await rm(found.path, { recursive: true, force: true });
  return true;
}

const change = (
  place: SettingsLocation,
  how: (plugins: readonly AddedPlugin[]) => readonly AddedPlugin[],
): Promise<void> => {
  const paths = pathsOf(place);
  return changePluginList({ home: paths.home, lock: settingsLock(paths) }, how);
};

async function reportOf(
  plugin: Plugin,
  { from, problems }: { from: string; problems: readonly string[] },
): Promise<PluginReport> {
  const { name, path: root, version, description } = plugin;
  const folder = {
    ...({ source: "plugin", compatible: false, trusted: true, plugin: name } as const),
    within: root,
  };
  const found = await readLibraryFiles((kind) => [{ ...folder, path: path.join(root, kind) }]);
  const names = (files: readonly { name: string }[]): string[] => files.map((file) => file.name);
  return {
    name,
    path: root,
    version,
    description,
    from,
    commands: names(found.commands),
    skills: names(found.skills),
    agents: names(found.agents),
    styles: names(found.styles),
    hooks: Object.entries(plugin.hooks).flatMap(([point, groups]) =>
      groups.flatMap(({ hooks }) => hooks.map((hook) => `${point}: ${hook.command ?? JSON.stringify(hook)}`)),
    ),
    servers: Object.entries(plugin.mcpServers).map(([server, how]) => `${server}: ${JSON.stringify(how)}`),
    extension: await sayExtension(plugin),
    problems: [...problems, ...found.problems],
  };
}

async function sayExtension({ extension, path: root }: Plugin): Promise<string[]> {
  if (extension === undefined) return [];
  const text = await readFile(extension, "utf8");
  return [`${path.relative(root, extension)} (${text.split("\n").length - 1} lines)`];
}
