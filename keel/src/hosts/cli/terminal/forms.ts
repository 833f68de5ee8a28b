/** A form of a server on the terminal: asked field by field, checked, and asked again where it does not fit. */
import type { JsonObject } from "../../../kernel/json.ts";
import { cancelWord, type Field, type FieldValue, fieldsOf, sayField, valueIn } from "./form-fields.ts";
import type { ReadAnswer } from "./questions.ts";

/** `impossible`: it has a field that cannot be asked here. `cancelled`: the person wants to give no answer. */
export type Filled =
  | { readonly kind: "filled"; readonly values: JsonObject }
  | { readonly kind: "impossible"; readonly why: string }
  | { readonly kind: "cancelled" };

/** Whoever types past the same field so often wants something else. */
const maxTries = 5;

export async function fillForm(
  schema: JsonObject,
  readAnswer: ReadAnswer,
  signal: AbortSignal,
): Promise<Filled> {
  const fields = fieldsOf(schema);
  if (!fields.ok) return { kind: "impossible", why: fields.error };
  const values: JsonObject = {};
  for (const field of fields.value) {
    const answer = await askField(field, readAnswer, signal);
    if (answer === "cancelled") return { kind: "cancelled" };
    if (answer !== "left out") values[field.name] = answer.value;
  }
  return { kind: "filled", values };
}

async function askField(
  field: Field,
  readAnswer: ReadAnswer,
  signal: AbortSignal,
): Promise<{ readonly value: FieldValue } | "left out" | "cancelled"> {
  let wrong = "";
  for (let tries = 0; tries < maxTries; tries++) {
    const line = await readAnswer(`${wrong}${sayField(field)}`, signal);
    if (line === undefined || line.trim() === cancelWord) return "cancelled";
    if (line.trim() === "") {
      if (field.preset !== undefined) return { value: field.preset };
      if (!field.isNeeded) return "left out";
      wrong = "\nIt cannot be left out.\n";
      continue;
    }
    const read = valueIn(line, field.kind);
    if (read.ok) return { value: read.value };
    wrong = `\n${read.error}\n`;
  }
  return "cancelled";
}
