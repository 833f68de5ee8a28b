/** What git writes beside the files of its work tree: places that its words name, and settings that it would obey. */
import type { Argument } from "../meaning/arguments.ts";
import { configWrite } from "./git-config-write.ts";
import { settingClass } from "./git-settings.ts";
import { gitWords } from "./git-words.ts";
import { valuesOf } from "./option-programs.ts";
import { wordsBeside } from "./words-beside.ts";
import { fixedWord, type WriteTargets } from "./written.ts";

export function gitWrites(words: readonly Argument[]): WriteTargets {
  const { before, subcommand, rest } = gitWords(words);
  const name = subcommand?.text ?? "";
  const places = before.flatMap(({ name: option, value }) =>
    /^(?:-C|--git-dir|--work-tree)$/.test(option) && value ? [value] : [],
  );
  const made = /^(?:clone|init)$/.test(name)
    ? wordsBeside(rest, "-b --branch --depth -o --origin -c").slice(name === "clone" ? 1 : 0)
    : [];
  const files = writingOptions
    .filter(([subcommands]) => subcommands === "" || subcommands.split(" ").includes(name))
    .flatMap(([, ...options]) => valuesOf(rest, ...options));
  return [
    ...(gitReads.test(name) ? [] : places),
    ...made,
    ...files.map((text) => fixedWord(rest[0], text)),
    ...operandsWritten(name, rest),
    ...settingsWritten(name, rest).map((text) => (text === "outside" ? "outside" : fixedWord(rest[0], text))),
    ...configFile(name, rest),
  ];
}

/** Subcommands of git that change nothing: where the others work is written to. */
const gitReads =
  /^(?:status|log|show|diff|blame|grep|ls-files|ls-tree|rev-parse|rev-list|cat-file|describe|shortlog|reflog|whatchanged|for-each-ref|merge-base|name-rev|show-ref|count-objects|check-ignore|version|help|)$/;

/** Options whose value is a file or a folder that is written, with the subcommands that have them; "" stands for all. */
const writingOptions: readonly (readonly [string, ...string[]])[] = [
  ["", "--output", "--output-directory"],
  ["archive format-patch bugreport diagnose mailsplit index-pack", "-o"],
  ["bugreport diagnose", "-o"],
  ["fast-export fast-import", "--export-marks", "--export-pack-edges", "--relative-marks"],
  ["read-tree", "--index-output"],
  ["checkout-index", "--prefix"],
  ["repack gc", "--filter-to", "--expire-to"],
  ["init clone", "--separate-git-dir"],
  ["credential-store", "--file"],
];

function operandsWritten(name: string, rest: readonly Argument[]): Argument[] {
  const [verb, ...more] = rest;
  if (name === "worktree" && verb?.text === "add") return wordsBeside(more, "-b -B --reason").slice(0, 1);
  if (name === "worktree" && verb?.text === "move") return wordsBeside(more).slice(1);
  if (name === "bundle" && verb?.text === "create") return wordsBeside(more, "--version").slice(0, 1);
  return name === "mv" || name === "rm" ? wordsBeside(rest, "--pathspec-from-file") : [];
}

/** Settings that name programs, by the file that keeps them: whoever writes there gets something run later. */
function settingsWritten(name: string, rest: readonly Argument[]): string[] {
  const [verb] = rest;
  switch (name) {
    case "config": {
      const write = configWrite(rest);
      if (write?.file === "person") return write.kind === "program" ? [".gitconfig", "outside"] : ["outside"];
      return write?.kind === "program" ? [".git/config"] : [];
    }
    case "remote":
      return rest.some(({ text }) => isHelperAddress(text)) ? [".git/config"] : [];
    case "submodule":
      return /^(?:add|set-url|set-branch)$/.test(verb?.text ?? "") ? [".gitmodules"] : [];
    case "clone":
    case "init": {
      const set = valuesOf(rest, "-c", "--config").map((text) => text.split("=", 1)[0] ?? "");
      const isTemplate = rest.some(({ text }) => /^--tem/.test(text));
      return isTemplate || set.some((key) => settingClass(key) === "program") ? [".git/config"] : [];
    }
    case "apply":
      return rest.some(({ text }) => /^--uns/.test(text)) ? ["outside"] : [];
    case "maintenance":
      return /^(?:start|register|stop|unregister)$/.test(verb?.text ?? "") ? ["outside"] : [];
    case "lfs":
      return /^(?:install|uninstall)$/.test(verb?.text ?? "") ? ["outside", ".git/hooks"] : [];
    default:
      return [];
  }
}

/** A file that is named is written like any other. */
function configFile(name: string, rest: readonly Argument[]): Argument[] {
  const file = name === "config" ? configWrite(rest)?.file : undefined;
  return file === undefined || typeof file === "string" ? [] : [file];
}

/** `ext::…` is a command line; other words before `::` name programs as well. */
export const isHelperAddress = (text: string): boolean => /^[\w-]+::/.test(text);
