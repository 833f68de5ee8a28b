/** The fields of a form that a server wants filled in: what each takes, how it is asked, and what a line means for it. */
import { isObject, type JsonObject } from "../../../kernel/json.ts";
import { failed, ok, type Result } from "../../../kernel/result.ts";
import { shorten } from "../../../kernel/text.ts";
import { visible } from "../../../view/visible.ts";

export type Choice = { readonly value: string; readonly label: string };

type FieldKind =
  | { readonly type: "text"; readonly least: number; readonly most: number; readonly format: string }
  | { readonly type: "number"; readonly whole: boolean; readonly least: number; readonly most: number }
  | { readonly type: "yes-no" }
  | { readonly type: "choice"; readonly choices: readonly Choice[] }
  | {
      readonly type: "choices";
      readonly choices: readonly Choice[];
      readonly least: number;
      readonly most: number;
    };

export type FieldValue = string | number | boolean | string[];

export type Field = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isNeeded: boolean;
  readonly kind: FieldKind;
  readonly preset: FieldValue | undefined;
};

/** More than anybody fills in on a terminal. */
const maxFields = 50;
const maxChoices = 100;
const maxWords = 500;

/** A sentence when there is something in it that cannot be asked here. */
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
      return { type: "text", least: number("minLength", -all), most: number("maxLength", all), format };
    }
    case "number":
    case "integer":
      return {
        ...{ type: "number", whole: given["type"] === "integer" },
        ...{ least: number("minimum", -all), most: number("maximum", all) },
      };
    case "boolean":
      return { type: "yes-no" };
    case "array": {
      const choices = isObject(given["items"]) ? choicesIn(given["items"]) : undefined;
      return (
        choices && {
          type: "choices",
          choices,
          least: number("minItems", -all),
          most: number("maxItems", all),
        }
      );
    }
    default:
      return undefined;
  }
}

/** The two ways in which choices are written: bare values, perhaps with names beside them, or each with its title. */
function choicesIn(given: Record<string, unknown>): Choice[] | undefined {
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

export function sayField({ title, description, isNeeded, kind, preset }: Field): string {
  const shown = preset === undefined ? undefined : sayValue(preset, kind);
  const empty =
    shown !== undefined ? `nothing: ${visible(shown)}` : isNeeded ? "needed" : "nothing: left out";
  const told =
    description === ""
      ? []
      : visible(description)
          .split("\n")
          .map((line) => `  │ ${line}`);
  const choices = "choices" in kind ? kind.choices : [];
  return [
    "",
    visible(title),
    ...told,
    ...choices.map(({ label }, index) => `  ${index + 1}  ${visible(label)}`),
    `[${sayKind(kind)}; ${empty}; ${cancelWord}: no answer at all] > `,
  ].join("\n");
}

export const cancelWord = "/cancel";

function sayValue(value: FieldValue, kind: FieldKind): string {
  const labels = "choices" in kind ? kind.choices : [];
  const labelOf = (one: unknown): string =>
    labels.find(({ value: known }) => known === one)?.label ?? String(one);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return [value].flat().map(labelOf).join(", ");
}

function sayKind(kind: FieldKind): string {
  switch (kind.type) {
    case "text":
      return formats.get(kind.format)?.says ?? "words";
    case "number":
      return `${kind.whole ? "a whole number" : "a number"}${sayRange(kind)}`;
    case "yes-no":
      return "yes or no";
    case "choice":
      return "a number of the list";
    case "choices":
      return `numbers of the list${sayRange(kind)}`;
  }
}

function sayRange({ least, most }: { readonly least: number; readonly most: number }): string {
  if (Number.isFinite(least) && Number.isFinite(most)) return `, ${least} to ${most}`;
  if (Number.isFinite(most)) return `, at most ${most}`;
  return Number.isFinite(least) ? `, at least ${least}` : "";
}

type FieldFormat = { readonly says: string; fits(text: string): boolean };

const formats = new Map<string, FieldFormat>(
  Object.entries({
    email: { says: "an address of mail", fits: (text: string) => /^[^\s@]+@[^\s@]+$/.test(text) },
    uri: { says: "an address, such as https://a.org", fits: (text: string) => URL.canParse(text) },
    date: {
      says: "a date, such as 2026-11-16",
      fits: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
    },
    "date-time": {
      says: "a date and time, such as 2026-11-16T06:00:00Z",
      fits: (text: string) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
    },
  } satisfies Record<string, FieldFormat>),
);

/** What a line means; a sentence when it does not fit. */
export function valueIn(line: string, kind: FieldKind): Result<FieldValue> {
  const said = line.trim();
  switch (kind.type) {
    case "text":
      return textIn(said, kind);
    case "number": {
      const value = Number(said);
      if (said === "" || !Number.isFinite(value) || (kind.whole && !Number.isInteger(value)))
        return failed(`That is not ${kind.whole ? "a whole number" : "a number"}.`);
      return value < kind.least || value > kind.most
        ? failed(`It must be ${sayRange(kind).slice(2)}.`)
        : ok(value);
    }
    case "yes-no":
      if (/^(?:y|yes|true|1)$/i.test(said)) return ok(true);
      return /^(?:n|no|false|0)$/i.test(said) ? ok(false) : failed("Say yes or no.");
    case "choice": {
      const [picked, ...more] = pickedIn([said], kind.choices) ?? [];
      return picked === undefined || more.length > 0 ? failed("Say a number of the list.") : ok(picked);
    }
    case "choices": {
      const picked = pickedIn(said.split(/[\s,]+/).filter(Boolean), kind.choices);
      if (!picked) return failed("Say numbers of the list, with spaces between them.");
      const { length } = picked;
      return length < kind.least || length > kind.most
        ? failed(`It must be ${sayRange(kind).slice(2)} of them.`)
        : ok(picked);
    }
  }
}

function textIn(said: string, { least, most, format }: Extract<FieldKind, { type: "text" }>): Result<string> {
  const length = [...said].length;
  if (length < least || length > most)
    return failed(`It must have ${sayRange({ least, most }).slice(2)} characters.`);
  const known = formats.get(format);
  return known && !known.fits(said) ? failed(`It must be ${known.says}.`) : ok(said);
}

/** By number, by value or by label; undefined when one of the words is none of them. */
function pickedIn(words: readonly string[], choices: readonly Choice[]): string[] | undefined {
  const picked = words.map(
    (word) =>
      choices.find(({ value, label }) => value === word || label.toLowerCase() === word.toLowerCase()) ??
      (/^\d{1,3}$/.test(word) ? choices[Number(word) - 1] : undefined),
  );
  return picked.includes(undefined)
    ? undefined
    : [...new Set(picked.flatMap((choice) => choice?.value ?? []))];
}
