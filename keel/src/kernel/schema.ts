/**
 * Schemas as the rest of Keel sees them: something that parses a value and says what is wrong with it, and that can
 * be shown to a model as JSON Schema. Inside Keel they are written with `zod/mini`; users may bring any Standard Schema.
 */
import * as z from "zod/mini";
import type { JsonObject } from "./json.ts";
import { failed, ok, type Result } from "./result.ts";

export interface Schema<T> {
  parse(value: unknown): Result<T, SchemaIssue[]>;
  /** What a model is told about the shape. Always an object schema for a tool's input. */
  readonly json: JsonObject;
  /** The same, made from the schema whatever was given for it. */
  toJson?(): JsonObject;
}

export type SchemaIssue = { readonly path: string; readonly message: string };

/**
 * Wraps a zod schema. Its JSON form is made at first use, since most schemas are never shown; those that every first
 * request shows are given, since making them would keep it waiting.
 */
export function schemaOf<T>(type: z.ZodMiniType<T>, given?: JsonObject): Schema<T> {
  let json = given;
  return {
    parse: (value) => parseWith(type, value),
    toJson: () => toJsonSchema(type),
    get json() {
      json ??= toJsonSchema(type);
      return json;
    },
  };
}

export function parseWith<T>(type: z.ZodMiniType<T>, value: unknown): Result<T, SchemaIssue[]> {
  const parsed = type.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  return failed(
    parsed.error.issues.map((issue) => ({ path: issue.path.map(String).join("."), message: issue.message })),
  );
}

export const sayIssues = (issues: readonly SchemaIssue[]): string =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");

function toJsonSchema(type: z.ZodMiniType): JsonObject {
  const { $schema: _, ...json } = z.toJSONSchema(type, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => leaveOutTheObvious(jsonSchema),
  });
  return json as JsonObject;
}

/** A schema is sent with every request: what every number and every object is anyway need not be said. */
function leaveOutTheObvious(json: { maximum?: unknown; minimum?: unknown; propertyNames?: unknown }): void {
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (JSON.stringify(json.propertyNames) === '{"type":"string"}') delete json.propertyNames;
}
