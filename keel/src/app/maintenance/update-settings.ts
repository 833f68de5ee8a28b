/** Changes settings while a session is open: in a file, and here where a running session can take them in. */
import { checkSettings } from "../../config/settings/check-settings.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject } from "../../kernel/json.ts";
import { type PermissionMode, permissionModeSchema, type SettingsPatch } from "../../protocol/settings.ts";
import type { WantedChange } from "./change-permissions.ts";
import { type SettingsLocation, type WritableSource, writeValue } from "./settings-files.ts";

export type SettingsTarget = "flags" | WritableSource;

/** What of settings a running session can take in. */
export type Immediate = { readonly patch: SettingsPatch; readonly changes: readonly WantedChange[] };

/**
 * Throws `usage` for what is no setting, and for flags that only a new session can take in; nothing has changed then.
 * Lists of rules are meant whole: they replace what the same source said before.
 */
export function readChange(given: Record<string, unknown>, to: SettingsTarget): Immediate {
  const { problems, unknown } = checkSettings(given);
  const wrong = problems[0] ?? (unknown.length > 0 ? `nothing is called ${unknown.join(", ")}` : undefined);
  if (wrong !== undefined) throw fault("usage", { reason: `These settings cannot be taken: ${wrong}.` });
  const { model, permissions, ...others } = given;
  const late = Object.keys(others);
  if (to === "flags" && late.length > 0)
    throw fault("usage", { reason: `${late.join(", ")} can only be set when a session starts.` });
  const rules = isObject(permissions) ? permissions : {};
  return {
    patch: typeof model === "string" && to === "flags" ? { model } : {},
    changes: changesIn(rules, to === "flags" ? "command-line" : to),
  };
}

/** The rest of the settings, into a file. Throws `settings_unwritable`. */
export async function writeSettings(
  place: SettingsLocation,
  to: WritableSource,
  given: Record<string, unknown>,
): Promise<void> {
  for (const { path, value } of leavesOf(given)) {
    // Rules, folders and the mode are changed and kept together.
    if (path[0] === "permissions" && storedPermissionKeys.has(path[1] ?? "")) continue;
    await writeValue(place, to, { path, value });
  }
}

const lists = ["allow", "ask", "deny"] as const;
const storedPermissionKeys = new Set<string>([...lists, "defaultMode", "additionalDirectories"]);

function changesIn(permissions: Record<string, unknown>, to: WantedChange["to"]): WantedChange[] {
  const { additionalDirectories: folders } = permissions;
  const mode = modeIn(permissions["defaultMode"]);
  return [
    ...lists.flatMap((list): WantedChange[] => {
      const rules = permissions[list];
      if (!Array.isArray(rules)) return [];
      return [{ type: "rules", change: "replace", list, rules: rules.map(String), to }];
    }),
    ...(Array.isArray(folders)
      ? [{ type: "folders" as const, change: "add" as const, folders: folders.map(String), to }]
      : []),
    ...(mode === undefined ? [] : [{ type: "mode" as const, mode, to }]),
  ];
}

function modeIn(value: unknown): PermissionMode | undefined {
  const read = permissionModeSchema.safeParse(value);
  return read.success ? read.data : undefined;
}

function leavesOf(
  value: unknown,
  path: readonly string[] = [],
): { path: readonly string[]; value: unknown }[] {
  if (!isObject(value)) return [{ path, value: value === null ? undefined : value }];
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part, [...path, name]));
}
