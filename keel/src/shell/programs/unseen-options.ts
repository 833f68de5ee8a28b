/**
 * Options that a rule about first words did not name, of programs that nobody has a table for: judged by what their
 * names say. One that starts a program, and one whose value is a place outside, are not covered.
 */
import type { Argument } from "../meaning/arguments.ts";
import { pathScope, type ShellScope } from "../meaning/path-scope.ts";
import type { Directories } from "../meaning/walk.ts";

export type Unseen = {
  /** The words behind those that the rule names. */
  readonly words: readonly Argument[];
  readonly directories: Directories;
  readonly world: ShellScope;
};

export function hasOutwardOption(program: string, { words, directories, world }: Unseen): boolean {
  return words.some((word, at) => {
    const { text } = word;
    if (!text.startsWith("-") || text === "-" || text === "--") return false;
    if (startsProgram.test(text)) return true;
    const [, name = "", value] = /^--?([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/.exec(text) ?? [];
    const isPlace = placing.test(name);
    if (value !== undefined)
      return (isPlace || program !== "git") && leadsOut(asArgument(word, value), directories, world);
    const next = words[at + 1];
    return (isPlace || outputLetter.test(text)) && next !== undefined && leadsOut(next, directories, world);
  });
}

const startsProgram =
  /^--?(?:[\w-]+-)?(?:exec|exec-batch|toolexec|command|cmd|pager|editor|shell|rsh|plugins?|plugin-dir|loader|require|preload|eval|askpass|hook|pre-invoke|post-invoke|rulesdir|compress-program|smtp-server|globalSetup|globalTeardown|setupFiles\w*)(?:=|$)/;

/** Names of options whose value is a file or a folder that is written, or that says what is run. */
const placing =
  /(?:^|[-_.])(?:out|output|outfile|outdir|dest|destination|dir|directory|path|file|files|folder|root|prefix|config|settings|volume|mount|target|home|cache|store|log|logfile|report|reports|profile|coverprofile|cpuprofile|memprofile|blockprofile|outputdir|save|write|trace|dump|junit|junitxml|xml|basetemp|userconfig|kubeconfig|chdir|cwd|project|tsconfig|jar|cookies|hsts|svc)$|(?:Dir|File|Path|Root|Folder|Config)$|^(?:save|write|dump|log|report)[-_]|[-_](?:save|write|dump|log)(?:[-_]|$)/i;
const outputLetter = /^-(?:o|O|[a-zA-Z]{1,3}o)$/;

/** A word that names a place which is not inside. What names no place at all leads nowhere. */
function leadsOut(word: Argument, directories: Directories, scope: ShellScope): boolean {
  const isPath = /^[/~]/.test(word.text) || word.text.split(/[/:]/).includes("..");
  if (word.kind !== "fixed") return isPath;
  const place = pathScope(word, directories, scope);
  return isPath && place.kind !== "inside" && place.kind !== "harmless";
}

const asArgument = (word: Argument, value: string): Argument => ({
  ...word,
  text: value,
  prefix: value,
  name: value,
});
