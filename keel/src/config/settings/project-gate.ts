/**
 * What of a project's settings counts. Nothing of a project acts before trust: until then only its deny and ask rules
 * count, since they can only make things stricter. Trust is for what was shown; what came later waits until it has been
 * shown too. Some things no project may say, trusted or not.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../kernel/json.ts";
import { type LeftOutEntry, matchesPath, type SettingEntry } from "./entries.ts";
import type { ProgramMarks } from "./program-marks.ts";
import { whyWithheld } from "./project-env.ts";
import { personOnly } from "./settings-schema.ts";

/** Trust as it stands at a start. */
export type Gate = {
  /** Sources that somebody named for this session: naming is trusting, for once. */
  readonly named: readonly string[];
  /** The marks of what was shown when the project was trusted; undefined when it never was. */
  readonly shown: ReadonlySet<string> | undefined;
  /** What entries name as programs, as it is now. */
  readonly programs?: ProgramMarks | undefined;
};

const notTrusted: LeftOutEntry = { why: "the project is not trusted", isForbidden: false };
const notShown: LeftOutEntry = { why: "it is new since the project was trusted", isForbidden: false };

const changed = (file: string): LeftOutEntry => ({
  why: `${file}, which it runs, has changed since the project was trusted`,
  isForbidden: false,
});

/** Why an entry does not count, or undefined when it does. */
export function whyNot(entry: SettingEntry, gate: Gate): LeftOutEntry | undefined {
  if (!isOfProject(entry)) return undefined;
  const forbidden = whyForbidden(entry);
  if (forbidden !== undefined) return { why: forbidden, isForbidden: true };
  if (matchesPath(stricter, entry.path) || gate.named.includes(entry.source)) return undefined;
  if (gate.shown === undefined) return notTrusted;
  if (!isOffer(entry)) return undefined;
  if (!gate.shown.has(markOf(entry))) return notShown;
  const { shown, programs } = gate;
  const program = programs?.get(entry)?.find(({ mark }) => !shown.has(mark));
  return program && changed(program.file);
}

/** What trusting would enable: what waits for trust and may be had by it. */
export function offersIn(entries: readonly SettingEntry[]): SettingEntry[] {
  return entries.filter((entry) => isOfProject(entry) && isOffer(entry) && whyForbidden(entry) === undefined);
}

/** Tells what was shown from what was not. A forger cannot make two things with one mark. */
export function markOf({ path, value }: Pick<SettingEntry, "path" | "value">): string {
  return createHash("sha256")
    .update(canonicalJson([path, value]))
    .digest("hex")
    .slice(0, markLength);
}

const markLength = 32;

/** Count from every source, trusted or not. */
const stricter = ["permissions.deny", "permissions.ask", "permissions.disableBypassPermissionsMode"];

/** What acts, or lets something act: shown before it counts. The rest of a trusted project's settings is harmless. */
const offers = [
  "permissions.allow",
  "permissions.defaultMode",
  "permissions.additionalDirectories",
  "env.*",
  "hooks.*",
  "mcpServers.*",
  "diagnostics",
];

const isOfProject = ({ source }: SettingEntry): boolean => source === "project" || source === "local";
const isOffer = ({ path }: SettingEntry): boolean => matchesPath(offers, path);

/** Why no project may say this. */
export function whyForbidden({ path, value }: Pick<SettingEntry, "path" | "value">): string | undefined {
  const [owner] = Object.keys(personOnly).filter((name) => covers(name.split("."), path));
  if (owner !== undefined) return `a project may not set ${owner}: ${personOnly[owner]}`;
  if (path.join(".") === "permissions.defaultMode" && value === "bypassPermissions")
    return "a project may not bypass permissions";
  const [group, name = ""] = path;
  const withheld = group === "env" ? whyWithheld(name) : undefined;
  return withheld === undefined ? undefined : `a project may not set ${name}: ${withheld}`;
}

const covers = (name: readonly string[], path: readonly string[]): boolean =>
  name.every((part, index) => part === path[index]);
