/**
 * What an ask wants of a person, as data: which answers can be picked, what each is called by, and what is sent when one
 * is. An option that the engine offers has a letter; one that remembers a rule can also be kept in a file, which the
 * second letter names; a no may be followed by words for the model. All else means no.
 */
import { asObject } from "../kernel/json.ts";
import type { Result } from "../kernel/result.ts";
import type { Answer, Ask, AskOption } from "../protocol/ask.ts";
import type { Question } from "../protocol/question.ts";
import { keepings, type RuleFile } from "./ask-words.ts";
import { type Field, fieldsOf } from "./forms.ts";

export type AskForm =
  | { readonly kind: "choices"; readonly choices: readonly AskChoice[] }
  /** Each is answered by what is picked, or in own words. */
  | { readonly kind: "questions"; readonly questions: readonly Question[] }
  /** What is filled in once a choice that allows was picked; a sentence when it cannot be shown. */
  | {
      readonly kind: "fields";
      readonly choices: readonly AskChoice[];
      readonly fields: Result<readonly Field[]>;
    }
  /** It wants data that a person has no form for. */
  | { readonly kind: "unanswerable" };

export function askForm(ask: Ask): AskForm {
  if (ask.kind === "question") {
    return { kind: "questions", questions: questionsIn(ask.input) };
  }
  const choices = choicesOf(ask.options);
  if (ask.schema === undefined) return { kind: "choices", choices };
  return ask.kind === "elicitation"
    ? { kind: "fields", choices, fields: fieldsOf(ask.schema) }
    : { kind: "unanswerable" };
}

/** As its tool was given them, which held them to its schema; what is none of that shape is left out. */
function questionsIn(input: unknown): readonly Question[] {
  const { questions } = asObject(input);
  return Array.isArray(questions) ? questions.filter(isQuestion) : [];
}

const isQuestion = (given: unknown): given is Question => {
  const { question, options } = asObject(given);
  const isOption = (option: unknown): boolean => typeof asObject(option)["label"] === "string";
  return typeof question === "string" && Array.isArray(options) && options.every(isOption);
};

export type AskChoice = {
  /** What it is called by: one letter or digit, and a second one where its rule is kept in a file. */
  readonly key: string;
  readonly option: AskOption;
  readonly label: string;
  readonly keep?: RuleFile | undefined;
  /** What is taken where nobody says anything that is clear. */
  readonly isFallback: boolean;
};

export type Chosen = {
  readonly option: AskOption;
  /** Where the option's rule is kept beyond this session. */
  readonly keep?: RuleFile | undefined;
  /** What the person wants to say to the model. */
  readonly words?: string | undefined;
};

/** In the order of the options; the files of a rule follow its option. */
export function choicesOf(options: readonly AskOption[]): readonly AskChoice[] {
  const keys = keysOf(options);
  const denying = options.find(({ verdict }) => verdict === "deny");
  return options.flatMap((option, index): AskChoice[] => {
    const key = keys[index] ?? "";
    const kept = option.rule === undefined ? [] : keepings.filter(({ keep }) => keep !== undefined);
    return [
      { key, option, label: option.label, isFallback: option === denying },
      ...kept.map(({ key: letter, keep, label }) => ({
        key: `${key}${letter}`,
        option,
        label: `and from now on ${label}`,
        keep,
        isFallback: false,
      })),
    ];
  });
}

/** The option that a line means: its key, its name, `y` for the first that allows. All else is the first that denies. */
export function choose(options: readonly AskOption[], line: string): Chosen | undefined {
  const typed = line.trim();
  const word = typed.toLowerCase();
  const allowing = options.find(({ verdict }) => verdict === "allow");
  if ((word === "y" || word === "yes") && allowing) return { option: allowing };
  const choices = choicesOf(options);
  for (const { key, option, keep } of choices) {
    if (word === key) return { option, ...(keep === undefined ? {} : { keep }) };
    if (keep !== undefined) continue;
    if (word === option.id.toLowerCase()) return { option };
    const words = option.verdict === "deny" ? wordsAfter(typed, [key, option.id]) : undefined;
    if (words !== undefined) return { option, words };
  }
  const fallback = choices.find(({ isFallback }) => isFallback);
  return fallback && { option: fallback.option };
}

/** What is sent for what was chosen; nothing chosen is a no. */
export function choiceAnswer(chosen: Chosen | undefined): Answer {
  if (!chosen) return { verdict: "deny" };
  const { option, words } = chosen;
  const reason = words === undefined ? undefined : `The user said no: ${words}`;
  return { verdict: option.verdict, option: option.id, ...(reason === undefined ? {} : { reason }) };
}

/** What a line means for a question. Undefined for an empty one; what is no number of an option is an own answer. */
export function answerIn(line: string, { options, multiSelect }: Question): string | string[] | undefined {
  const said = line.trim();
  if (said === "") return undefined;
  const labels = said
    .split(/[\s,]+/)
    .map((word) => (/^\d$/.test(word) ? options[Number(word) - 1]?.label : undefined));
  const picked = labels.flatMap((label) => label ?? []);
  if (picked.length < labels.length || (picked.length > 1 && !multiSelect)) return said;
  return multiSelect ? [...new Set(picked)] : picked[0];
}

/** By the question, the labels that were picked or own words. None at all is a no. */
export function questionsAnswer(answers: Readonly<Record<string, string | string[]>>): Answer {
  return Object.keys(answers).length === 0
    ? { verdict: "deny" }
    : { verdict: "allow", data: { answers: { ...answers } } };
}

function wordsAfter(typed: string, starts: readonly string[]): string | undefined {
  const [, first = "", rest = ""] = /^(\w+)[\s,:;.]+(\S[\s\S]*)$/.exec(typed) ?? [];
  return starts.some((start) => start.toLowerCase() === first.toLowerCase()) && rest !== ""
    ? rest
    : undefined;
}

/** The first letter of each option, or its number where the letter is taken. */
function keysOf(options: readonly AskOption[]): string[] {
  const taken = new Set(["y"]);
  return options.map(({ id }, index) => {
    const letter = id.slice(0, 1).toLowerCase();
    const key = letter === "" || taken.has(letter) ? String(index + 1) : letter;
    taken.add(key);
    return key;
  });
}
