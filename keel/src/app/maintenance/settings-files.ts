/** Where a change of settings goes when a person names a source, and what it means for trust. */
import path from "node:path";
import { addRule, changeList, removeRule, setValue } from "../../config/settings/edit-settings.ts";
import { entriesOf, type SettingEntry } from "../../config/settings/entries.ts";
import {
  type EnvironmentVariables,
  type Paths,
  pathsOf,
  projectFolders,
} from "../../config/settings/paths.ts";
import { programMarks } from "../../config/settings/program-marks.ts";
import { markOf, offersIn, whyForbidden } from "../../config/settings/project-gate.ts";
import { findProject, kindOf, type Project, realOf } from "../../config/settings/project-root.ts";
import { type Saving, saveChange } from "../../config/settings/save.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { changeTrust, readTrust, withShown } from "../../config/settings/trust.ts";
import { fault } from "../../kernel/fault.ts";
import { nested } from "../../kernel/json.ts";
import { ok } from "../../kernel/result.ts";
import { changed } from "../../policy/changes.ts";
import type { PermissionChange, RuleList } from "../../protocol/settings.ts";
import { settingsLock } from "./settings-lock.ts";

export type SettingsLocation = {
  readonly env: EnvironmentVariables;
  readonly cwd: string;
  readonly home?: string | undefined;
};

/** The sources that a person may write to. */
export type WritableSource = "user" | "project" | "local";

export type WrittenSetting = {
  readonly file: string;
  /** Whether it counts already: in a project that is not trusted it waits. */
  readonly counts: boolean;
};

/** Undefined removes the value. Throws `usage` for what no project may say, or `settings_unwritable`. */
export function writeValue(
  place: SettingsLocation,
  to: WritableSource,
  { path: parts, value }: { path: readonly string[]; value: unknown },
): Promise<WrittenSetting> {
  return write(place, to, {
    settings: nested(parts, value),
    save: (saving) => setValue(saving, parts, value),
  });
}

/** Throws `settings_unwritable`. */
export function writeRule(
  place: SettingsLocation,
  to: WritableSource,
  { list, rule }: { list: RuleList; rule: string },
): Promise<WrittenSetting> {
  const settings = { permissions: { [list]: [rule] } };
  return write(place, to, { settings, save: (saving) => addRule(saving, list, rule) });
}

/** Rules or folders. Throws `settings_unwritable`. */
export function changeListIn(
  place: SettingsLocation,
  to: WritableSource,
  change: PermissionChange,
): Promise<WrittenSetting> {
  const [list, items] =
    change.type === "rules" ? [change.list, change.rules] : ["additionalDirectories", change.folders];
  return write(place, to, {
    settings: { permissions: { [list]: items } },
    save: (saving) =>
      changeList(saving, ["permissions", list], (known) => changed(known, change.change, items)),
  });
}

/** Says from which lists of the file it went. Throws `settings_unwritable`. */
export async function unwriteRule(
  place: SettingsLocation,
  from: WritableSource,
  rule: string,
): Promise<{ file: string; lists: RuleList[] }> {
  const { saving } = targetOf(place, from);
  const lists = await removeRule(saving, rule);
  await (await auditing()).auditChange(place, {
    what: "settings.changed",
    by: "person",
    rule,
    changed: { file: saving.file, removed: lists.map((list) => `permissions.${list}`) },
  });
  return { file: saving.file, lists };
}

/** Loaded late: it says nothing where nobody wants a record. */
const auditing = () => import("../audit/audit.ts");

/** By their names: a value may be a secret. Rules are told as they are. */
async function audited(
  place: SettingsLocation,
  file: string,
  entries: readonly SettingEntry[],
): Promise<void> {
  const rules = entries.filter(({ path: [group] }) => group === "permissions").map(({ value }) => value);
  await (await auditing()).auditChange(place, {
    what: "settings.changed",
    by: "person",
    ...(rules.length > 0 ? { rule: rules.join(", ") } : {}),
    changed: { file, settings: [...new Set(entries.map(({ path: parts }) => parts.join(".")))] },
  });
}

type SettingsWrite = {
  /** What is written, as settings. */
  readonly settings: unknown;
  save(saving: Saving): Promise<void>;
};

async function write(
  place: SettingsLocation,
  to: WritableSource,
  { settings, save }: SettingsWrite,
): Promise<WrittenSetting> {
  const { saving, project, paths, source } = targetOf(place, to);
  // It has passed the schema where its words were read.
  const entries = entriesOf([{ source, file: saving.file, settings: settings as KeelSettings }]);
  const forbidden = source === "user" ? undefined : entries.map(whyForbidden).find(Boolean);
  if (forbidden !== undefined) throw fault("usage", { reason: `${forbidden}. Use --user.` });
  const isNew = kindOf(saving.file) === "missing";
  await save(saving);
  await audited(place, saving.file, entries);
  if (source === "local" && isNew) await hideFromGit(saving);
  return { file: saving.file, counts: source === "user" || (await pin(entries, { saving, project, paths })) };
}

/** What a person writes through Keel they have seen: in a trusted project it counts at once. */
async function pin(
  entries: readonly SettingEntry[],
  { saving, project, paths }: { saving: Saving; project: Project; paths: Paths },
): Promise<boolean> {
  const offers = offersIn(entries);
  if (offers.length === 0 && entries.length > 0 && isStricter(entries)) return true;
  const { book } = await readTrust(paths.trust);
  if (!book.has(project.root)) return false;
  if (offers.length > 0) {
    const programs = await programMarks(offers, project);
    const marks = [
      ...offers.map(markOf),
      ...programs.values().flatMap((files) => files.map(({ mark }) => mark)),
    ];
    await changeTrust({ file: paths.trust, lock: saving.lock }, (now) =>
      marks.reduce((known, mark) => withShown(known, project.root, mark), now),
    );
  }
  return true;
}

const isStricter = (entries: readonly SettingEntry[]): boolean =>
  entries.every(({ path: [group, list] }) => group === "permissions" && (list === "deny" || list === "ask"));

function targetOf(
  place: SettingsLocation,
  to: WritableSource,
): { saving: Saving; project: Project; paths: Paths; source: WritableSource } {
  const paths = pathsOf(place);
  const project = findProject(place.cwd);
  const lock = settingsLock(paths);
  const [folderName] = projectFolders;
  const near = project.folders.find((folder) => kindOf(path.join(folder, folderName)) === "directory");
  const folder = path.join(near ?? project.root, folderName);
  // In the home folder, the project's settings are the person's.
  const source = realOf(folder) === realOf(paths.home) ? "user" : to;
  if (source === "user")
    return { saving: { file: paths.settings, owner: "person", lock }, project, paths, source };
  const file = path.join(folder, source === "local" ? "settings.local.json" : "settings.json");
  return { saving: { file, owner: "project", lock }, project, paths, source };
}

/** Local settings are one person's: they should not be committed by accident. */
async function hideFromGit({ file, lock }: Saving): Promise<void> {
  const ignore = path.join(path.dirname(file), ".gitignore");
  if (kindOf(ignore) !== "missing") return;
  await saveChange({ file: ignore, owner: "project", lock }, async () => ok(`${path.basename(file)}\n`));
}
