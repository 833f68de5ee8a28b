/** Git, where it only reads. It runs what a repository's settings name, so the repository must be trusted and inside. */
import { own } from "../../kernel/json.ts";
import { isInside } from "../../kernel/path.ts";
import type { Argument } from "../meaning/arguments.ts";
import { has, pathValues, type ReadOptions, readOptions } from "../meaning/options.ts";
import type { Directories } from "../meaning/walk.ts";
import { type GitReader, gitReaders } from "./git-options.ts";
import { type GitWords, gitWords } from "./git-words.ts";
import {
  contents,
  type ProgramContext,
  type ProgramOutcome,
  reads,
  type Special,
  type Use,
  unproved,
} from "./outcome.ts";

/** Options of git itself that change neither what it runs nor whose settings act. */
export const harmlessGlobals: ReadonlySet<string> = new Set([
  "--no-pager",
  "-P",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--glob-pathspecs",
  "--noglob-pathspecs",
  "--icase-pathspecs",
  "--no-replace-objects",
  "--no-lazy-fetch",
  "-C",
  "--version",
  "-v",
]);

/** Variables that name programs, settings or folders of git's own programs: git(1), environment variables. */
export const gitVariables: readonly string[] =
  "GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_EXTERNAL_DIFF GIT_PAGER PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND GIT_ATTR_SYSTEM GIT_ATTR_GLOBAL GIT_REDIRECT_STDOUT GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_INDEX_FILE GIT_WORK_TREE".split(
    " ",
  );

export const git: Special = (words, surroundings) => {
  const { before, subcommand, rest } = gitWords(words);
  const odd = before.find(({ name }) => !harmlessGlobals.has(name));
  if (odd) return unproved(`git ${odd.name} may change what git runs`);
  const problem = directoryProblem(before, surroundings);
  if (problem !== undefined) return unproved(problem);
  if (!subcommand)
    return has({ given: before, operands: [], loose: [] }, "--version", "-v")
      ? reads([])
      : unproved("git has no subcommand");
  const row = subcommand.kind === "fixed" ? own(gitReaders, subcommand.text) : undefined;
  if (row === undefined) return unproved(`git ${subcommand.text} is not known to only read`);
  const outcome = judge(subcommand.text, typeof row === "string" ? { options: row } : row, rest);
  if (outcome.kind !== "reads") return outcome;
  const places = gitDirectories(before, surroundings.directories);
  return { ...outcome, place: (places ?? []).map((folder) => ({ kind: "repository", folder })) };
};

/** Where it works decides whose settings act. */
function directoryProblem(
  before: GitWords["before"],
  { directories, world }: ProgramContext,
): string | undefined {
  if (!world.isTrusted) return "git would use the settings of a repository that is not trusted";
  const places = gitDirectories(before, directories);
  if (!places) return "only the run knows where git works";
  // Trust is for the project that the session works in, which is where its first root lies.
  return places.every((place) => isInside(place, world.roots.slice(0, 1)))
    ? undefined
    : "git would use the settings of another repository";
}

/** The directories in which git may work; undefined when only the run knows. */
export function gitDirectories(before: GitWords["before"], directories: Directories): Directories {
  let places = directories;
  for (const { name, value } of before) {
    if (name !== "-C") continue;
    if (value?.kind !== "fixed" || value.text === "") return undefined;
    places = value.text.startsWith("/") ? [value.text] : places?.map((place) => `${place}/${value.text}`);
  }
  return places;
}

function judge(subcommand: string, reader: GitReader, rest: readonly Argument[]): ProgramOutcome {
  const [first] = rest;
  const verb = first?.kind === "fixed" && !first.text.startsWith("-") ? first.text : "";
  if (reader.first && !reader.first.includes(verb))
    return unproved(`git ${subcommand} ${verb} is not known to only read`);
  const read = readOptions(reader.first && verb !== "" ? rest.slice(1) : rest, reader.options);
  if (typeof read === "string") return unproved(`git ${subcommand}: ${read}`);
  const { operands } = read;
  if (reader.first && verb === "" && operands.length > 0)
    return unproved(`git ${subcommand} is given ${operands[0]?.text}`);
  if (reader.operandsNeed && operands.length > 0 && !has(read, ...reader.operandsNeed))
    return unproved(`git ${subcommand} would make ${operands[0]?.text}`);
  if (reader.most !== undefined && operands.length > reader.most)
    return unproved(`git ${subcommand} has more words than it reads`);
  if (operands.some(({ kind }) => kind === "unknown") || read.loose.length > 0)
    return unproved("only the run knows what git is given");
  const values = read.given.map(({ value }) => value?.text ?? "");
  // The signature of a commit is checked by another program.
  if (values.some((value) => /%G|signature/.test(value)))
    return unproved("git would run a program to check signatures");
  if (subcommand === "config") return judgeConfig(read);
  // `-L 1,5:file` names a file as well.
  const ranges = read.given.flatMap(({ name, value }) => (name === "-L" && value ? [value] : []));
  return reads([...[...operands, ...ranges].flatMap(usesOf), ...contents(pathValues(read, reader.options))]);
}

/** An operand is a revision, a path, or a path in a revision. Those that cannot be a revision are placed as paths. */
function usesOf(operand: Argument): Use[] {
  const inRevision = operand.text.slice(operand.text.indexOf(":") + 1);
  if (/^(?:\/|\.\.?(?:\/|$))/.test(operand.text)) return contents([operand]);
  // Only its name is judged: it lies in the repository.
  const base = inRevision.replace(/^.*\.{2,3}/, "");
  return base === "" || /[*?[]/.test(base)
    ? []
    : contents([{ ...operand, kind: "fixed", text: base, prefix: base }]);
}

const secretKeys = /credential|password|token|secret|extraheader|url\./i;

function judgeConfig(read: ReadOptions): ProgramOutcome {
  const [key, ...more] = read.operands;
  // A word without a dot is a verb in newer versions: `list` shows everything, `edit` runs an editor.
  if (!key?.text.includes(".") || more.length > 0 || key.text.startsWith("-"))
    return unproved("git config may write");
  return secretKeys.test(key.text) ? unproved("git config may show a secret") : reads([]);
}
