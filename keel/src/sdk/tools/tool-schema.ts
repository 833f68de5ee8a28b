/** The input of a tool as programs write it: the shape of a zod object, a zod object, or any Standard Schema. */
import * as z from "zod/mini";
import { fault } from "../../kernel/fault.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { type SchemaIssue, schemaOf } from "../../kernel/schema.ts";
import { isZodThree, type ZodThree, zodThreeJson } from "./zod-three.ts";

/** The part of the Standard Schema that is needed here. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** What a model can be told, where the schema's library says it. */
    readonly jsonSchema?: { readonly input: (options: { target: string }) => Record<string, unknown> };
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };
type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** Schemas by the name of the field. */
export type Shape = Readonly<Record<string, StandardSchema>>;

/** What the handler gets. */
export type OutputOf<S> =
  S extends StandardSchema<infer Output>
    ? Output
    : S extends Shape
      ? { [name in keyof S]: S[name] extends StandardSchema<infer Output> ? Output : never }
      : never;

/** The fields of an input, by the names that the interface has for them. */
export type AnyZodRawShape = Shape;
export type InferShape<S extends Shape> = OutputOf<S>;

export type ToolInput = {
  readonly json: JsonObject;
  readonly parse: (input: Record<string, unknown>) => Result<unknown, SchemaIssue[]>;
};

/** Throws `usage` for something that is no schema. */
export function toolInputOf(given: StandardSchema | Shape): ToolInput {
  const schema = readable(given);
  if (isStandard(schema)) return isZod(schema) ? fromZod(schema) : fromStandard(schema);
  const fields = Object.entries(schema).map(
    ([name, field]) => [name, readable(field)] as [string, typeof field],
  );
  const wrong = fields.find(([, field]) => !isStandard(field));
  if (wrong) throw fault("usage", { reason: `The field ${wrong[0]} of a tool's input is no schema.` });
  if (fields.every(([, field]) => isZod(field)))
    return fromZod(z.object(Object.fromEntries(fields) as unknown as Record<string, z.ZodMiniType>));
  return fromFields(fields);
}

const isStandard = (value: unknown): value is StandardSchema =>
  (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;

/** What version 3 of zod cannot say of itself is said for it. */
const readable = <S>(schema: S): S | StandardSchema => (isZodThree(schema) ? fromZodThree(schema) : schema);

const fromZodThree = (schema: ZodThree): StandardSchema => ({
  "~standard": {
    version: 1,
    vendor: "zod",
    validate(value) {
      const parsed = schema.safeParse(value);
      return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues };
    },
    jsonSchema: { input: () => zodThreeJson(schema) },
  },
});

/** Of version 4, whose insides all copies of it share. */
const isZod = (value: unknown): boolean => isObject(value) && "_zod" in value;

function fromZod(schema: unknown): ToolInput {
  const wrapped = schemaOf(schema as z.ZodMiniType);
  const { json } = wrapped;
  if (json["type"] !== "object") throw fault("usage", { reason: "The input of a tool must be an object." });
  return { json, parse: (input) => wrapped.parse(input) };
}

const fromStandard = (schema: StandardSchema): ToolInput => ({
  json: { type: "object", ...jsonOf(schema) },
  parse: (input) => validate(schema, input, ""),
});

function fromFields(fields: readonly [string, StandardSchema][]): ToolInput {
  const isOptional = (field: StandardSchema): boolean => validate(field, undefined, "").ok;
  return {
    json: {
      type: "object",
      properties: Object.fromEntries(fields.map(([name, field]) => [name, jsonOf(field)])),
      required: fields.flatMap(([name, field]) => (isOptional(field) ? [] : [name])),
    },
    parse(input) {
      const parsed = fields.map(([name, field]) => [name, validate(field, input[name], name)] as const);
      const issues = parsed.flatMap(([, result]) => (result.ok ? [] : result.error));
      if (issues.length > 0) return failed(issues);
      return ok(
        Object.fromEntries(parsed.map(([name, result]) => [name, result.ok ? result.value : undefined])),
      );
    },
  };
}

/** A library that does not say what its schema looks like leaves the model with the tool's description. */
function jsonOf(schema: StandardSchema): JsonObject {
  try {
    const { $schema: _, ...json } = schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" }) ?? {};
    return json as JsonObject;
  } catch {
    return {}; // It has no form in JSON Schema.
  }
}

function validate(schema: StandardSchema, value: unknown, path: string): Result<unknown, SchemaIssue[]> {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise)
    return failed([{ path, message: "this schema answers later, which a tool's input cannot wait for" }]);
  if (result.issues === undefined) return ok(result.value);
  return failed(
    result.issues.map((issue) => ({
      path: [path, ...(issue.path ?? []).map(keyOf)].filter(Boolean).join("."),
      message: issue.message,
    })),
  );
}

const keyOf = (part: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof part === "object" ? part.key : part);
