/** What a question and its answers are called: the same words on every screen, made from what the engine offers. */
import type { Ask, AskOption } from "keel/protocol";
import { visible } from "keel/view";
import { words } from "../words.ts";

/** A permission is called by what would happen. */
export function titleOf({ kind, title, claims = [], tool }: Ask): string {
  if (kind !== "permission") return visible(title);
  const actions = new Set(claims.map(({ action }) => action));
  const action = (["execute", "write", "fetch", "read", "delegate"] as const).find((one) => actions.has(one));
  return action === undefined ? words.mayUse(visible(tool ?? "")) : words.may[action];
}

export function labelOf(option: AskOption, kind: Ask["kind"]): string {
  if (option.rule !== undefined) return words.allowRule(visible(option.rule));
  if (kind !== "permission") return visible(option.label);
  return option.verdict === "allow" ? words.allowOnce : words.sayNoMore;
}

/** A no is one button, behind which words can be said: two that both mean no are one. */
export function offered(options: readonly AskOption[], kind: Ask["kind"]): readonly AskOption[] {
  if (kind !== "permission") return options;
  const no =
    options.find(({ takesWords }) => takesWords) ?? options.find(({ verdict }) => verdict === "deny");
  return [...options.filter(({ verdict }) => verdict === "allow"), ...(no ? [no] : [])];
}
