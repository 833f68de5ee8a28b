/** `resolveSettings()`: the settings that a session in a folder would have, without opening one. */
import { present } from "../../kernel/present.ts";
import type { SettingRow } from "../../protocol/inquiry.ts";
import type { SettingSource } from "../../protocol/options.ts";

/** What settings may hold is in the reference of settings; a program reads what it knows. */
export type Settings = Record<string, unknown>;

export type ResolveSettingsOptions = {
  /** The process's own when left out. */
  cwd?: string;
  /** All when left out; naming the project's trusts them for this look. */
  settingSources?: SettingSource[];
  managedSettings?: Settings;
  /** The same as `managedSettings`: nothing here comes from a server. */
  serverManagedSettings?: Settings;
  /** The process's own when left out. */
  env?: Record<string, string | undefined>;
};

export type ResolvedSettings = {
  /** What counts. */
  effective: Settings;
  /** By the name of each value, `permissions.allow`: the sources that it comes from, the strongest first. */
  provenance: Record<string, string[]>;
  /** Every source that says something, the strongest first, with the values that it says and whether they count. */
  sources: ResolvedSource[];
  /** What an administrator says, if anything. */
  machinePolicy?: Settings;
  /** Sentences about what could not be read. */
  problems: string[];
};

export type ResolvedSource = {
  source: string;
  file?: string;
  values: { name: string; value: unknown; counts: boolean; why?: string }[];
};

/** Throws `settings_invalid` for what an administrator or the host said wrongly. */
export async function resolveSettings(options: ResolveSettingsOptions = {}): Promise<ResolvedSettings> {
  const { resolveSettingsOf } = await import("../../app/maintenance/configure.ts");
  const {
    effective,
    rows: values,
    problems,
  } = await resolveSettingsOf({
    cwd: options.cwd ?? process.cwd(),
    env: options.env ?? process.env,
    settingSources: options.settingSources,
    forbidden: options.managedSettings ?? options.serverManagedSettings,
  });
  const managed = values.filter(({ source }) => source === "managed");
  return {
    effective,
    provenance: provenanceOf(values),
    sources: sourcesOf(values),
    ...(managed.length > 0
      ? { machinePolicy: Object.fromEntries(managed.map(({ name, value }) => [name, value])) }
      : {}),
    problems: [...problems],
  };
}

function provenanceOf(values: readonly SettingRow[]): Record<string, string[]> {
  const found = new Map<string, Set<string>>();
  for (const { name, source, state } of values)
    if (state === "counts") found.set(name, (found.get(name) ?? new Set()).add(source));
  return Object.fromEntries([...found].map(([name, sources]) => [name, [...sources]]));
}

export function sourcesOf(values: readonly SettingRow[]): ResolvedSource[] {
  const sources = Map.groupBy(values, ({ source, file }) => JSON.stringify([source, file]));
  return [...sources.values()].map((said) => ({
    source: said[0]?.source ?? "",
    ...present({ file: said[0]?.file }),
    values: said.map(({ name, value, state, why }) => ({
      name,
      value,
      counts: state === "counts",
      ...present({ why }),
    })),
  }));
}
