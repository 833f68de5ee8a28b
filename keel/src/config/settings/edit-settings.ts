/** Changes one value of a settings file, by its dotted name, and leaves the rest of the file as its owner wrote it. */
import {
  asObject,
  isObject,
  type JsonObject,
  nested,
  parseJson,
  sameJson,
  valueAt,
} from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import type { RuleList } from "../../protocol/settings.ts";
import { checkSettings } from "./check-settings.ts";
import { editJsonc, readJsonc } from "./jsonc.ts";
import { type Saving, saveChange } from "./save.ts";
import { settingsJsonSchema } from "./settings-schema.ts";

export const ruleLists: readonly RuleList[] = ["allow", "ask", "deny"];

/** The path that a dotted name means: `env.PATH` → `["env", "PATH"]`. Undefined when nothing is called so. */
export function pathNamed(name: string): string[] | undefined {
  const walk = (schema: unknown, parts: readonly string[]): string[] | undefined => {
    const [first, ...rest] = parts;
    if (first === undefined) return [];
    if (!isObject(schema) || first === "") return undefined;
    const properties = asObject(schema["properties"]);
    if (Object.hasOwn(properties, first)) return joined(first, walk(properties[first], rest));
    const any = schema["additionalProperties"];
    if (!isObject(any)) return undefined;
    // A name of one's own may hold dots, unless it has parts itself.
    const isGroup = isObject(any["properties"]) && Object.keys(any["properties"]).length > 0;
    return isGroup ? joined(first, walk(any, rest)) : [parts.join(".")];
  };
  return walk({ ...settingsJsonSchema(), additionalProperties: false } satisfies JsonObject, name.split("."));
}

/** What a text on the command line means at a path: JSON where that fits, otherwise the text itself. */
export function valueNamed(path: readonly string[], text: string): Result<unknown> {
  const asText = problemWith(path, text);
  const parsed = parseJson(text);
  if (parsed === undefined) return asText === undefined ? ok(text) : failed(asText);
  const asJson = problemWith(path, parsed);
  if (asJson === undefined) return ok(parsed);
  return asText === undefined ? ok(text) : failed(asJson);
}

/** Undefined removes it. Throws `settings_unwritable`. */
export function setValue(saving: Saving, path: readonly string[], value: unknown): Promise<void> {
  return saveChange(saving, (text) => editJsonc(text, path, value));
}

/** A rule that is there already is not added again. Throws `settings_unwritable`. */
export function addRule(saving: Saving, list: RuleList, rule: string): Promise<void> {
  return saveChange(saving, async (text) => {
    const there = await rulesIn(text, list);
    if (!there.ok) return there;
    if (there.value === undefined) return editJsonc(text, ["permissions", list], [rule]);
    return there.value.includes(rule) ? ok(text) : editJsonc(text, ["permissions", list, atEnd], rule);
  });
}

/** Changes a list of texts as a whole. Throws `settings_unwritable`. */
export function changeList(
  saving: Saving,
  path: readonly string[],
  change: (known: readonly string[]) => readonly string[],
): Promise<void> {
  return saveChange(saving, async (text) => {
    const there = await listAt(text, path);
    if (!there.ok) return there;
    const known = (there.value ?? []).filter((item) => typeof item === "string");
    const wanted = change(known);
    if (sameJson(known, wanted)) return ok(text);
    return editJsonc(text, path, wanted);
  });
}

/** From every list in which it stands; says from which. Throws `settings_unwritable`. */
export async function removeRule(saving: Saving, rule: string): Promise<RuleList[]> {
  const removed: RuleList[] = [];
  await saveChange(saving, async (text) => {
    let now = text;
    for (const list of ruleLists) {
      const there = await rulesIn(now, list);
      if (!there.ok) return there;
      const index = there.value?.indexOf(rule) ?? -1;
      if (index === -1) continue;
      const edited = await editJsonc(now, ["permissions", list, index], undefined);
      if (!edited.ok) return edited;
      now = edited.value;
      removed.push(list);
    }
    return ok(now);
  });
  return removed;
}

/** The place behind the last item, for the library. */
const atEnd = -1;

const rulesIn = (text: string, list: RuleList): Promise<Result<unknown[] | undefined>> =>
  listAt(text, ["permissions", list]);

async function listAt(text: string, path: readonly string[]): Promise<Result<unknown[] | undefined>> {
  if (text.trim() === "") return ok(undefined);
  const read = await readJsonc(text);
  if (!read.ok) return read;
  const found = valueAt(read.value, path);
  return found === undefined || Array.isArray(found) ? ok(found) : failed(`${path.join(".")} is not a list`);
}

/** What is wrong with a value at a path, held against the schema of all settings. */
function problemWith(path: readonly string[], value: unknown): string | undefined {
  const whole = nested(path, value);
  if (!isObject(whole)) return "it is no setting";
  const { problems, unknown } = checkSettings(whole);
  const [stranger] = unknown;
  return problems[0] ?? (stranger === undefined ? undefined : `nothing is called ${stranger}`);
}

const joined = (first: string, rest: string[] | undefined): string[] | undefined => rest && [first, ...rest];
