/**
 * The repository that a diff is about, or why there is none to be shown. Git is asked anew each time with every program
 * that the repository names switched off: what it names may have changed since.
 */
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import { no, type Refused } from "../../kernel/result.ts";
import type { ProcessEnvironment } from "../processes/environment.ts";
import { type GitAnswer, gitIn, settings } from "./git.ts";

export type DiffFolder = { readonly cwd: string; readonly env: ProcessEnvironment };

export type DiffPlace = {
  readonly ok: true;
  readonly top: string;
  /** Where git keeps what it knows of this work tree. */
  readonly gitFolder: string;
  /** Undefined before the first commit. */
  readonly head: string | undefined;
  /** Paths are meant letter by letter. Output is cut at a bound; every byte is one character. */
  git(args: readonly string[], input?: string): Promise<GitAnswer>;
  /** The same for what takes long and nobody waits for. */
  gitBehind(args: readonly string[]): Promise<GitAnswer>;
};

const maxBytes = 16 * 1024 * 1024;
/** A file that is larger is not compared line by line. */
export const largestFile = 5 * 1024 * 1024;

const still = [
  "--literal-pathspecs",
  ...settings(
    `core.bigFileThreshold=${largestFile}`,
    "core.quotePath=false",
    "core.safecrlf=false",
    "status.relativePaths=false",
    "status.submoduleSummary=false",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.renameLimit=500",
    "apply.whitespace=nowarn",
  ),
];

export async function openDiffPlace(
  { cwd, env }: DiffFolder,
  signal: AbortSignal,
): Promise<DiffPlace | Refused> {
  const asked = { env: { ...env, GIT_NO_LAZY_FETCH: "1" }, maxBytes, encoding: "latin1" } as const;
  const run = gitIn({ cwd, ...asked });
  const [found, shown, head] = await Promise.all([
    run(["rev-parse", "--is-bare-repository", "--absolute-git-dir"], signal),
    run(["rev-parse", "--show-toplevel"], signal),
    run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], signal),
  ]);
  if (!found.ok) return no(whyNone(found.why, cwd));
  const [isBare, folder = ""] = utf8(found.text).split("\n");
  if (isBare === "true") return no("This is a bare repository: it has no files that could have changed.");
  if (!shown.ok) return no(whyNone(shown.why, cwd));
  const top = utf8(shown.text).replace(/\n$/, "");
  // A repository may name any folder as its own: only the one that it stands in is meant.
  const here = await realpath(cwd).catch(() => cwd);
  if (!isInside(here, [top]) || !existsSync(path.join(top, ".git")))
    return no(`The settings of the repository name another folder than this one: ${top}`);
  const inTop = (args: readonly string[]): string[] => ["-C", top, ...still, ...args];
  return {
    ok: true,
    top,
    gitFolder: folder,
    head: head.ok ? head.text.trim() : undefined,
    git: (args, input) => run(inTop(args), signal, input),
    gitBehind: (args) => run(inTop(args), signal, undefined, "behind"),
  };
}

function whyNone(why: string, cwd: string): string {
  if (/not a git repository/i.test(why))
    return existsSync(path.join(cwd, ".jj"))
      ? "This folder is a jj repository without git beside it: its changes cannot be shown."
      : "This folder is in no git repository.";
  if (/ENOENT/.test(why))
    return existsSync(cwd) ? "Git is not installed." : "The folder is not there any more.";
  return `Git says: ${why}`;
}

/** What git said byte by byte, as text. */
export const utf8 = (latin1: string): string => Buffer.from(latin1, "latin1").toString("utf8");

/** Whether a file really lies in the repository: no folder on the way to it is a link that leads out of it. */
export async function isReallyInside(top: string, file: string): Promise<boolean> {
  for (let folder = path.dirname(path.join(top, file)); ; folder = path.dirname(folder)) {
    const real = await realpath(folder).catch(() => undefined);
    if (real !== undefined) return isInside(real, [await realpath(top).catch(() => top)]);
    if (folder === path.dirname(folder)) return false;
  }
}

/** Folders that git ignores, with all below them. */
export async function ignoredFolders({ git, top }: DiffPlace): Promise<ReadonlySet<string>> {
  const listed = await git(["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]);
  const names = listed.ok ? utf8(listed.text).split("\0") : [];
  return new Set(names.filter((name) => name.endsWith("/")).map((name) => path.resolve(top, name)));
}
