/** What a command runs beside itself, as far as its words show it: the programs of wrappers, shells and options. */

import { own } from "../../kernel/json.ts";
import { insideBuiltin } from "../programs/builtins.ts";
import { type Inner, type Inside, insideOptions } from "../programs/option-programs.ts";
import { shells, type Wrapper, wrappers } from "../programs/wrappers.ts";
import type { Argument } from "./arguments.ts";
import { inputsOf, type ShellStep } from "./walk.ts";

const nothing: Inside = { inner: [], hides: false };

export function insideOf(step: ShellStep): Inside {
  const program = step.words[0];
  if (!program) return nothing;
  const name = programName(program);
  const rest = step.words.slice(1);
  const isShell = shells.has(name) || isUnknownShell(program, rest);
  if (isShell) return insideShell(step, rest);
  if (name === "trap") return rest.length > 1 ? scripts([rest[0]]) : nothing;
  const builtin = program.kind === "fixed" && program.text === name ? insideBuiltin(name, rest) : undefined;
  if (builtin) return builtin;
  const wrapper = own(wrappers, name);
  return wrapper ? insideWrapper(wrapper, rest, name) : insideOptions(name, rest, step);
}

/** The name of its program, "" when there is none, and the words behind it. */
export const programOf = ({ words }: ShellStep): { name: string; rest: Argument[] } => ({
  name: words[0] ? programName(words[0]) : "",
  rest: words.slice(1),
});

/** Without the directory that it lies in. */
export const programName = ({ kind, text, name }: Argument): string =>
  kind === "fixed" ? text.slice(text.lastIndexOf("/") + 1) : name;

/** `$SHELL -c 'rm x'`: whatever it is, it is used as a shell. */
const isUnknownShell = ({ kind }: Argument, rest: readonly Argument[]): boolean =>
  kind === "unknown" && rest.some(({ text }) => /^-[a-z]*c$/.test(text));

function insideShell({ redirections, pipedFrom }: ShellStep, rest: readonly Argument[]): Inside {
  const { script, text, isOpen } = shellWords(rest);
  if (text) {
    const { inner, hides } = scripts([text === "missing" ? undefined : text]);
    return { inner, hides: hides || isOpen };
  }
  if (isOpen) return { inner: [], hides: true };
  // A script of its own is a program like any other, and its bare name may be that of one that is installed.
  if (script)
    return isBareName(script)
      ? { inner: [{ words: rest.slice(rest.indexOf(script)) }], hides: false }
      : nothing;
  if (rest.some(({ text: word }) => /^--(?:version|help)$/.test(word))) return nothing;
  // It reads its commands from its input, or from a file.
  const piped = pipedFrom.flatMap((step) => step.redirections);
  return { ...scripts(inputsOf([...redirections, ...piped])), hides: true };
}

/** What a shell does not find in the folder it looks for where programs are. */
const isBareName = ({ kind, text }: Argument): boolean => kind === "fixed" && !/[/.]/.test(text);

type ShellWords = {
  readonly text?: Argument | "missing";
  readonly script?: Argument;
  /** Only the run knows which of its words are options. */
  readonly isOpen: boolean;
};

/** The text behind `-c`, or the script that stands where options end. */
function shellWords(rest: readonly Argument[]): ShellWords {
  let hasText = false;
  let readsInput = false;
  let isOpen = false;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at];
    isOpen ||= word !== undefined && word.kind !== "fixed" && /^(?:[-+]|$)/.test(word.prefix);
    // It may be nothing, or an option.
    if (!hasText && word?.kind !== "fixed" && word?.prefix === "") continue;
    if (!word || !/^[-+]/.test(word.prefix) || word.text === "-" || word.text === "--") {
      const operand = word?.text === "--" || word?.text === "-" ? rest[at + 1] : word;
      if (hasText) return { text: operand ?? "missing", isOpen };
      return operand && !readsInput ? { script: operand, isOpen } : { isOpen };
    }
    if (/^-[a-zA-Z]*c/.test(word.text)) hasText = true;
    if (/^-[a-zA-Z]*s/.test(word.text)) readsInput = true;
    // These take the next word.
    if (/^[-+][a-zA-Z]*[oO]$|^--(?:rcfile|init-file)$/.test(word.text)) at += 1;
    isOpen ||= rest[at]?.mayDivide ?? false;
  }
  return hasText ? { text: "missing", isOpen } : { isOpen };
}

function scripts(words: readonly (Argument | undefined)[]): Inside {
  const known = words.flatMap((word) => (word?.kind === "fixed" ? [{ script: word.text }] : []));
  return { inner: known, hides: known.length < words.length };
}

function insideWrapper(wrapper: Wrapper, given: readonly Argument[], name: string): Inside {
  const valued = new Set((wrapper.valued ?? "").split(" "));
  const texts = new Set((wrapper.shellText ?? "").split(" ").filter((option) => option !== ""));
  const found: Inner[] = [];
  const start = wrapper.from ? given.findIndex(({ text }) => wrapper.from?.test(text)) + 1 : 0;
  let skip = wrapper.skip ?? 0;
  let isOver = false;
  let sawOption = wrapper.onlyWith === undefined;
  let at = start;
  let hides = false;
  for (; at < given.length; at++) {
    const word = given[at];
    const text = word?.text ?? "";
    if (!isOver && text === "--") isOver = true;
    else if (!isOver && /^[-+]./.test(word?.prefix ?? "")) {
      if (name === "command" && /^-[vV]$/.test(text)) return nothing;
      const option = optionOf(text, texts, valued);
      sawOption ||= wrapper.onlyWith?.some((needed) => text === needed || option.name === needed) ?? false;
      const value = option.takesValue ? (option.attached ?? given[++at]?.text) : undefined;
      const isKnown = option.attached !== undefined || given[at]?.kind === "fixed";
      if (texts.has(option.name)) {
        if (isKnown && value !== undefined) found.push({ script: value });
        else hides = true;
        if (name !== "env") return { inner: found, hides };
      }
    } else if (wrapper.takesAssignments && /^[^=]+=/.test(word?.prefix ?? "")) continue;
    else if (skip > 0) skip -= 1;
    else break;
  }
  const rest = given.slice(at);
  const end = wrapper.until ? rest.findIndex(({ text }) => wrapper.until?.test(text)) : -1;
  const words = end < 0 ? rest : rest.slice(0, end);
  // Without a command of its own, each word of its list is one.
  if (end === 0) return scripts(rest.slice(1));
  if (words.length === 0 || !sawOption) return { inner: [...found, ...textsIn(words, texts)], hides };
  if (!wrapper.joins) return { inner: [...found, { words }], hides };
  const isFixed = words.every(({ kind }) => kind === "fixed");
  return isFixed
    ? { inner: [{ script: words.map(({ text }) => text).join(" ") }], hides }
    : { inner: words[0]?.kind === "fixed" ? [{ words }] : [], hides: true };
}

/** `su root -c '…'`: options behind the operands. */
function textsIn(words: readonly Argument[], texts: ReadonlySet<string>): Inner[] {
  return words.flatMap((word, at) => {
    const option = word.text.startsWith("-") ? optionOf(word.text, texts, new Set()) : undefined;
    if (!option || !texts.has(option.name)) return [];
    const next = words[at + 1];
    const script = option.attached ?? (next?.kind === "fixed" ? next.text : undefined);
    return script === undefined ? [] : [{ script }];
  });
}

type ShellOption = {
  readonly name: string;
  readonly takesValue: boolean;
  readonly attached: string | undefined;
};

function optionOf(text: string, texts: ReadonlySet<string>, valued: ReadonlySet<string>): ShellOption {
  const takes = (name: string): boolean => valued.has(name) || texts.has(name);
  if (text.startsWith("--")) {
    const [name = "", ...value] = text.split("=");
    return { name, takesValue: takes(name), attached: value.length > 0 ? value.join("=") : undefined };
  }
  if (takes(text)) return { name: text, takesValue: true, attached: undefined };
  // Letters in one word: the first that takes a value takes the rest, or the next word.
  for (let at = 1; at < text.length; at++) {
    const name = `-${text[at]}`;
    if (takes(name)) return { name, takesValue: true, attached: text.slice(at + 1) || undefined };
  }
  return { name: text, takesValue: false, attached: undefined };
}
