/** A form that a server wants filled in, as data: its fields, what each takes, and what becomes of what was filled in. */
import { isObject, type JsonObject, own } from "../kernel/json.ts";
import { failed, never, ok, type Result } from "../kernel/result.ts";
import { shorten } from "../kernel/text.ts";
import type { Answer } from "../protocol/ask.ts";

export type FieldChoice = { readonly value: string; readonly label: string };

/** A bound that is infinite is none. */
type ValueRange = { readonly min: number; readonly max: number };

export type FieldKind =
  | ({ readonly type: "text"; readonly format: string } & ValueRange)
  | ({ readonly type: "number"; readonly whole: boolean } & ValueRange)
  | { readonly type: "yes-no" }
  | { readonly type: "choice"; readonly choices: readonly FieldChoice[] }
  | ({ readonly type: "choices"; readonly choices: readonly FieldChoice[] } & ValueRange);

export type FieldValue = string | number | boolean | string[];

export type Field = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isNeeded: boolean;
  readonly kind: FieldKind;
  /** What it is when nothing is filled in. */
  readonly preset: FieldValue | undefined;
};

/** More than anybody fills in. */
const maxFields = 50;
const maxChoices = 100;
const maxWords = 500;

/** A sentence when there is something in it that cannot be asked. */
export function fieldsOf(schema: JsonObject): Result<readonly Field[]> {
  const { properties, required } = schema;
  if (!isObject(properties)) return failed("the form has no fields");
  const needed = new Set(Array.isArray(required) ? required : []);
  const names = Object.keys(properties);
  if (names.length > maxFields) return failed(`the form has more than ${maxFields} fields`);
  const fields: Field[] = [];
  for (const name of names) {
    const field = fieldOf(name, properties[name], needed.has(name));
    if (!field)
      return failed(`the field ${JSON.stringify(shorten(name, 60))} is of a kind that cannot be asked`);
    fields.push(field);
  }
  return ok(fields);
}

function fieldOf(name: string, given: unknown, isNeeded: boolean): Field | undefined {
  if (!isObject(given)) return undefined;
  const kind = kindOf(given);
  if (!kind) return undefined;
  const text = (value: unknown): string => (typeof value === "string" ? shorten(value, maxWords) : "");
  const field = {
    name,
    title: text(given["title"]) || name,
    description: text(given["description"]),
    isNeeded,
    kind,
  };
  return { ...field, preset: presetOf(given["default"], kind) };
}

function kindOf(given: Record<string, unknown>): FieldKind | undefined {
  const number = (name: string, otherwise: number): number => {
    const value = given[name];
    return typeof value === "number" ? value : otherwise;
  };
  const all = Number.POSITIVE_INFINITY;
  switch (given["type"]) {
    case "string": {
      const choices = choicesIn(given);
      if (choices) return { type: "choice", choices };
      const format = typeof given["format"] === "string" ? given["format"] : "";
      return { type: "text", min: number("minLength", -all), max: number("maxLength", all), format };
    }
    case "number":
    case "integer":
      return {
        type: "number",
        whole: given["type"] === "integer",
        min: number("minimum", -all),
        max: number("maximum", all),
      };
    case "boolean":
      return { type: "yes-no" };
    case "array": {
      const choices = isObject(given["items"]) ? choicesIn(given["items"]) : undefined;
      return (
        choices && {
          type: "choices",
          choices,
          min: number("minItems", -all),
          max: number("maxItems", all),
        }
      );
    }
    default:
      return undefined;
  }
}

/** The two ways in which choices are written: bare values, perhaps with names beside them, or each with its title. */
function choicesIn(given: Record<string, unknown>): FieldChoice[] | undefined {
  const { enum: values, enumNames: names } = given;
  if (Array.isArray(values))
    return values.slice(0, maxChoices).map((value, index) => ({
      value: String(value),
      label: String(Array.isArray(names) ? (names[index] ?? value) : value),
    }));
  const titled = given["oneOf"] ?? given["anyOf"];
  if (!Array.isArray(titled)) return undefined;
  return titled
    .filter(isObject)
    .slice(0, maxChoices)
    .map(({ const: value, title }) => ({ value: String(value), label: String(title ?? value) }));
}

/** A default that does not fit is none. */
function presetOf(given: unknown, kind: FieldKind): FieldValue | undefined {
  if (given === undefined) return undefined;
  const line = Array.isArray(given) ? given.map((value) => placeOf(value, kind)).join(" ") : String(given);
  const read = valueIn(line, kind);
  return read.ok ? read.value : undefined;
}

const placeOf = (value: unknown, kind: FieldKind): string =>
  "choices" in kind ? String(kind.choices.findIndex((choice) => choice.value === value) + 1) : String(value);

/** A value in words, such as the label of what was picked. */
export function sayValue(value: FieldValue, kind: FieldKind): string {
  const labels = "choices" in kind ? kind.choices : [];
  const labelOf = (one: unknown): string =>
    labels.find(({ value: known }) => known === one)?.label ?? String(one);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return [value].flat().map(labelOf).join(", ");
}

/** What is to be filled in, in words. */
export function sayKind(kind: FieldKind): string {
  switch (kind.type) {
    case "text":
      return own(formats, kind.format)?.says ?? "words";
    case "number":
      return `${kind.whole ? "a whole number" : "a number"}${sayRange(kind)}`;
    case "yes-no":
      return "yes or no";
    case "choice":
      return "a number of the list";
    case "choices":
      return `numbers of the list${sayRange(kind)}`;
    default:
      return never(kind);
  }
}

function sayRange({ min, max }: ValueRange): string {
  if (Number.isFinite(min) && Number.isFinite(max)) return `, ${min} to ${max}`;
  if (Number.isFinite(max)) return `, at most ${max}`;
  return Number.isFinite(min) ? `, at least ${min}` : "";
}

const formats: Readonly<Record<string, { readonly says: string; fits(text: string): boolean }>> = {
  email: { says: "an address of mail", fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { says: "an address, such as https://a.org", fits: (text) => URL.canParse(text) },
  date: {
    says: "a date, such as 2026-11-16",
    fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  },
  "date-time": {
    says: "a date and time, such as 2026-11-16T06:00:00Z",
    fits: (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
  },
};

/** What comes of filling in a form. `impossible`: it has a field that cannot be asked. */
export type Filled =
  | { readonly kind: "filled"; readonly values: JsonObject }
  | { readonly kind: "impossible"; readonly why: string }
  | { readonly kind: "cancelled" };

/** What a screen filled in, by the names of the fields; a sentence for each field that is not right. */
export function fillFields(
  fields: readonly Field[],
  given: Readonly<Record<string, FieldValue | undefined>>,
): Result<JsonObject, Readonly<Record<string, string>>> {
  const taken = fields.map(({ name, ...field }) => ({
    name,
    result: takeValue(field, Object.hasOwn(given, name) ? given[name] : undefined),
  }));
  const wrong = taken.flatMap(({ name, result }) => (result.ok ? [] : [[name, result.error] as const]));
  if (wrong.length > 0) return failed(Object.fromEntries(wrong));
  const values = taken.flatMap(({ name, result }) =>
    result.ok && result.value !== undefined ? [[name, result.value] as const] : [],
  );
  return ok(Object.fromEntries(values));
}

/** Nothing means the preset, or that the field is left out; a sentence when it is not right. */
export function takeValue(
  { kind, preset, isNeeded }: Pick<Field, "kind" | "preset" | "isNeeded">,
  given: FieldValue | undefined,
): Result<FieldValue | undefined> {
  if (given !== undefined) return checkValue(given, kind);
  if (preset !== undefined || !isNeeded) return ok(preset);
  return failed("It cannot be left out.");
}

export function formAnswer(filled: Filled): Answer {
  switch (filled.kind) {
    case "filled":
      return { verdict: "allow", data: filled.values };
    case "impossible":
      return { verdict: "deny", reason: `The form could not be shown: ${filled.why}.` };
    case "cancelled":
      return { verdict: "deny" };
    default:
      return never(filled);
  }
}

/** What a line that somebody typed means; a sentence when it does not fit. */
export function valueIn(line: string, kind: FieldKind): Result<FieldValue> {
  const said = line.trim();
  switch (kind.type) {
    case "text":
      return checkValue(said, kind);
    case "number":
      return checkValue(said === "" ? Number.NaN : Number(said), kind);
    case "yes-no":
      if (/^(?:y|yes|true|1)$/i.test(said)) return ok(true);
      return checkValue(/^(?:n|no|false|0)$/i.test(said) ? false : said, kind);
    case "choice":
      return checkValue(pickedIn([said], kind.choices)?.[0] ?? [], kind);
    case "choices":
      return checkValue(pickedIn(said.split(/[\s,]+/).filter(Boolean), kind.choices) ?? said, kind);
    default:
      return never(kind);
  }
}

function checkValue(value: FieldValue, kind: FieldKind): Result<FieldValue> {
  const isOffered = (one: string, choices: readonly FieldChoice[]): boolean =>
    choices.some((choice) => choice.value === one);
  switch (kind.type) {
    case "text":
      return typeof value === "string" ? checkText(value, kind) : failed("It must be words.");
    case "number":
      if (typeof value !== "number" || !Number.isFinite(value) || (kind.whole && !Number.isInteger(value)))
        return failed(`That is not ${kind.whole ? "a whole number" : "a number"}.`);
      return isIn(value, kind) ? ok(value) : failed(`It must be ${sayRange(kind).slice(2)}.`);
    case "yes-no":
      return typeof value === "boolean" ? ok(value) : failed("Say yes or no.");
    case "choice":
      return typeof value === "string" && isOffered(value, kind.choices)
        ? ok(value)
        : failed("Say a number of the list.");
    case "choices":
      if (!Array.isArray(value) || !value.every((one) => isOffered(one, kind.choices)))
        return failed("Say numbers of the list, with spaces between them.");
      return isIn(value.length, kind) ? ok(value) : failed(`It must be ${sayRange(kind).slice(2)} of them.`);
    default:
      return never(kind);
  }
}

function checkText(text: string, kind: Extract<FieldKind, { type: "text" }>): Result<string> {
  if (!isIn([...text].length, kind)) return failed(`It must have ${sayRange(kind).slice(2)} characters.`);
  const known = own(formats, kind.format);
  return known && !known.fits(text) ? failed(`It must be ${known.says}.`) : ok(text);
}

const isIn = (size: number, { min, max }: ValueRange): boolean => size >= min && size <= max;

/** By number, by value or by label; undefined when one of the words is none of them. */
function pickedIn(words: readonly string[], choices: readonly FieldChoice[]): string[] | undefined {
  const picked = words.map(
    (word) =>
      choices.find(({ value, label }) => value === word || label.toLowerCase() === word.toLowerCase()) ??
      (/^\d{1,3}$/.test(word) ? choices[Number(word) - 1] : undefined),
  );
  return picked.includes(undefined)
    ? undefined
    : [...new Set(picked.flatMap((choice) => choice?.value ?? []))];
}
