/**
 * The words of a command, and those that it stands for: a module or a script that an interpreter is given, a git alias
 * that is set beside it, a package whose program is run. For rules that deny or ask.
 */
import { own } from "../../kernel/json.ts";
import { type Argument, withText } from "../meaning/arguments.ts";
import { programWords } from "./command-aliases.ts";
import { gitWords } from "./git-words.ts";
import { interpreters, shells } from "./wrappers.ts";

type Words = readonly Argument[];

export function viewsOf(words: Words): readonly Words[] {
  const [program, ...rest] = words;
  if (program?.kind !== "fixed") return [words];
  const [name = "", ...more] = programWords(program.text);
  const view = own(views, name);
  const found = view
    ? view(more.length > 0 ? [...more.map((word) => withText(program, word)), ...rest] : rest)
    : [];
  const isInterpreter = Object.hasOwn(interpreters, name) || shells.has(name);
  return [words, ...found, ...(isInterpreter ? scriptOf(rest) : [])];
}

/** `python -m pip install`, also with the letter at the end of others, and attached. */
function moduleOf(rest: Words): Words[] {
  const at = rest.findIndex(({ text }) => /^-[a-zA-Z]*m/.test(text));
  const option = rest[at];
  if (!option) return [];
  const attached = option.text.slice(option.text.indexOf("m") + 1);
  const named = attached === "" ? rest[at + 1] : withText(option, attached);
  const behind = rest.slice(attached === "" ? at + 2 : at + 1);
  // A part of a package is run as the package is.
  if (!named) return [];
  return [[named.kind === "fixed" ? withText(named, named.text.split(".", 1)[0] ?? "") : named, ...behind]];
}

/** `node …/npm-cli.js publish`: the first word that is no option. */
function scriptOf(rest: Words): Words[] {
  const at = rest.findIndex(({ prefix }) => !prefix.startsWith("-"));
  return rest[at]?.kind === "fixed" ? [rest.slice(at)] : [];
}

/** `git -c alias.p=push p`. */
function aliasOf(rest: Words): Words[] {
  const { before, subcommand, rest: behind } = gitWords(rest);
  return before.flatMap(({ value }) => {
    const [, name, text = ""] = /^alias\.([^=]+)=([^!].*)$/is.exec(value?.text ?? "") ?? [];
    if (!value || name?.toLowerCase() !== subcommand?.text.toLowerCase()) return [];
    const parts = text.split(/[\s'"]+/).filter((part) => part !== "");
    return [[withText(value, "git"), ...parts.map((part) => withText(value, part)), ...behind]];
  });
}

/** `nix run nixpkgs#git -- push`. */
function packageOf(rest: Words): Words[] {
  const at = rest.findIndex(({ text }) => /#[\w.-]+$/.test(text));
  const found = rest[at];
  if (!found) return [];
  const behind = rest.slice(at + 1).filter(({ text }) => text !== "--");
  return [[withText(found, found.text.slice(found.text.lastIndexOf("#") + 1)), ...behind]];
}

const views: Readonly<Record<string, (rest: Words) => Words[]>> = {
  python: moduleOf,
  pypy: moduleOf,
  git: aliasOf,
  nix: packageOf,
  // uv takes the words of pip behind its own.
  uv: (rest) => {
    const at = rest.findIndex(({ text }) => text === "pip");
    return at < 0 ? [] : [rest.slice(at)];
  },
};
