/**
 * The state of a folder in git, as it is taken along: the commit that is checked out, the index and the files as they
 * are, committed or not, each a tree; all of them in one commit with two parents, in one bundle of git. Files that git
 * ignores stay. No program that the repository names is run, and neither its index nor its files are touched.
 */
import { copyFile, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { no, type Refused } from "../../kernel/result.ts";
import type { ProcessEnvironment } from "../processes/environment.ts";
import { gitIn, type RunGit } from "./git.ts";

export type FolderState = {
  /** The root of the work tree, and the session's folder in it, with a slash at its end or empty. */
  readonly top: string;
  readonly prefix: string;
  readonly commit: string;
  /** Left out where no branch is checked out. */
  readonly branch?: string | undefined;
  /** The files as they are, without those that are left behind. */
  readonly tree: string;
  /** The commit that holds it all. */
  readonly work: string;
  /** What is in the work tree and is not taken along: keys and secrets, and settings of this machine. */
  readonly left: readonly string[];
};

export type FolderPlace = {
  readonly cwd: string;
  readonly env: ProcessEnvironment;
  /** For files that are in the way of nobody. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  /** What is never taken along, by its path and by what it holds. */
  isLeft(file: string, content: Uint8Array | undefined): boolean;
};

export type Captured = { readonly ok: true; readonly value: FolderState } | Refused;

/** A large repository takes a while to be packed. */
const maxMs = 600_000;
const listingBytes = 64 * 1024 * 1024;

/** Under this name the repository keeps what a session took along, so that it is known when it comes back. */
export const workRef = (session: string): string => `refs/keel/moved/${session}`;

export const gitAt = (
  place: FolderPlace,
  cwd: string,
  env: ProcessEnvironment = {},
  encoding: "utf8" | "latin1" = "utf8",
): RunGit =>
  gitIn({
    encoding,
    cwd,
    env: { ...place.env, GIT_NO_LAZY_FETCH: "1", ...identity, ...env },
    maxBytes: listingBytes,
    maxMs,
  });

/** Nobody's: it is no commit that anybody made. */
const identity = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "keel"],
    [`GIT_${who}_EMAIL`, "keel@localhost"],
    [`GIT_${who}_DATE`, "2000-01-01T00:00:00Z"],
  ]),
);

export type WorkTree = { readonly git: RunGit; readonly top: string; readonly prefix: string };

/** Refused where there is none that can be taken along or into. */
export async function findWorkTree(
  place: FolderPlace,
): Promise<{ readonly ok: true; readonly value: WorkTree } | Refused> {
  const found = await gitAt(place, place.cwd)(
    ["rev-parse", "--show-toplevel", "--show-prefix"],
    place.signal,
  );
  if (!found.ok) return no(`${place.cwd} is in no git repository (${found.why})`);
  const [top = "", prefix = ""] = found.text.split("\n");
  const git = gitAt(place, top);
  const going = await unfinishedIn(git, top, place.signal);
  return going === undefined
    ? { ok: true, value: { git, top, prefix } }
    : no(`a ${going} is going on in ${top}: finish it, or give it up`);
}

const operations: Readonly<Record<string, string>> = {
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
  BISECT_LOG: "bisect",
};

async function unfinishedIn(git: RunGit, top: string, signal: AbortSignal): Promise<string | undefined> {
  const names = Object.keys(operations);
  const files = await lineOf(git, ["rev-parse", ...names.flatMap((name) => ["--git-path", name])], signal);
  for (const [at, file] of files.split("\n").entries())
    if (file !== "" && (await stat(path.resolve(top, file)).catch(() => undefined)))
      return operations[names[at] ?? ""];
  return undefined;
}

export const lineOf = async (git: RunGit, args: readonly string[], signal: AbortSignal): Promise<string> => {
  const answer = await git(args, signal);
  return answer.ok ? answer.text.trim() : "";
};

export const namesOf = async (
  git: RunGit,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string[] | undefined> => {
  const answer = await git(args, signal);
  return answer.ok && !answer.cut ? answer.text.split("\0").filter(Boolean) : undefined;
};

/** A tree of all files that git does not ignore, as they are now, in an index of our own. */
export async function treeOfFiles(
  place: FolderPlace,
  { top }: WorkTree,
  base: string,
): Promise<
  | {
      readonly ok: true;
      readonly value: { tree: string; index: RunGit; left: readonly string[]; file: string };
    }
  | Refused
> {
  const { signal } = place;
  const file = path.join(place.scratch, "index");
  await rm(file, { force: true });
  await copyIndex(place, top, file);
  const index = gitAt(place, top, { GIT_INDEX_FILE: file });
  const added = await index(["add", "--all", "--", ":/"], signal);
  if (!added.ok) return no(`git cannot take stock of ${top}: ${added.why}`);
  const links = (await namesOf(index, ["ls-files", "--stage", "-z"], signal))?.filter((line) =>
    line.startsWith("160000 "),
  );
  if (!links) return no(`git cannot list the files of ${top}`);
  if (links.length > 0)
    return no(`it has repositories within it, such as ${JSON.stringify(links[0]?.split("\t")[1])}`);
  const left = await leaveOut(place, { top, index, base });
  if (!left) return no(`git cannot compare the files of ${top}`);
  const tree = await lineOf(index, ["write-tree"], signal);
  return tree ? { ok: true, value: { tree, index, left, file } } : no("it has conflicts that are not solved");
}

async function copyIndex(place: FolderPlace, top: string, to: string): Promise<void> {
  const own = await lineOf(gitAt(place, top), ["rev-parse", "--git-path", "index"], place.signal);
  // A repository without one has nothing added yet.
  await copyFile(path.resolve(top, own), to).catch(() => undefined);
}

/** What is never taken along is in the index as the commit has it. Returns which those are. */
async function leaveOut(
  place: FolderPlace,
  { top, index, base }: { readonly top: string; readonly index: RunGit; readonly base: string },
): Promise<string[] | undefined> {
  const changed = await namesOf(
    index,
    ["diff-index", "--cached", "--name-only", "--no-renames", "-z", base],
    place.signal,
  );
  if (!changed) return undefined;
  const left: string[] = [];
  for (const name of changed) {
    const file = path.join(top, name);
    const small = ((await stat(file).catch(() => undefined))?.size ?? 0) <= maxLookedBytes;
    const content = small ? await readFile(file).catch(() => undefined) : undefined;
    if (place.isLeft(file, content)) left.push(name);
  }
  if (left.length === 0) return left;
  const input = await Promise.all(
    left.map(async (name) => {
      const entry = await lineOf(index, ["ls-tree", base, "--", name], place.signal);
      const [, mode, id] = /^(\d{6}) blob ([0-9a-f]+)\t/.exec(entry) ?? [];
      return mode === undefined ? `0 ${"0".repeat(40)}\t${name}\0` : `${mode} ${id}\t${name}\0`;
    }),
  );
  const reset = await index(["update-index", "-z", "--index-info"], place.signal, input.join(""));
  return reset.ok ? left : undefined;
}

/** Larger ones are no keys. */
const maxLookedBytes = 8 * 1024 * 1024;

export type CaptureOptions = FolderPlace & {
  readonly session: string;
  /** Where the bundle goes. */
  readonly bundle: string;
  /** `all`: the whole history. Else what the remotes of the repository have is not taken along. */
  readonly history: "new" | "all";
  readonly maxBytes: number;
};

export async function captureFolder(options: CaptureOptions): Promise<Captured> {
  const { signal, session, bundle } = options;
  const found = await findWorkTree(options);
  if (!found.ok) return found;
  const { git, top, prefix } = found.value;
  const commit = await lineOf(git, ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], signal);
  if (commit === "") return no(`the repository ${top} has no commit yet`);
  const files = await treeOfFiles(options, found.value, commit);
  if (!files.ok) return files;
  const { tree, left } = files.value;
  const staged = await indexTree(options, { top, base: commit });
  if (staged === undefined) return no("it has conflicts that are not solved");
  const index = await lineOf(git, ["commit-tree", staged, "-p", commit, "-m", "index"], signal);
  const work = await lineOf(git, ["commit-tree", tree, "-p", commit, "-p", index, "-m", "files"], signal);
  if (work === "") return no(`git cannot keep the state of ${top}`);
  const kept = await git(["update-ref", workRef(session), work], signal);
  if (!kept.ok) return no(`git cannot keep the state of ${top}: ${kept.why}`);
  const remotes = await lineOf(
    git,
    ["for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes"],
    signal,
  );
  const isThin = options.history === "new" && remotes !== "";
  const shallow = (await lineOf(git, ["rev-parse", "--is-shallow-repository"], signal)) === "true";
  if (shallow && !isThin) return no(`${top} has only a part of its history (a shallow clone)`);
  await rm(bundle, { force: true });
  const packed = await git(
    ["bundle", "create", "--quiet", bundle, workRef(session), ...(isThin ? ["--not", "--remotes"] : [])],
    signal,
  );
  if (!packed.ok) return no(`git cannot pack the state of ${top}: ${packed.why}`);
  const { size } = await stat(bundle);
  if (size > options.maxBytes)
    return no(
      `the state of ${top} is too big: ${megabytes(size)} MB, and at most ${megabytes(options.maxBytes)} MB can go along`,
    );
  const branch = await lineOf(git, ["symbolic-ref", "--quiet", "--short", "HEAD"], signal);
  const value = { top, prefix, commit, tree, work, left, ...(branch === "" ? {} : { branch }) };
  return { ok: true, value };
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1_000_000);

/** What is staged; what is left behind is not. */
async function indexTree(
  place: FolderPlace,
  { top, base }: { readonly top: string; readonly base: string },
): Promise<string | undefined> {
  const file = path.join(place.scratch, "staged");
  await rm(file, { force: true });
  await copyIndex(place, top, file);
  const index = gitAt(place, top, { GIT_INDEX_FILE: file });
  if (!(await leaveOut(place, { top, index, base }))) return undefined;
  const tree = await lineOf(index, ["write-tree"], place.signal);
  return tree === "" ? undefined : tree;
}
