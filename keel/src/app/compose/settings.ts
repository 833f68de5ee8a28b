/** The settings of a session: what its options say, laid over the files, with what a person should know about them. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { baseOf, commandWords } from "../../config/settings/command-lines.ts";
import { type JudgedEntry, joinEntries } from "../../config/settings/entries.ts";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { pathsOf } from "../../config/settings/paths.ts";
import { realOf } from "../../config/settings/project-root.ts";
import { type LoadedSettings, loadSettings } from "../../config/settings/settings.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { asList, asObject, isObject, parseJson } from "../../kernel/json.ts";
import { isInside } from "../../kernel/path.ts";
import type { LogNotice } from "../../ports/store.ts";
import type { OpenOptions } from "../options.ts";
import { limitsInEnvironment } from "./limits.ts";

/** Whatever is said for a start; most of it is no setting. */
export type SettingsOptions = Omit<OpenOptions, "version">;

export type SettingsInForce = LoadedSettings & {
  /** What Keel itself goes by: the environment in which it was started, and the person's own settings. */
  readonly env: EnvironmentVariables;
  /** What commands see; a trusted project may add to it. */
  readonly commandEnv: EnvironmentVariables;
  readonly notices: readonly LogNotice[];
  /** The entries with relative programs as absolute ones. What is shown and trusted is what was written. */
  readonly placed: readonly JudgedEntry[];
};

/** Throws `usage`, or `settings_invalid` for an administrator's file that is damaged. */
export async function readSettings(options: SettingsOptions): Promise<SettingsInForce> {
  const loaded = await loadSettings({
    paths: pathsOf(options),
    cwd: options.projectConfigRoot ?? options.cwd,
    forbidden: options.managedSettings,
    chosen: options.settingSources,
    flags: options.settings,
    commandLine: settingsOf(options),
  });
  const [placed, refreshed] = await Promise.all([
    placedOf(loaded, options.cwd),
    refreshedModels(pathsOf(options).home),
  ]);
  const settings = placed === loaded.entries ? loaded.settings : joinEntries(placed);
  return {
    ...loaded,
    // What the person writes of a model counts more than what a list says.
    settings:
      refreshed.length === 0 ? settings : { ...settings, models: [...refreshed, ...(settings.models ?? [])] },
    placed,
    env: environment(options.env, loaded, ["user"]),
    commandEnv: environment(options.env, loaded, ["user", "project", "local"]),
    notices: [
      ...loaded.faults.map(({ code, message }): LogNotice => ({ level: "warning", code, text: message })),
      // What a project's settings say and does not count: one sentence about trust, and what no project may set.
      ...waitingNotice(loaded.trust),
      ...forbiddenNotice(loaded.entries, loaded.trust.root),
    ],
  };
}

/** The models that `keel models refresh` has taken; none where it never did, or where the file is none of its own. */
async function refreshedModels(home: string): Promise<NonNullable<KeelSettings["models"]>> {
  const text = await readFile(path.join(home, "models.json"), "utf8").catch(() => "");
  const rows = text === "" ? [] : asList(asObject(parseJson(text))["models"]);
  return rows.filter(
    (row): row is NonNullable<KeelSettings["models"]>[number] =>
      isObject(row) && typeof row["id"] === "string",
  );
}

/** The reader of shell texts is large: it comes only where a setting names a program from elsewhere. */
async function placedOf({ entries }: LoadedSettings, cwd: string): Promise<readonly JudgedEntry[]> {
  if (!entries.some((entry) => isElsewhere(entry, cwd))) return entries;
  const { placePrograms } = await import("./place-programs.ts");
  return placePrograms(entries, cwd);
}

const isElsewhere = (entry: JudgedEntry, cwd: string): boolean =>
  entry.state.kind === "counts" && commandWords(entry).length > 0 && baseOf(entry) !== cwd;

/** The names of the fallbacks: one may be written without a list. */
export const fallbacksIn = ({ fallbackModel = [] }: KeelSettings): readonly string[] =>
  typeof fallbackModel === "string" ? [fallbackModel] : fallbackModel;

/** What the options of a start say, in the words of the settings. */
function settingsOf(options: SettingsOptions): KeelSettings {
  const { allowedTools, disallowedTools, permissionMode, maxTurns, maxBudgetUsd } = options;
  return {
    ...(options.sandbox ? { sandbox: { ...options.sandbox } } : {}),
    model: options.model,
    fallbackModel: options.fallbackModels && [...options.fallbackModels],
    permissions: {
      allow: allowedTools && [...allowedTools],
      deny: disallowedTools && [...disallowedTools],
      defaultMode: permissionMode,
      additionalDirectories: options.addDirs && [...options.addDirs],
    },
    limits: { maxTurns, maxBudgetUsd, ...limitsInEnvironment(options.env) },
  };
}

/** Where Keel's own files stand is decided before any of them is read. */
const settled = new Set(["KEEL_HOME", "KEEL_MANAGED_SETTINGS"]);

/** The environment of the start is nearer to the person than a file, and farther than what is said for this start. */
function environment(
  started: EnvironmentVariables,
  { entries }: LoadedSettings,
  below: readonly string[],
): Record<string, string | undefined> {
  const from = (sources: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      entries
        .filter(({ path: [group, name = ""] }) => group === "env" && !settled.has(name))
        .filter(({ source, state }) => sources.includes(source) && state.kind !== "left-out")
        // The strongest last, where it replaces the others.
        .toReversed()
        .map(({ path: [, name = ""], value }) => [name, String(value)]),
    );
  return { ...from(below), ...started, ...from(["flags", "managed"]) };
}

function waitingNotice({ state, waiting, root }: LoadedSettings["trust"]): LogNotice[] {
  if (waiting.length === 0) return [];
  const files = [...new Set(waiting.map(({ file = "" }) => path.relative(root, file)))].join(", ");
  const what = sayCounts(waiting);
  const why =
    state === "untrusted" ? "This project is not trusted" : "This project has changed since it was trusted";
  const text = `${why}: ${what} of ${files} ${waiting.length === 1 ? "is" : "are"} left out. \`keel trust\` shows ${waiting.length === 1 ? "it" : "them"}.`;
  return [{ level: "warning", code: "project_untrusted", text }];
}

function forbiddenNotice(entries: readonly JudgedEntry[], root: string): LogNotice[] {
  const reasons = entries.flatMap(({ file = "", state }) =>
    state.kind === "left-out" && state.isForbidden ? [`${path.relative(root, file)}: ${state.why}.`] : [],
  );
  const [first, ...others] = [...new Set(reasons)];
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more: \`keel config list --origin\`)`;
  return [{ level: "warning", code: "settings_invalid", text: `Left out of ${first}${more}` }];
}

/** `1 hook, 2 allow rules`. */
export function sayCounts(entries: readonly Pick<JudgedEntry, "path">[]): string {
  const counts = new Map<string, number>();
  for (const { path: parts } of entries) {
    const name = names[parts[0] ?? ""] ?? names[parts.join(".")] ?? parts.join(".");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} ${name}${count === 1 ? "" : "s"}`).join(", ");
}

const names: Readonly<Record<string, string>> = {
  hooks: "hook",
  mcpServers: "MCP server",
  env: "variable",
  model: "model",
  fallbackModel: "fallback model",
  models: "model description",
  modelAliases: "model alias",
  "permissions.allow": "allow rule",
  "permissions.defaultMode": "permission mode",
  "permissions.additionalDirectories": "further folder",
};

/** The environment of what settings start: no name of theirs means a program of the folder that is worked in. */
export function withoutOwnPath(env: EnvironmentVariables, roots: readonly string[]): EnvironmentVariables {
  const { PATH: given } = env;
  if (given === undefined) return env;
  const kept = given
    .split(path.delimiter)
    // An empty or relative one means the working folder.
    .filter((place) => path.isAbsolute(place) && !isInside(realOf(place), roots));
  return { ...env, PATH: kept.join(path.delimiter) };
}
