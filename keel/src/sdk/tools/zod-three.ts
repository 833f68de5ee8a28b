/**
 * What schemas of zod 3 look like: version 3 cannot say it itself, so it is read from its definitions. A kind that has no
 * form in JSON Schema says nothing, and its values are checked all the same.
 */
import { asList, asObject, asText, isObject, type Json, type JsonObject } from "../../kernel/json.ts";

/** What all schemas of zod 3 have, whichever of its releases made them. */
export type ZodThree = {
  readonly _def: Readonly<Record<string, unknown>>;
  readonly description?: string | undefined;
  safeParse(value: unknown):
    | { readonly success: true; readonly data: unknown }
    | {
        readonly success: false;
        readonly error: { readonly issues: readonly { path: PropertyKey[]; message: string }[] };
      };
};

export const isZodThree = (value: unknown): value is ZodThree =>
  isObject(value) && typeof value["safeParse"] === "function" && typeof defOf(value)["typeName"] === "string";

/** A schema that contains itself ends here. */
const maxDepth = 16;

export function zodThreeJson(schema: unknown, depth = 0): JsonObject {
  if (!isZodThree(schema) || depth > maxDepth) return {};
  const { _def: def, description } = schema;
  const form = forms[asText(def["typeName"])]?.(def, (inner) => zodThreeJson(inner, depth + 1)) ?? {};
  return description === undefined ? form : { ...form, description };
}

type Form = (def: Readonly<Record<string, unknown>>, inner: (schema: unknown) => JsonObject) => JsonObject;

const inside =
  (name: string): Form =>
  (def, inner) =>
    inner(def[name]);

const forms: Readonly<Record<string, Form | undefined>> = {
  ZodString: (def) => ({ type: "string", ...checked(def, stringChecks) }),
  ZodNumber: (def) => {
    const isWhole = checksOf(def).some(({ kind }) => kind === "int");
    return { type: isWhole ? "integer" : "number", ...checked(def, numberChecks) };
  },
  ZodBigInt: () => ({ type: "integer" }),
  ZodBoolean: () => ({ type: "boolean" }),
  ZodDate: () => ({ type: "string", format: "date-time" }),
  ZodNull: () => ({ type: "null" }),
  ZodLiteral: ({ value }) => ({ const: value as Json }),
  ZodEnum: ({ values }) => ({ type: "string", enum: asList(values) as Json[] }),
  ZodNativeEnum: ({ values }) => ({ enum: enumValues(asObject(values)) }),
  ZodArray: (def, inner) => ({
    type: "array",
    items: inner(def["type"]),
    ...bound("minItems", def["minLength"] ?? def["exactLength"]),
    ...bound("maxItems", def["maxLength"] ?? def["exactLength"]),
  }),
  ZodSet: (def, inner) => ({ type: "array", items: inner(def["valueType"]), uniqueItems: true }),
  ZodTuple: (def, inner) => ({ type: "array", prefixItems: asList(def["items"]).map(inner) }),
  ZodRecord: (def, inner) => ({ type: "object", additionalProperties: inner(def["valueType"]) }),
  ZodObject: objectForm,
  ZodUnion: (def, inner) => ({ anyOf: asList(def["options"]).map(inner) }),
  ZodDiscriminatedUnion: ({ options }, inner) => ({
    anyOf: (options instanceof Map ? [...options.values()] : asList(options)).map(inner),
  }),
  ZodIntersection: (def, inner) => ({ allOf: [inner(def["left"]), inner(def["right"])] }),
  ZodNullable: (def, inner) => ({ anyOf: [inner(def["innerType"]), { type: "null" }] }),
  ZodDefault: (def, inner) => ({ ...inner(def["innerType"]), ...defaultOf(def["defaultValue"]) }),
  ZodOptional: inside("innerType"),
  ZodCatch: inside("innerType"),
  ZodReadonly: inside("innerType"),
  ZodBranded: inside("type"),
  ZodEffects: inside("schema"),
  ZodPipeline: inside("in"),
  ZodLazy: ({ getter }, inner) => inner(typeof getter === "function" ? getter() : undefined),
};

function objectForm(def: Readonly<Record<string, unknown>>, inner: Parameters<Form>[1]): JsonObject {
  const shape = typeof def["shape"] === "function" ? asObject(def["shape"]()) : asObject(def["shape"]);
  const fields = Object.entries(shape);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, field]) => [name, inner(field)])),
    required: fields.flatMap(([name, field]) =>
      isZodThree(field) && field.safeParse(undefined).success ? [] : [name],
    ),
    ...(def["unknownKeys"] === "strict" ? { additionalProperties: false } : {}),
  };
}

type Check = { readonly kind: string; readonly value?: unknown; readonly regex?: unknown };

const checksOf = (def: Readonly<Record<string, unknown>>): Check[] =>
  asList(def["checks"]).flatMap((check) =>
    isObject(check) && typeof check["kind"] === "string" ? [{ ...check, kind: check["kind"] }] : [],
  );

const checked = (
  def: Readonly<Record<string, unknown>>,
  table: Readonly<Record<string, ((check: Check) => JsonObject) | undefined>>,
): JsonObject => Object.assign({}, ...checksOf(def).map((check) => table[check.kind]?.(check) ?? {}));

const format = (name: string) => (): JsonObject => ({ format: name });

const stringChecks = {
  min: ({ value }: Check) => bound("minLength", value),
  max: ({ value }: Check) => bound("maxLength", value),
  length: ({ value }: Check) => ({ ...bound("minLength", value), ...bound("maxLength", value) }),
  regex: ({ regex }: Check) => (regex instanceof RegExp ? { pattern: regex.source } : {}),
  email: format("email"),
  url: format("uri"),
  uuid: format("uuid"),
  datetime: format("date-time"),
  date: format("date"),
};

const numberChecks = {
  min: ({ value, ...check }: Check & { inclusive?: boolean }) =>
    bound(check.inclusive === false ? "exclusiveMinimum" : "minimum", value),
  max: ({ value, ...check }: Check & { inclusive?: boolean }) =>
    bound(check.inclusive === false ? "exclusiveMaximum" : "maximum", value),
  multipleOf: ({ value }: Check) => bound("multipleOf", value),
};

/** A length stands as it is, or in an object with the words of its failure. */
function bound(name: string, value: unknown): JsonObject {
  const limit = isObject(value) ? value["value"] : value;
  return typeof limit === "number" ? { [name]: limit } : {};
}

function defaultOf(value: unknown): JsonObject {
  const given: unknown = typeof value === "function" ? value() : value;
  return given === undefined ? {} : { default: given as Json };
}

/** A number of an enum of TypeScript names its key again. */
const enumValues = (values: Record<string, unknown>): Json[] =>
  Object.values(values).filter((value) => typeof values[String(value)] !== "number") as Json[];

const defOf = (value: Record<string, unknown>): Record<string, unknown> => asObject(value["_def"]);
