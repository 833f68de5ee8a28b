/** A form of a server on the terminal: asked field by field, checked, and asked again where it does not fit. */

import type { JsonObject } from "../../../kernel/json.ts";
import type { Result } from "../../../kernel/result.ts";
import { visible } from "../../../kernel/text.ts";
import {
  type Field,
  type FieldValue,
  type Filled,
  sayKind,
  sayValue,
  takeValue,
  valueIn,
} from "../../../view/forms.ts";
import { indented, type ReadAnswer } from "./terminal.ts";

/** Whoever types past the same field so often wants something else. */
const maxTries = 5;

export async function fillForm(
  fields: Result<readonly Field[]>,
  readAnswer: ReadAnswer,
  signal: AbortSignal,
): Promise<Filled> {
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
    const read = line.trim() === "" ? takeValue(field, undefined) : valueIn(line, field.kind);
    if (read.ok) return read.value === undefined ? "left out" : { value: read.value };
    wrong = `\n${read.error}\n`;
  }
  return "cancelled";
}

const cancelWord = "/cancel";

export function sayField({ title, description, isNeeded, kind, preset }: Field): string {
  const shown = preset === undefined ? undefined : sayValue(preset, kind);
  const empty =
    shown !== undefined ? `nothing: ${visible(shown)}` : isNeeded ? "needed" : "nothing: left out";
  const choices = "choices" in kind ? kind.choices : [];
  return [
    "",
    visible(title),
    ...(description === "" ? [] : indented(description)),
    ...choices.map(({ label }, index) => `  ${index + 1}  ${visible(label)}`),
    `[${sayKind(kind)}; ${empty}; ${cancelWord}: no answer at all] > `,
  ].join("\n");
}
