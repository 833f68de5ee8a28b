/** What can be picked in a question, in the words of every face: made from what the engine offers, whatever it is about. */
import { isObject } from "../../../kernel/json.ts";
import type { Ask, AskOption } from "../../../protocol/ask.ts";
import { askWords, offeredOptions, optionLabel } from "../../../view/ask-words.ts";

export type Button =
  | { readonly kind: "pick"; readonly key: string; readonly label: string; readonly option: AskOption }
  /** Its rule can be kept: for how long is asked next. */
  | { readonly kind: "remember"; readonly key: string; readonly label: string; readonly option: AskOption }
  /** A no, with words for the model or without. */
  | {
      readonly kind: "refuse";
      readonly key: string;
      readonly label: string;
      readonly option: AskOption | undefined;
    }
  | { readonly kind: "edit"; readonly key: string; readonly label: string; readonly option: AskOption };

/** `fields`: it is filled in before it is sent. */
export function buttonsOf(ask: Ask, form: "fields" | "choices" = "choices"): readonly Button[] {
  const options = offeredOptions(ask);
  const taken = new Set<string>(["e", "n"]);
  const keyFor = (wanted: string, label: string): string => {
    const key = [wanted, ...label.toLowerCase().replace(/[^a-z]/g, ""), ..."123456789"].find(
      (one) => one !== "" && !taken.has(one),
    );
    taken.add(key ?? "");
    return key ?? "";
  };
  const allowing = options.filter(({ verdict }) => verdict === "allow");
  const picks = allowing.map((option, index): Button => {
    const label = form === "fields" ? askWords.fillIn : optionLabel(option, ask.kind);
    return option.rule === undefined
      ? { kind: "pick", key: keyFor(index === 0 ? "y" : "", label), label, option }
      : { kind: "remember", key: keyFor("a", label), label: `${label} …`, option };
  });
  const denying = options.filter(({ verdict }) => verdict === "deny");
  const no = denying.find(({ takesWords }) => takesWords) ?? denying[0];
  const refusal = denying[0] ? optionLabel(denying[0], ask.kind) : askWords.sayNoMore;
  const once = allowing.find(({ rule }) => rule === undefined);
  return [
    ...picks,
    { kind: "refuse", key: "n", label: refusal, option: no },
    ...(once && canEdit(ask)
      ? [{ kind: "edit" as const, key: "e", label: askWords.edit, option: once }]
      : []),
  ];
}

/** Only what a call would do can be changed before it is allowed. */
const canEdit = (ask: Ask): boolean =>
  (ask.kind === "permission" && isObject(ask.input)) || (ask.kind === "plan" && isObject(ask.input));

/** What is edited before it is allowed: the one text that matters, or all of it as JSON. */
export type EditedField = { readonly name: string | null; readonly text: string };

export function editedField(ask: Ask): EditedField {
  const { input } = ask;
  if (!isObject(input)) return { name: null, text: JSON.stringify(input, null, 2) };
  for (const name of ["command", "plan"]) {
    const value = input[name];
    if (typeof value === "string") return { name, text: value };
  }
  return { name: null, text: JSON.stringify(input, null, 2) };
}
