/** The settings of a session: what its options say, laid over the files, with what a person should know about them. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { pathsOf } from "../../config/settings/paths.ts";
import { type LoadedSettings, loadSettings } from "../../config/settings/settings.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { LogNotice } from "../../ports/store.ts";
import { trustNotices } from "../maintenance/say-trust.ts";
import type { OpenOptions } from "../options.ts";
import { limitsInEnvironment } from "./limits.ts";

export type SettingsOptions = Pick<
  OpenOptions,
  | "cwd"
  | "env"
  | "home"
  | "settings"
  | "settingSources"
  | "managedSettings"
  | "projectConfigRoot"
  | "model"
  | "fallbackModels"
  | "permissionMode"
  | "allowedTools"
  | "disallowedTools"
  | "addDirs"
  | "sandbox"
  | "maxTurns"
  | "maxBudgetUsd"
>;

export type SettingsInForce = LoadedSettings & {
  /** What Keel itself goes by: the environment in which it was started, and the person's own settings. */
  readonly env: EnvironmentVariables;
  /** What commands see; a trusted project may add to it. */
  readonly commandEnv: EnvironmentVariables;
  readonly notices: readonly LogNotice[];
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
  return {
    ...loaded,
    env: environment(options.env, loaded, ["user"]),
    commandEnv: environment(options.env, loaded, ["user", "project", "local"]),
    notices: [
      ...loaded.faults.map(({ code, message }): LogNotice => ({ level: "warning", code, text: message })),
      ...trustNotices(loaded),
    ],
  };
}

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
