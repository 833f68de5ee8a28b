/** Messages of an agent held to the schema of the protocol. */
import type { Ajv2020 } from "ajv/dist/2020.js";
import { asObject, isObject, type JsonObject } from "../../kernel/json.ts";

export type SchemaCheck = {
  /** What is wrong with the result of this method; empty where nothing is. */
  result(method: string, value: unknown): string;
  /** The same of what the agent says of itself: its notifications and requests. */
  params(method: string, value: unknown): string;
  /** Fields of their own that no schema names. */
  strangers(method: string, kind: "result" | "params", value: unknown): string[];
};

/** Loaded late: few use the kit. */
export async function schemaCheck(schema: JsonObject): Promise<SchemaCheck> {
  const { Ajv2020: Validator } = await import("ajv/dist/2020.js");
  const ajv: Ajv2020 = new Validator({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(schema, "acp");
  const defs = asObject(schema["$defs"]);
  const nameOf = (method: string, kind: "result" | "params"): string | undefined => {
    const end = kind === "result" ? /Response$/ : /(?:Request|Notification)$/;
    return Object.keys(defs).find((name) => asObject(defs[name])["x-method"] === method && end.test(name));
  };
  const wrong = (method: string, kind: "result" | "params", value: unknown): string => {
    const name = nameOf(method, kind);
    // Methods of its own are its own matter.
    if (name === undefined) return method.startsWith("_") ? "" : `the schema has no ${kind} of ${method}`;
    const validate = ajv.getSchema(`acp#/$defs/${name}`);
    return validate?.(value) ? "" : `${name}: ${ajv.errorsText(validate?.errors)}`;
  };
  return {
    result: (method, value) => wrong(method, "result", value),
    params: (method, value) => wrong(method, "params", value),
    strangers(method, kind, value) {
      const name = nameOf(method, kind);
      if (name === undefined || !isObject(value)) return [];
      const known = namesIn(defs, defs[name], new Set());
      return Object.keys(value).filter((key) => key !== "_meta" && !known.has(key));
    },
  };
}

/** Every name that a definition or what it refers to gives a field. */
function namesIn(defs: Record<string, unknown>, given: unknown, known: Set<string>): Set<string> {
  const { properties, $ref, ...rest } = asObject(given);
  for (const name of Object.keys(asObject(properties))) known.add(name);
  if (typeof $ref === "string") namesIn(defs, defs[$ref.replace("#/$defs/", "")], known);
  for (const several of [rest["allOf"], rest["anyOf"], rest["oneOf"]])
    for (const one of Array.isArray(several) ? several : []) namesIn(defs, one, known);
  return known;
}
