/** What can be picked in a question, in the words of every face: made from what the engine offers, whatever it is about. */
import { isObject } from "../../../kernel/json.ts";
import type { Ask, AskOption } from "../../../protocol/ask.ts";
import type { RuleFile } from "../../../view/choices.ts";
import { inertOne } from "../text/inert.ts";

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

/** What a question is called, by what it is about. */
export function titleOf(ask: Ask): string {
  if (ask.kind !== "permission") return inertOne(ask.title);
  const actions = new Set(ask.claims?.map(({ action }) => action));
  if (actions.has("execute")) return "Run a command?";
  if (actions.has("write")) return "Change a file?";
  if (actions.has("fetch")) return "Fetch a page?";
  if (actions.has("read")) return "Read a file?";
  if (actions.has("delegate")) return "Start an agent?";
  return `Use ${inertOne(ask.tool ?? "this tool")}?`;
}

export function buttonsOf(ask: Ask): readonly Button[] {
  const allowing = ask.options.filter(({ verdict }) => verdict === "allow");
  const denying = ask.options.filter(({ verdict }) => verdict === "deny");
  const taken = new Set<string>(["e", "n"]);
  const keyFor = (wanted: string, label: string): string => {
    const key = [wanted, ...label.toLowerCase().replace(/[^a-z]/g, ""), ..."123456789"].find(
      (one) => one !== "" && !taken.has(one),
    );
    taken.add(key ?? "");
    return key ?? "";
  };
  const picks = allowing.map((option, index): Button => {
    const { rule } = option;
    if (rule !== undefined) {
      const label = `Allow ${inertOne(rule)} …`;
      return { kind: "remember", key: keyFor("a", label), label, option };
    }
    const label = ask.kind === "permission" ? "Allow once" : inertOne(option.label);
    return { kind: "pick", key: keyFor(index === 0 ? "y" : "", label), label, option };
  });
  const words = denying.find(({ takesWords }) => takesWords) ?? denying[0];
  const refusal = ask.kind === "permission" ? "Say no …" : inertOne(denying[0]?.label ?? "Say no …");
  const once = allowing.find(({ rule }) => rule === undefined);
  return [
    ...picks,
    { kind: "refuse", key: "n", label: refusal, option: words },
    ...(once && canEdit(ask) ? [{ kind: "edit" as const, key: "e", label: "Edit", option: once }] : []),
  ];
}

/** Only what a call would do can be changed before it is allowed. */
const canEdit = (ask: Ask): boolean =>
  (ask.kind === "permission" && isObject(ask.input)) || (ask.kind === "plan" && isObject(ask.input));

/** For how long, with the key of each. */
export const keepings: readonly {
  readonly key: string;
  readonly keep: RuleFile | undefined;
  readonly label: string;
}[] = [
  { key: "s", keep: undefined, label: "for this session" },
  { key: "l", keep: "local", label: "in this project, for you" },
  { key: "p", keep: "project", label: "in this project, for everybody who trusts it" },
  { key: "u", keep: "user", label: "in all your projects" },
];

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
