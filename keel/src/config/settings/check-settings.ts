/** Holds what a file says against the schema. A value that does not fit is named and left out, as small as it can be; all others stay. */
import { isObject } from "../../kernel/json.ts";
import { type KeelSettings, settingsSchema } from "./settings-schema.ts";

export type CheckedSettings = {
  readonly settings: KeelSettings;
  /** What was left out, as `permissions.allow.2: …`. */
  readonly problems: readonly string[];
  /** The first of them with which something that forbids was left out. */
  readonly lost?: string | undefined;
  /** Names that mean nothing here. */
  readonly unknown: readonly string[];
};

type SettingPath = readonly (string | number)[];

/** Each round removes at least one value, so that it comes to an end; more rounds than a file has depth are not needed. */
const maxRounds = 64;
/** More are not read by anybody. */
const maxProblems = 20;

export function checkSettings(written: Record<string, unknown>): CheckedSettings {
  const value = structuredClone(written);
  const problems: string[] = [];
  let lost: string | undefined;
  for (let round = 0; round < maxRounds; round += 1) {
    const parsed = settingsSchema.safeParse(value);
    if (parsed.success) {
      const unknown = strangers(value, parsed.data, "").filter((name) => name !== "$schema");
      return { settings: parsed.data, problems: problems.slice(0, maxProblems), lost, unknown };
    }
    const issues = parsed.error.issues.map(({ path, message }) => {
      const place = path.map(key);
      return { place, problem: `${place.join(".")}: ${message}` };
    });
    problems.push(...issues.map(({ problem }) => problem));
    lost ??= issues.find(({ place }) => isForbidding(place))?.problem;
    // From the end of each list to its start, so that what is removed does not move what still has to be.
    for (const { place } of issues.toSorted((left, right) => order(right.place, left.place)))
      remove(value, place);
  }
  const nothing = "nothing of it can be used";
  return {
    settings: {},
    problems: [...problems.slice(0, maxProblems), nothing],
    lost: lost ?? nothing,
    unknown: [],
  };
}

const forbidding = ["deny", "ask", "disableBypassPermissionsMode"];

/** Rules that forbid or ask, the switch against bypassing, and whatever holds them. */
const isForbidding = ([group, name]: SettingPath): boolean =>
  group === "permissions" && (name === undefined || forbidding.includes(String(name)));

const key = (part: PropertyKey): string | number => (typeof part === "number" ? part : String(part));

/** Removes the value at a place; where none is, something is missing, and what should hold it goes. */
function remove(root: Record<string, unknown>, place: SettingPath): void {
  const last = place.at(-1);
  if (last === undefined) return;
  const holder = place
    .slice(0, -1)
    .reduce<unknown>(
      (at, name) => (at instanceof Object && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined),
      root,
    );
  if (Array.isArray(holder) && typeof last === "number" && last < holder.length) holder.splice(last, 1);
  else if (isObject(holder) && Object.hasOwn(holder, last)) delete holder[last];
  else if (place.length > 1) remove(root, place.slice(0, -1));
}

function order(left: SettingPath, right: SettingPath): number {
  for (const [index, name] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (name === other) continue;
    return typeof name === "number" && typeof other === "number"
      ? name - other
      : String(name) < String(other)
        ? -1
        : 1;
  }
  return left.length - right.length;
}

/** Names that stand in the file and that the schema did not take. */
function strangers(written: unknown, taken: unknown, at: string): string[] {
  if (Array.isArray(written) && Array.isArray(taken))
    return written.flatMap((item, index) => strangers(item, taken[index], `${at}${index}.`));
  if (!isObject(written) || !isObject(taken)) return [];
  return Object.entries(written).flatMap(([name, value]) =>
    Object.hasOwn(taken, name) ? strangers(value, taken[name], `${at}${name}.`) : [`${at}${name}`],
  );
}
