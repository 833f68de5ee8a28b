/**
 * Settings value by value, each with where it came from and whether it counts. A single value counts from its strongest
 * source; to a list every source adds. Joined again, the values that count are the settings in force.
 */
import { isObject, sameJson } from "../../kernel/json.ts";
import type { Layer, LayerSource } from "./layers.ts";
import { addingLists, type KeelSettings, wholeObjects } from "./settings-schema.ts";

export type SettingEntry = {
  /** `permissions.allow`, `env.PATH`. */
  readonly path: readonly string[];
  readonly value: unknown;
  readonly source: LayerSource;
  readonly file?: string | undefined;
  /** The place of its layer: 0 is the strongest. */
  readonly rank: number;
  /** Whether it is one of a list to which every source adds. */
  readonly adds: boolean;
};

export type JudgedEntry = SettingEntry & { readonly state: EntryState };

export type EntryState =
  | { readonly kind: "counts" }
  /** A stronger source says something else. */
  | { readonly kind: "overridden" }
  | ({ readonly kind: "left-out" } & LeftOutEntry);

/** The source may not say it; `isForbidden`: not even when it is trusted. */
export type LeftOutEntry = { readonly why: string; readonly isForbidden: boolean };

/** The strongest source first, as the layers come. */
export function entriesOf(layers: readonly Layer[]): SettingEntry[] {
  return layers.flatMap((layer, rank) => flatten(layer.settings, [], { ...layer, rank }));
}

/** Those for which `whyNot` has a reason are left out, and then the strongest of each path wins. */
export function judgeEntries(
  entries: readonly SettingEntry[],
  whyNot: (entry: SettingEntry) => LeftOutEntry | undefined,
): JudgedEntry[] {
  const taken = new Set<string>();
  return entries.map((entry) => {
    const leftOut = whyNot(entry);
    if (leftOut) return { ...entry, state: { kind: "left-out", ...leftOut } };
    const name = JSON.stringify(entry.path);
    const isFree = entry.adds || !taken.has(name);
    taken.add(name);
    return { ...entry, state: { kind: isFree ? "counts" : "overridden" } };
  });
}

/** The settings that the counting entries make. */
export function joinEntries(entries: readonly JudgedEntry[]): KeelSettings {
  const root: Record<string, unknown> = {};
  // Lists begin with the weakest source: where one of their items may replace another, the later one does.
  const weakestFirst = entries.toSorted((left, right) => right.rank - left.rank);
  for (const { path, value, adds, state } of weakestFirst) {
    if (state.kind !== "counts") continue;
    const name = path.at(-1) ?? "";
    const holder = path.slice(0, -1).reduce(objectAt, root);
    if (!adds) holder[name] = value;
    else if (Array.isArray(holder[name])) addTo(holder[name], value);
    else holder[name] = [value];
  }
  // Each value has passed the schema at its path, and the paths are those of the schema.
  return root as KeelSettings;
}

/** Whether a path is one of these names; a star stands for one part of any name. */
export function matchesPath(names: readonly string[], path: readonly string[]): boolean {
  return names.some((name) => {
    const parts = name.split(".");
    return parts.length === path.length && parts.every((part, index) => part === "*" || part === path[index]);
  });
}

function flatten(value: unknown, path: readonly string[], layer: Layer & { rank: number }): SettingEntry[] {
  const { source, file, rank } = layer;
  if (value === undefined) return [];
  if (Array.isArray(value) && matchesPath(addingLists, path))
    return value.map((item) => ({ path, value: item, source, file, rank, adds: true }));
  if (!isObject(value) || matchesPath(wholeObjects, path))
    return [{ path, value, source, file, rank, adds: false }];
  return Object.entries(value).flatMap(([name, part]) => flatten(part, [...path, name], layer));
}

function objectAt(holder: Record<string, unknown>, name: string): Record<string, unknown> {
  const there = Object.hasOwn(holder, name) ? holder[name] : undefined;
  if (isObject(there)) return there;
  const made: Record<string, unknown> = {};
  holder[name] = made;
  return made;
}

function addTo(list: unknown[], value: unknown): void {
  if (!list.some((item) => sameJson(item, value))) list.push(value);
}
