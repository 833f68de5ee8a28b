/**
 * The shapes of schemas as plain data, and whether a value surely has one: a yes means that the schema would take the
 * value and leave it as it is. A no means nothing; then the schema itself is asked. Schemas take a library to run, and
 * for a long log that took longer than everything else together.
 */
import { isJson, isPlain } from "./json.ts";
import { never } from "./result.ts";

export type ValueShape =
  /** `unsure`: only the schema can tell. */
  | { readonly kind: "text" | "number" | "flag" | "null" | "json" | "unsure" }
  | { readonly kind: "one"; readonly of: readonly (string | number | boolean | null)[] }
  | { readonly kind: "list"; readonly of: ValueShape }
  | { readonly kind: "map"; readonly of: ValueShape }
  | { readonly kind: "any"; readonly of: readonly ValueShape[] }
  /** Each member with 1 when it is always there, and 0 when it may be absent; `must` is their sum. */
  | { readonly kind: "object"; readonly must: number; readonly of: Readonly<Record<string, Member>> }
  /** Objects, told apart by the text of one member. */
  | { readonly kind: "by"; readonly key: string; readonly of: Readonly<Record<string, ValueShape>> };

export type Member = readonly [shape: ValueShape, must: 0 | 1];

export function fits(shape: ValueShape, value: unknown): boolean {
  switch (shape.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "flag":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "json":
      return isJson(value);
    case "unsure":
      return false;
    case "one":
      return shape.of.some((each) => each === value);
    case "any":
      return shape.of.some((each) => fits(each, value));
    case "list":
      return Array.isArray(value) && fitsAll(shape.of, value);
    case "map":
      // A schema leaves out a member of this name.
      return isPlain(value) && !Object.hasOwn(value, "__proto__") && fitsAll(shape.of, Object.values(value));
    case "by":
      return isPlain(value) && fitsOneOf(shape.of, value[shape.key], value);
    case "object":
      return isPlain(value) && fitsMembers(shape, value);
    default:
      return never(shape);
  }
}

/** By number: what is missing in an array is a member too. */
function fitsAll(shape: ValueShape, values: readonly unknown[]): boolean {
  for (let at = 0; at < values.length; at++) if (!fits(shape, values[at])) return false;
  return true;
}

function fitsOneOf(shapes: Readonly<Record<string, ValueShape>>, name: unknown, value: unknown): boolean {
  const shape = typeof name === "string" && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
  return shape !== undefined && fits(shape, value);
}

/** All that must be there, and nothing that is not known. What is undefined is as good as absent. */
function fitsMembers(
  { must, of }: Extract<ValueShape, { kind: "object" }>,
  value: Record<string, unknown>,
): boolean {
  let left = must;
  for (const name in value) {
    const member = value[name];
    const known = Object.hasOwn(of, name) ? of[name] : undefined;
    if (!known) return false;
    if (member === undefined) continue;
    if (!fits(known[0], member)) return false;
    left -= known[1];
  }
  return left === 0;
}
