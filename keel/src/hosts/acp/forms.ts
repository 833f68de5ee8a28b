/** Questions and forms of servers as elicitations, and what was filled in. Pure. */
import type {
  CreateElicitationRequest,
  ElicitationPropertySchema,
  ElicitationSchema,
} from "@agentclientprotocol/sdk";
import { asObject, isJson } from "../../kernel/json.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import type { Question } from "../../protocol/question.ts";
import { askForm, questionsAnswer } from "../../view/choices.ts";
import { formAnswer } from "../../view/forms.ts";

/** Undefined for what is no form. */
export function elicitationOf(ask: Ask, sessionId: string): CreateElicitationRequest | undefined {
  const form = askForm(ask);
  const scope = { sessionId, ...(ask.callId === undefined ? {} : { toolCallId: ask.callId }) };
  if (form.kind === "questions" && form.questions.length > 0)
    return { mode: "form", message: ask.title, ...scope, requestedSchema: questionsSchema(form.questions) };
  if (form.kind !== "fields" || !form.fields.ok) return undefined;
  // As its server wrote it, which the fields were just read from.
  const requestedSchema = ask.schema as ElicitationSchema;
  return { mode: "form", message: ask.title, ...scope, requestedSchema };
}

const nameOf = (index: number): string => `question${index + 1}`;

const questionsSchema = (questions: readonly Question[]): ElicitationSchema => ({
  type: "object",
  properties: Object.fromEntries(questions.map((question, index) => [nameOf(index), fieldOf(question)])),
  required: questions.map((_, index) => nameOf(index)),
});

function fieldOf({ header, question, options, multiSelect }: Question): ElicitationPropertySchema {
  const words = { title: header, description: question };
  const choices = options.map(({ label, description }) => ({ const: label, title: label, description }));
  return multiSelect
    ? { type: "array", ...words, items: { anyOf: choices } }
    : { type: "string", ...words, oneOf: choices };
}

export function filledAnswer(ask: Ask, response: unknown): Answer {
  const { action, content: filled } = asObject(response);
  if (action !== "accept") return formAnswer({ kind: "cancelled" });
  const content = asObject(filled);
  const form = askForm(ask);
  if (form.kind !== "questions")
    return isJson(content) ? { verdict: "allow", data: content } : formAnswer({ kind: "cancelled" });
  const answers = form.questions.flatMap(({ question }, index): [string, string | string[]][] => {
    const value = content[nameOf(index)];
    if (typeof value === "string" && value !== "") return [[question, value]];
    return Array.isArray(value) && value.length > 0 ? [[question, value.map(String)]] : [];
  });
  return questionsAnswer(Object.fromEntries(answers));
}
