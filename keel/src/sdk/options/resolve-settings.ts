/** `resolveSettings()`: the settings that a session in a folder would have, without opening one. */

import { present } from "../../kernel/json.ts";
import type { SettingRow } from "../../protocol/inquiry.ts";
import type { SettingSource } from "../../protocol/options.ts";
import type { Settings } from "./settings.ts";

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
  /** By the name of each setting: the strongest source that has a say in it. */
  provenance: Partial<Record<keyof Settings, ProvenanceEntry>>;
  /** Every source that says something, the strongest first, with what it says; its `values` tell what of it counts. */
  sources: ResolvedSource[];
  /** What an administrator wrote and cannot be read is thrown, so that nothing is ever left out of it. */
  machinePolicy?: { didNotLoad: false | ("profile" | "registry" | "file")[] };
  /** Sentences about what could not be read. */
  problems?: string[];
};

export type ResolvedSettingSource = SettingSource | "managed" | "flag";
/** Which of an administrator's places; Keel has one, a file. */
export type PolicySettingsOrigin = "helper" | "remote" | "plist" | "hklm" | "file" | "parent" | "hkcu";
export type ProvenanceEntry = {
  source: ResolvedSettingSource;
  path?: string;
  policyOrigin?: PolicySettingsOrigin;
};

export type ResolvedSource = ProvenanceEntry & { settings: Settings; values?: SaidValue[] };

/** Throws `settings_invalid` for what an administrator or the host said wrongly. */
export async function resolveSettings(options: ResolveSettingsOptions = {}): Promise<ResolvedSettings> {
  const { resolveSettingsOf } = await import("../../app/maintenance/configure.ts");
  const { effective, rows, said, problems } = await resolveSettingsOf({
    cwd: options.cwd ?? process.cwd(),
    env: options.env ?? process.env,
    settingSources: options.settingSources,
    forbidden: options.managedSettings ?? options.serverManagedSettings,
  });
  const provenance: Record<string, ProvenanceEntry> = {};
  for (const { name, source, file, state } of rows)
    if (state === "counts") provenance[name.split(".")[0] ?? name] ??= originOf({ source, file });
  const values = Object.groupBy(sourcesOf(rows), keyOf);
  return {
    effective: effective as Settings,
    provenance,
    sources: said.map((one) => ({
      ...originOf(one),
      settings: one.settings,
      values: values[keyOf(one)]?.[0]?.values ?? [],
    })),
    machinePolicy: { didNotLoad: false },
    problems: [...problems],
  };
}

/** The settings in force, without a mode that asks less if the project's own files set it. */
export function filterEscalatingDefaultMode({ effective, sources }: ResolvedSettings): Settings {
  const { defaultMode, ...permissions } = effective.permissions ?? {};
  const asksLess = ["acceptEdits", "auto", "bypassPermissions"].includes(defaultMode ?? "");
  const setter = sources.find(({ settings }) => settings.permissions?.defaultMode === defaultMode);
  return asksLess && setter?.source === "project" ? { ...effective, permissions } : effective;
}

type SaidBy = { source: string; file?: string | undefined };
const keyOf = ({ source, file }: SaidBy): string => JSON.stringify([source, file]);

const originOf = ({ source, file }: SaidBy): ProvenanceEntry => ({
  source: source === "flags" || source === "command-line" ? "flag" : (source as ResolvedSettingSource),
  ...present({ path: file }),
});

type SaidValue = { name: string; value: unknown; counts: boolean; why?: string };

export function sourcesOf(values: readonly SettingRow[]): (SaidBy & { values: SaidValue[] })[] {
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
