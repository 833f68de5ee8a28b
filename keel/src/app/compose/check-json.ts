/** Checks values against a JSON Schema that somebody else wrote. Heavy: loaded only where such a schema is given. */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { fault, reasonOf } from "../../kernel/fault.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { Tool } from "../../ports/tool.ts";
import { answerTool, type CheckJson } from "../../tools/structured-answer.ts";

/** The tool by which an answer in this form is given. Throws as `jsonChecker` does. */
export const checkedAnswer = (schema: JsonObject): Tool =>
  answerTool({ schema, check: jsonChecker(schema) }) as Tool;

/** Throws `usage` when the schema itself is wrong, or does not describe an object. */
export function jsonChecker(schema: JsonObject): CheckJson {
  // What a schema says beside the standard is left alone, as other tools do.
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false, logger: false });
  const { $schema: _, ...plain } = schema;
  const validate = compile(ajv, plain);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(issueOf));
}

function compile(ajv: Ajv2020, schema: JsonObject) {
  const { type } = schema;
  if (type !== undefined && type !== "object")
    throw fault("usage", { reason: "The JSON Schema of the answer must describe an object." });
  try {
    return ajv.compile(schema);
  } catch (cause) {
    throw fault("usage", { reason: `The JSON Schema of the answer is not valid: ${reasonOf(cause)}`, cause });
  }
}

const issueOf = ({ instancePath, message, params }: ErrorObject) => ({
  path: instancePath.slice(1).replaceAll("/", "."),
  message:
    "additionalProperty" in params
      ? `${message}: ${params["additionalProperty"]}`
      : (message ?? "is not valid"),
});
