/** AskUserQuestion: choices for the person, and what they picked. Waits as long as an ask does, also over a crash. */
import { isJson } from "../kernel/json.ts";
import { schemaOf } from "../kernel/schema.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import type { Answer, AskOption } from "../protocol/ask.ts";
import { text } from "../protocol/message.ts";
import { type Answers, answersSchema, type Question, questionsSchema } from "../protocol/question.ts";
import { builtInTool, declined } from "./built-in.ts";

export const askUserQuestionTool = builtInTool({
  name: "AskUserQuestion",
  family: "person",
  description:
    "Asks the user to choose between options, when a decision is theirs and you cannot find the answer yourself. Put your recommendation first and say so in its label. Do not use it to ask for permission to continue.",
  input: questionsSchema,
  // Asking again under the same id joins the question that is open.
  traits: { readOnly: true, replay: "safe" },
  claims: async () => [],
  check: async ({ questions }) => whyUnclear(questions),
  run: async function* ({ questions }, context) {
    const answer = await context.ask({
      kind: "question",
      title: questions.length === 1 ? (questions[0]?.question ?? "") : `${questions.length} questions`,
      body: { kind: "text", text: questions.map(sayQuestion).join("\n\n") },
      options: optionsOf(questions),
      input: { questions },
      schema: schemaOf(answersSchema).json,
    });
    if (answer.verdict === "deny")
      return declined(answer, {
        unsaid: "The user did not answer.",
        then: "Continue with what seems best and say what you assumed, or stop if you cannot.",
      });
    return answered(questions, answersOf(answer, questions));
  },
});

/** Answers are told by the question's words and by the label: neither may stand twice. */
function whyUnclear(questions: readonly Question[]): string | undefined {
  if (new Set(questions.map(({ question }) => question)).size < questions.length)
    return "Two questions are the same. Ask each once.";
  const doubled = questions.find(
    ({ options }) => new Set(options.map(({ label }) => label)).size < options.length,
  );
  return (
    doubled && `Two options of ${JSON.stringify(doubled.question)} have the same label. Tell them apart.`
  );
}

/** One plain choice can be answered by picking; more takes the data that the schema describes. */
function optionsOf(questions: readonly Question[]): AskOption[] {
  const [only] = questions;
  const no: AskOption = { id: "no", label: "Do not answer", verdict: "deny" };
  if (questions.length > 1 || !only || only.multiSelect)
    return [{ id: "answer", label: "Answer", verdict: "allow" }, no];
  return [
    ...only.options.map(({ label }, index) => ({ id: String(index + 1), label, verdict: "allow" as const })),
    no,
  ];
}

function answersOf({ option, data, input }: Answer, questions: readonly Question[]): Answers {
  // A host may also answer by adding to the input, as it does for a permission.
  for (const given of [data, input]) {
    const parsed = answersSchema.safeParse(given);
    if (parsed.success) return parsed.data.answers;
  }
  const [only] = questions;
  const picked = only?.options[Number(option) - 1]?.label;
  return only && picked !== undefined ? { [only.question]: picked } : {};
}

function answered(questions: readonly Question[], given: Answers): ToolOutcome {
  const answers = Object.fromEntries(
    questions.flatMap(({ question }) => {
      const answer = Object.hasOwn(given, question) ? given[question] : undefined;
      return answer === undefined
        ? []
        : [[question, Array.isArray(answer) ? answer.join(", ") : answer] as const];
    }),
  );
  const said = questions
    .map(({ question }) => `${question}\n→ ${answers[question] ?? "(no answer)"}`)
    .join("\n\n");
  return {
    content: [text(`The person's answers:\n\n${said}`)],
    display: { kind: "text", text: said },
    data: { questions: isJson(questions) ? questions : [], answers },
  };
}

function sayQuestion({ header, question, options, multiSelect }: Question): string {
  const choices = options.map(({ label, description }) => `- ${label}: ${description}`);
  return [`${header}: ${question}${multiSelect ? " (several may be picked)" : ""}`, ...choices].join("\n");
}
