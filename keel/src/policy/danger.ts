/** What an allow rule lets through beyond what it seems to say, told when it is written or listed. */

import { destroys } from "../shell/programs/destroys.ts";
import { usesNetwork } from "../shell/programs/networks.ts";
import { interpreters, shells, wrappers } from "../shell/programs/wrappers.ts";
import { readPattern } from "./read-pattern.ts";
import type { PermissionRule } from "./rules.ts";
import type { ShellPattern } from "./shell-pattern.ts";

/** A sentence for a person, or undefined for a rule that says what it means. */
export function dangerOf({ tool, pattern }: PermissionRule): string | undefined {
  switch (pattern.kind) {
    case "any":
      return anyDanger(tool);
    case "shell":
      return shellDanger(readPattern(pattern.shell));
    case "path":
      return pathDanger(tool, pattern.value);
    case "domain":
      return /^\*\.[^.]+$/.test(pattern.value)
        ? "it allows every site below a whole top-level domain"
        : undefined;
    case "exact":
    case "prefix":
      return undefined;
  }
}

function anyDanger(tool: string): string | undefined {
  if (tool === "Bash") return "it lets every command run without a question";
  if (tool === "WebFetch") return "it allows every address, and an address can carry data away";
  if (/^(?:Edit|Write|MultiEdit|NotebookEdit)$/.test(tool))
    return "it lets every file be written, also outside of the workspace";
  return tool === "Read"
    ? "it lets every file be read, also keys and passwords outside of the workspace"
    : undefined;
}

function shellDanger(pattern: ShellPattern): string | undefined {
  if (pattern.kind === "exact") return undefined;
  if (pattern.kind === "prefix") return programDanger(pattern.words);
  const [first = "", ...rest] = pattern.pieces;
  const [program = "", ...words] = first.split(" ");
  if (first === "") return "its program is a star: it lets any program run with such words";
  if (!first.includes(" "))
    return `a star without a blank before it has no border: it also matches ${program}-anything`;
  if (rest.some((piece) => piece !== ""))
    return "a star in the middle stands for any words, options that force or delete among them";
  return programDanger([program, ...words.filter((word) => word !== "")]);
}

function programDanger([program = "", ...words]: readonly string[]): string | undefined {
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (shells.has(name) || Object.hasOwn(wrappers, name))
    return words.length === 0
      ? `${name} runs other programs: the rule covers nothing until it names one of them`
      : undefined;
  if (Object.hasOwn(interpreters, name) && words.length === 0) return `${name} runs whatever a script says`;
  if (destroys(name, words)) return `${name} removes or overwrites, and the rule does not say what`;
  return usesNetwork(name, words) && words.length === 0 ? `${name} can send anything anywhere` : undefined;
}

function pathDanger(tool: string, value: string): string | undefined {
  const isEverything = /^(?:\/\/|~\/?|\/\/?\*+|\*\*\/?\*?|~\/\*+(?:\/\*+)?|\/\/\*\*\/?\*?)$/.test(value);
  if (!isEverything) return undefined;
  const what = tool === "Read" ? "read" : "written";
  return value.startsWith("~")
    ? `it lets all of the home directory be ${what}`
    : `it lets everything be ${what}`;
}
