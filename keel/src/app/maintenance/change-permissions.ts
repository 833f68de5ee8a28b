/** Changes what an open session may do, and its settings, and keeps the change where it is wanted: there, or in a file. */
import path from "node:path";
import { checkSettings } from "../../config/settings/check-settings.ts";
import type { Session } from "../../engine/session.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import { answersAsk } from "../../policy/changes.ts";
import { parseRule } from "../../policy/rules.ts";
import {
  effortSchema,
  type PermissionChange,
  type PermissionMode,
  permissionModeSchema,
  type SettingsPatch,
} from "../../protocol/settings.ts";
import { realFolder, withHome } from "../compose/folders.ts";
import { allowedMode } from "../compose/mode.ts";
import type { SessionComposition } from "../compose/session-composition.ts";
import type { SettingsLocation, WritableSource } from "./settings-files.ts";

/** `session`: in its log. `command-line`: for as long as this process has it open. Else in that file, and here at once. */
export type ChangeTarget = "session" | "command-line" | WritableSource;

export type WantedChange =
  | (PermissionChange & { readonly to: ChangeTarget })
  | { readonly type: "mode"; readonly mode: PermissionMode; readonly to: ChangeTarget };

/**
 * Throws `usage` for what is no rule or no folder, `mode_refused`, or `settings_unwritable` when the file could not be
 * changed; by then the change holds in the session. `except`: a question that the caller answers.
 */
export async function changePermissions(
  { session, kit }: { session: Session; kit: SessionComposition },
  changes: readonly WantedChange[],
  { except }: { except?: string | undefined } = {},
): Promise<void> {
  const checked = changes.map((change) => check(change, kit));
  for (const change of checked) await applyHere(change, { session, kit });
  await answerOthers(checked, { session, except });
  for (const change of checked) await keep(change, kit);
}

/** Rules are rules and folders are folders before anything changes. */
function check(change: WantedChange, { folders, env, bypass }: SessionComposition): WantedChange {
  switch (change.type) {
    case "mode":
      allowedMode(change.mode, bypass);
      return change;
    case "rules": {
      const wrong = change.rules.find((text) => parseRule(text) === undefined);
      if (wrong === undefined) return change;
      throw fault("usage", { reason: `${JSON.stringify(wrong)} is not a permission rule.` });
    }
    case "folders":
      return {
        ...change,
        folders: change.folders.map((given) => {
          const place = path.resolve(folders.cwd, withHome(given, env));
          const real = realFolder(place);
          // One that is gone can still be taken away.
          if (real === undefined && change.change === "add")
            throw fault("usage", { reason: `${given} is not a folder.` });
          return real ?? place;
        }),
      };
    default:
      return never(change);
  }
}

async function applyHere(
  { to, ...change }: WantedChange,
  { session, kit }: { session: Session; kit: SessionComposition },
): Promise<void> {
  if (change.type === "mode")
    return void (await session.submit({ type: "set", patch: { permissionMode: change.mode } }));
  if (to === "session") return void (await session.submit({ type: "set", patch: { permissions: [change] } }));
  if (change.type === "rules") kit.rules.change(change, to);
  else kit.folders.change(change.change, change.folders);
}

/** A rule that was just added also answers the other questions that it covers. */
async function answerOthers(
  changes: readonly WantedChange[],
  { session, except }: { session: Session; except: string | undefined },
): Promise<void> {
  const added = changes.flatMap((change) =>
    change.type === "rules" && change.list === "allow" && change.change !== "remove" ? change.rules : [],
  );
  const covered = session.state.asks.filter(
    (ask) => ask.id !== except && added.some((rule) => answersAsk(rule, ask)),
  );
  for (const { id } of covered)
    await session.submit({ type: "answer", askId: id, answer: { verdict: "allow" }, by: "host" });
}

async function keep(change: WantedChange, { settingsLocation: place }: SessionComposition): Promise<void> {
  const { to } = change;
  if (to === "session" || to === "command-line") return;
  // Loaded late: most sessions keep nothing.
  const { changeListIn, writeValue } = await import("./settings-files.ts");
  if (change.type === "mode")
    await writeValue(place, to, { path: ["permissions", "defaultMode"], value: change.mode });
  else await changeListIn(place, to, change);
}

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
  const { model, effortLevel, permissions, ...others } = given;
  const late = Object.keys(others);
  if (to === "flags" && late.length > 0)
    throw fault("usage", { reason: `${late.join(", ")} can only be set when a session starts.` });
  const rules = isObject(permissions) ? permissions : {};
  const effort = effortSchema.safeParse(effortLevel);
  return {
    patch:
      to === "flags"
        ? {
            ...(typeof model === "string" ? { model } : {}),
            ...(effort.success ? { effort: effort.data } : {}),
          }
        : {},
    changes: changesIn(rules, to === "flags" ? "command-line" : to),
  };
}

/** The rest of the settings, into a file. Throws `settings_unwritable`. */
export async function writeSettings(
  place: SettingsLocation,
  to: WritableSource,
  given: Record<string, unknown>,
): Promise<void> {
  const { writeValue } = await import("./settings-files.ts");
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
