// The rows of the settings reference, made from the schema that settings are checked with. Pure.
import { matchesPath } from "../../keel/src/config/settings/entries.ts";
import {
  addingLists,
  personOnly,
  settingsJsonSchema,
} from "../../keel/src/config/settings/settings-schema.ts";
import { isObject } from "../../keel/src/kernel/json.ts";

export type SettingRow = {
  /** Dotted; a star stands for a name of one's own. */
  readonly name: string;
  readonly form: string;
  readonly says: string;
  /** `yours`: no project has a say in it. */
  readonly from: "every source" | "every source adds" | "yours";
};

export function settingRows(): SettingRow[] {
  return walk(settingsJsonSchema(), []);
}

function walk(schema: unknown, path: readonly string[]): SettingRow[] {
  if (!isObject(schema)) return [];
  const groups = inner(schema, path);
  const isLeaf = groups.length === 0;
  if (path.length === 0) return groups;
  // A group is told once, before its parts, where it has words of its own.
  return isLeaf || schema["description"] !== undefined ? [rowOf(schema, path, isLeaf), ...groups] : groups;
}

function inner(schema: Record<string, unknown>, path: readonly string[]): SettingRow[] {
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const rows = properties.flatMap(([name, part]) => walk(part, [...path, name]));
  const any = schema["additionalProperties"];
  const isNamed = isObject(any) && isObject(any["properties"]) && Object.keys(any["properties"]).length > 0;
  return isNamed ? [...rows, ...inner(any, [...path, "*"])] : rows;
}

function rowOf(schema: Record<string, unknown>, path: readonly string[], isLeaf: boolean): SettingRow {
  const name = path.join(".");
  const owner = Object.keys(personOnly).find((one) => name === one || name.startsWith(`${one}.`));
  const adds = matchesPath(addingLists, path) || matchesPath(addingLists, [...path, "*"]);
  return {
    name,
    form: isLeaf ? formOf(schema) : "object",
    says: typeof schema["description"] === "string" ? schema["description"] : "",
    from: owner === undefined ? (adds ? "every source adds" : "every source") : "yours",
  };
}

function formOf(schema: unknown): string {
  if (!isObject(schema)) return "anything";
  const { type, const: only, anyOf, items, additionalProperties } = schema;
  const choices = schema["enum"];
  if (Array.isArray(choices)) return choices.map((one) => `\`${one}\``).join(", ");
  if (only !== undefined) return `\`${only}\``;
  if (Array.isArray(anyOf)) return anyOf.map(formOf).join(" or ");
  if (type === "array") return `list of ${plural(formOf(items))}`;
  const isOfSome = isObject(additionalProperties) && Object.keys(additionalProperties).length > 0;
  if (type === "object" && isOfSome) return `object of ${plural(formOf(additionalProperties))}`;
  if (type === "string") return "text";
  if (type === "integer") return "whole number";
  return typeof type === "string" ? type : "anything";
}

const plural = (form: string): string =>
  form.replace(/^list of/, "lists of").replace(/^(?:text|object|number|whole number)$/, "$&s");
