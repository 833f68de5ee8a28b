/** Fields of a request that not every server of this wire takes, and what refusals have taught about them. */
import { isObject } from "../../kernel/json.ts";

/** Whether each may be sent. A field that is refused is left out from then on. */
export type ResponsesFields = Readonly<Record<ResponsesField, boolean>>;
type ResponsesField = (typeof optional)[number];

/** By the names that a refusal has for them; the longer before those that they start with. */
const optional = [
  "reasoning.summary",
  "reasoning.effort",
  "reasoning",
  "include",
  "prompt_cache_key",
  "store",
] as const;

export type FieldsMemory = {
  known(model: string): ResponsesFields;
  /** Whether the refusal taught something new: then the request is worth writing once more. */
  learn(model: string, error: unknown): boolean;
};

export function fieldsMemory(): FieldsMemory {
  // What is thought, and whether it may be summed up, is a matter of the model and of whose key it is.
  const refused = new Set<string>();
  const about = (model: string, field: ResponsesField): string =>
    field.startsWith("reasoning") || field === "include" ? `${model} ${field}` : field;
  return {
    known: (model) =>
      Object.fromEntries(
        optional.map((field) => [field, !refused.has(about(model, field))]),
      ) as ResponsesFields,
    learn(model, error) {
      const field = optional.find((one) => !refused.has(about(model, one)) && isAbout(error, one));
      if (field === undefined) return false;
      refused.add(about(model, field));
      return true;
    },
  };
}

function isAbout(error: unknown, field: ResponsesField): boolean {
  const param = isObject(error) && typeof error["param"] === "string" ? error["param"] : "";
  if (param !== "") return param === field || param.startsWith(`${field}[`);
  const words = JSON.stringify(error) ?? "";
  // "Encrypted content is not supported with this model" names what is included, and not the field.
  if (field === "include" && /encrypted[ _]content/i.test(words)) return true;
  return new RegExp(`(?<![\\w.])${field.replace(".", "\\.")}(?![\\w.])`).test(words);
}
