/** `keel config`: every setting with where it comes from, read and changed by name. */
import { pathNamed, valueNamed } from "../../config/settings/edit-settings.ts";
import { type JudgedEntry, matchesPath } from "../../config/settings/entries.ts";
import { readJsonc } from "../../config/settings/jsonc.ts";
import { pathsOf } from "../../config/settings/paths.ts";
import { loadSettings } from "../../config/settings/settings.ts";
import {
  type KeelSettings,
  secretValues,
  settingsJsonSchema,
} from "../../config/settings/settings-schema.ts";
import { defaultLimits } from "../../core/limits.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject, type JsonObject, valueAt } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { shownUrl } from "../../kernel/shown-url.ts";
import type { LogNotice } from "../../ports/store.ts";
import type { SettingRow } from "../../protocol/inquiry.ts";
import { readSettings } from "../compose/settings.ts";
import {
  type SettingsLocation,
  type WritableSource,
  type WrittenSetting,
  writeValue,
} from "./settings-files.ts";

export type Configuration = { readonly rows: readonly SettingRow[]; readonly notices: readonly LogNotice[] };

/** Every value of every source, the strongest first. */
export async function listSettings(place: SettingsLocation): Promise<Configuration> {
  const { entries, notices } = await readSettings(place);
  const said = new Set(entries.filter(({ state }) => state.kind === "counts").map(nameOf));
  const rows = entries.map(rowOf);
  const ours = builtIn.map(
    ([name, value]): SettingRow => ({
      name,
      value,
      source: "built-in",
      state: said.has(name) ? "overridden" : "counts",
    }),
  );
  return { rows: [...rows, ...ours], notices };
}

/** Without secrets. */
export const rowOf = (entry: JudgedEntry): SettingRow =>
  rowWith(withoutSecrets(entry.path, entry.value), entry);

const rowWith = (value: unknown, entry: JudgedEntry): SettingRow => ({
  name: nameOf(entry),
  value,
  source: entry.source,
  file: entry.file,
  state: entry.state.kind,
  ...(entry.state.kind === "left-out" ? { why: entry.state.why } : {}),
});

/**
 * What a session in a folder would have, as it is written, and sentences about what could not be read. Throws `usage`
 * for a folder that is none, and `settings_invalid` for what an administrator or a host said wrongly.
 */
export async function resolveSettingsOf({
  settingSources: chosen,
  forbidden,
  ...place
}: SettingsLocation & {
  settingSources?: readonly WritableSource[] | undefined;
  forbidden?: Record<string, unknown> | undefined;
}): Promise<
  Pick<Configuration, "rows"> & {
    effective: KeelSettings;
    said: readonly SaidSettings[];
    problems: readonly string[];
  }
> {
  const { cwd } = place;
  if (cwd === "") throw fault("usage", { reason: "Name the folder whose settings are meant." });
  const loaded = await loadSettings({ paths: pathsOf(place), cwd, chosen, forbidden });
  return {
    effective: loaded.settings,
    rows: loaded.entries.map((entry) => rowWith(entry.value, entry)),
    said: saidBySource(loaded.entries),
    problems: loaded.faults.map(({ message }) => message),
  };
}

/** What one source says, whether it counts or not. */
type SaidSettings = Pick<JudgedEntry, "source" | "file"> & { readonly settings: Record<string, unknown> };

/** The strongest first. */
function saidBySource(entries: readonly JudgedEntry[]): SaidSettings[] {
  return [...Map.groupBy(entries, ({ rank }) => rank).values()].flatMap((said) => {
    const [first] = said;
    if (!first) return [];
    const settings: Record<string, unknown> = {};
    for (const { path, value, adds } of said) {
      const before = valueAt(settings, path);
      const whole = adds ? [...(Array.isArray(before) ? before : []), value] : value;
      setAt(settings, path, whole);
    }
    return [{ source: first.source, file: first.file, settings }];
  });
}

function setAt(settings: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) settings[name] = value;
  else {
    const below = isObject(settings[name]) ? settings[name] : {};
    settings[name] = below;
    setAt(below, rest, value);
  }
}

/** Settings that were given as a text, with comments or without. */
export async function readInlineSettings(text: string): Promise<Result<Record<string, unknown>>> {
  const read = await readJsonc(text);
  if (!read.ok) return read;
  return isObject(read.value) ? ok(read.value) : failed("it is not an object");
}

/** The value in force, or what is built in; undefined when nobody says anything. Throws `usage` for an unknown name. */
export async function getSetting(place: SettingsLocation, name: string): Promise<unknown> {
  const path = known(name);
  const { settings } = await readSettings(place);
  const found = valueAt(settings, path);
  return found === undefined ? builtIn.find(([ours]) => ours === name)?.[1] : withoutSecrets(path, found);
}

/** Throws `usage` for an unknown name or a value that does not fit, and `settings_unwritable`. */
export async function setSetting(
  place: SettingsLocation,
  { name, text, to }: { name: string; text: string; to: WritableSource },
): Promise<WrittenSetting> {
  const path = known(name);
  const value = valueNamed(path, text);
  if (!value.ok) throw fault("usage", { reason: `${name} cannot be set to this: ${value.error}.` });
  return writeValue(place, to, { path, value: value.value });
}

/** Throws `usage` for an unknown name, and `settings_unwritable`. */
export async function unsetSetting(
  place: SettingsLocation,
  { name, from }: { name: string; from: WritableSource },
): Promise<WrittenSetting> {
  return writeValue(place, from, { path: known(name), value: undefined });
}

export const settingsSchema = (): JsonObject => settingsJsonSchema();

/** What holds when nobody says anything. */
const builtIn: readonly (readonly [string, unknown])[] = [
  ["permissions.defaultMode", "default"],
  ["permissions.protectedPaths", "ask"],
  ["limits.maxRetries", defaultLimits.maxRetries],
  ["limits.maxStreamRetries", defaultLimits.maxStreamRetries],
  ["guard", "on"],
];

const nameOf = ({ path }: JudgedEntry): string => path.join(".");

function known(name: string): string[] {
  const path = pathNamed(name);
  if (path && path.length > 0) return path;
  throw fault("usage", {
    reason: `No setting is called ${JSON.stringify(name)}. \`keel config schema\` has them all.`,
  });
}

const hidden = "(not shown)";
const secretName = /key|token|secret|passw|credential|authorization|cookie/i;

/** A key is never shown, wherever it stands. */
export function withoutSecrets(path: readonly string[], value: unknown): unknown {
  if (matchesPath(secretValues, path)) return hidden;
  if (typeof value === "string") return isPrivate(path) ? hidden : isAddress(value) ? shownUrl(value) : value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(path, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withoutSecrets([...path, name], part)]),
  );
}

const isAddress = (text: string): boolean => /^\s*[a-z][a-z0-9+.-]*:[/\\]{2}/i.test(text);

/** Variables and headers have names of their own: those that sound like a secret are taken for one. */
function isPrivate(path: readonly string[]): boolean {
  const name = path.at(-1) ?? "";
  const isNamed = path.slice(0, -1).some((part) => part === "env" || part === "headers");
  return isNamed && secretName.test(name);
}
