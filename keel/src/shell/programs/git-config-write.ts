/** What a `git config` changes, as far as its words tell: whatever is not plainly a question is a change. */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";
import { type SettingClass, settingClass } from "./git-settings.ts";
import { wordsBeside } from "./words-beside.ts";

export type ConfigWrite = {
  /** The gravest of what is set. */
  readonly kind: SettingClass;
  /** Where it is kept: a file that is named, the person's own settings, or the repository's. */
  readonly file: Argument | "person" | "repository";
};

/** Undefined when it only asks. */
export function configWrite(rest: readonly Argument[]): ConfigWrite | undefined {
  if (rest.some(({ kind, text }) => kind === "fixed" && asking.test(text))) return undefined;
  const [first, ...others] = wordsBeside(rest, valued);
  if (first?.kind === "fixed" && /^(?:get|list)$/.test(first.text)) return undefined;
  const verb = first?.kind === "fixed" && !first.text.includes(".") ? own(verbs, first.text) : undefined;
  const [key, ...values] = verb ? others : first ? [first, ...others] : [];
  const isChange =
    verb !== undefined ||
    values.length > 0 ||
    rest.some(({ kind, prefix }) => kind !== "fixed" || changing.test(prefix));
  if (!isChange) return undefined;
  const kind =
    key?.kind === "fixed" && key.text.includes(".") && verb !== "whole" ? settingClass(key.text) : "program";
  return { kind: rest.some(({ text }) => wholeFile.test(text)) ? "program" : kind, file: fileOf(rest) };
}

/** Verbs of newer versions that change one setting, or the file as a whole. */
const verbs: Readonly<Record<string, "one" | "whole">> = {
  set: "one",
  unset: "one",
  edit: "whole",
  "rename-section": "whole",
  "remove-section": "whole",
};
const valued = "-f --file --blob -t --type --default --value --url --comment";
const asking = /^(?:--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool|-l|--list)$/;
/** Whole, or cut short as git takes them too. */
const changing = /^(?:-e$|--(?:add|ed|un|rep|ren|rem))/;
const wholeFile = /^(?:-e$|--(?:ed|ren|rem))/;

function fileOf(rest: readonly Argument[]): ConfigWrite["file"] {
  for (const [at, word] of rest.entries()) {
    const [, attached] = /^(?:-f|--fil?e?=)(.+)$/s.exec(word.text) ?? [];
    if (attached !== undefined) return { ...word, text: attached, prefix: attached };
    const next = rest[at + 1];
    if (/^(?:-f|--fil?e?)$/.test(word.text) && next) return next;
    if (/^--(?:gl|sy)/.test(word.text)) return "person";
  }
  return "repository";
}
