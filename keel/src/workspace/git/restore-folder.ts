/**
 * A folder brought to a state that came from another machine. Nothing of the folder's own is lost: a file that is
 * neither as the commit here has it, nor as this session left it, nor as it comes, is somebody's work, and then nothing
 * is done. The same bundle may be taken in again after a crash in the middle: it goes on from whatever is there.
 */
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import { no, type Refused } from "../../kernel/result.ts";
import {
  type FolderPlace,
  findWorkTree,
  gitAt,
  lineOf,
  namesOf,
  treeOfFiles,
  type WorkTree,
  workRef,
} from "./folder-state.ts";
import type { RunGit } from "./git.ts";

export type ComingState = {
  readonly session: string;
  readonly bundle: string;
  readonly commit: string;
  readonly branch?: string | undefined;
  readonly tree: string;
  readonly work: string;
  /** The tree in which this session left the folder, where it was here before. */
  readonly leftTree?: string | undefined;
  /** It was begun before: files may be half written. */
  readonly isAgain: boolean;
};

/** What would be done; nothing of the folder has changed yet. */
export type Restoring = {
  readonly top: string;
  /** Whether the folder is made, with a repository in it. */
  readonly isNew: boolean;
  /** Throws what git says, and then the folder is as it was, as far as that can be. */
  apply(): Promise<RestoredFolder>;
};

export type RestoredFolder = {
  /** What a person should know. */
  readonly notes: readonly string[];
  /** Brings it back to what it was, as far as that can be. */
  undo(): Promise<void>;
};

export type Prepared = { readonly ok: true; readonly value: Restoring } | Refused;

/** Where the folder is neither there nor holds anything, one is made. */
export async function prepareFolder(place: FolderPlace, coming: ComingState): Promise<Prepared> {
  const header = await readBundleHead(coming.bundle);
  if (!header || header.work !== coming.work) return no("its bundle of git is none");
  const names = await readdir(place.cwd).catch(() => undefined);
  const isMade = names?.length === 1 && names[0] === ".git" && coming.isAgain;
  if (!names || names.length === 0 || isMade) return prepareNew(place, coming, header);
  const found = await findWorkTree(place);
  if (!found.ok) return no(`${found.why}, and is not empty`);
  return prepareExisting(place, { coming, header, tree: found.value });
}

type BundleHead = { readonly work: string; readonly needs: readonly string[] };

/** Its first lines, as git writes them: what it needs, and the one name that it has. */
async function readBundleHead(bundle: string): Promise<BundleHead | undefined> {
  await using handle = await open(bundle, "r");
  const buffer = Buffer.alloc(1024 * 1024);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
  const [head = ""] = buffer.toString("latin1", 0, bytesRead).split("\n\n");
  const [first = "", ...lines] = head.split("\n");
  if (!/^# v[23] git bundle$/.test(first)) return undefined;
  const refs = lines.filter((line) => /^[0-9a-f]/.test(line));
  const [, work] = /^([0-9a-f]{40,64}) refs\/keel\/moved\/[0-9a-f-]+$/.exec(refs[0] ?? "") ?? [];
  if (work === undefined || refs.length !== 1) return undefined;
  return { work, needs: lines.flatMap((line) => /^-([0-9a-f]{40,64})/.exec(line)?.[1] ?? []) };
}

async function prepareNew(place: FolderPlace, coming: ComingState, { needs }: BundleHead): Promise<Prepared> {
  if (needs.length > 0)
    return no(
      `there is no repository in ${place.cwd}: clone it there first, or take the whole history along (--whole)`,
    );
  return {
    ok: true,
    value: {
      top: place.cwd,
      isNew: true,
      async apply() {
        await mkdir(place.cwd, { recursive: true });
        const git = gitAt(place, place.cwd);
        await must(git, ["init", "--quiet", "--template="], place.signal);
        const found = await findWorkTree(place);
        if (!found.ok) throw fault("work_refused", { reason: found.why });
        await takeObjects(found.value.git, coming, place.signal);
        const from = await emptyTree(git, place.signal);
        const { notes } = await bring(place, found.value, { coming, from });
        return { notes, undo: () => emptied(place.cwd) };
      },
    },
  };
}

/** It held nothing before. */
async function emptied(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    await rm(path.join(folder, name), { recursive: true, force: true });
}

type ComingHere = { readonly coming: ComingState; readonly header: BundleHead; readonly tree: WorkTree };

async function prepareExisting(place: FolderPlace, { coming, header, tree }: ComingHere): Promise<Prepared> {
  const { git, top } = tree;
  const { signal } = place;
  for (const commit of header.needs)
    if (!(await git(["cat-file", "-e", `${commit}^{commit}`], signal)).ok)
      return no(
        `the repository ${top} lacks the commit ${commit.slice(0, 12)}: fetch there first, or take the whole history along (--whole)`,
      );
  try {
    await takeObjects(git, coming, signal);
  } catch (thrown) {
    return no(thrown instanceof Error ? thrown.message : String(thrown));
  }
  const head = await lineOf(git, ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], signal);
  const base = head || (await emptyTree(git, signal));
  const files = await treeOfFiles(place, tree, base);
  if (!files.ok) return files;
  const bytes = gitAt(place, top, {}, "latin1");
  const own = await ownChanges(git, { bytes, top, now: files.value.tree, base, coming, signal });
  if (!own) return no(`git cannot compare the files of ${top}`);
  if (own.length > 0)
    return no(
      `${top} has changes of its own: ${own.slice(0, 5).join(", ")}${own.length > 5 ? ` and ${own.length - 5} more` : ""}`,
    );
  if (head && !(await isKept(git, head, coming.commit, signal)))
    return no(`${top} has commits that no branch holds: ${head.slice(0, 12)}`);
  return {
    ok: true,
    value: { top, isNew: false, apply: () => bring(place, tree, { coming, from: files.value.tree }) },
  };
}

/** Only objects: no branch, no file, no setting is touched. What they hold is held to what was announced. */
async function takeObjects(git: RunGit, coming: ComingState, signal: AbortSignal): Promise<void> {
  await must(git, ["bundle", "unbundle", coming.bundle], signal);
  const says = await must(
    git,
    ["rev-parse", `${coming.work}^1`, `${coming.work}^{tree}`, `${coming.work}^2^{tree}`],
    signal,
  );
  const [commit, tree] = says.split("\n");
  if (commit !== coming.commit || tree !== coming.tree)
    throw fault("work_refused", { reason: "its bundle of git holds something else than it says" });
}

const emptyTree = (git: RunGit, signal: AbortSignal): Promise<string> => must(git, ["mktree"], signal);

/** Those that are as nobody knows them. */
async function ownChanges(
  git: RunGit,
  {
    bytes,
    top,
    now,
    base,
    coming,
    signal,
  }: { bytes: RunGit; top: string; now: string; base: string; coming: ComingState; signal: AbortSignal },
): Promise<string[] | undefined> {
  const differs = async (other: string): Promise<Set<string> | undefined> => {
    const names = await namesOf(
      git,
      ["diff-tree", "-r", "--name-only", "--no-renames", "-z", now, other],
      signal,
    );
    return names && new Set(names);
  };
  const known = [base, coming.tree, ...(coming.leftTree === undefined ? [] : [coming.leftTree])];
  let own: string[] | undefined;
  for (const tree of known) {
    const other = await differs(tree);
    // One that git has thrown away says nothing.
    if (!other && tree === coming.leftTree) continue;
    if (!other) return undefined;
    own = own ? own.filter((name) => other.has(name)) : [...other];
  }
  if (!coming.isAgain || !own) return own;
  const halves = await Promise.all(
    own.map(async (name) => ((await isHalf(bytes, { top, name, tree: coming.tree, signal })) ? [] : [name])),
  );
  return halves.flat();
}

/** A crash may leave a file that has only begun to be what it is to be. */
async function isHalf(
  git: RunGit,
  { top, name, tree, signal }: { top: string; name: string; tree: string; signal: AbortSignal },
): Promise<boolean> {
  const here = await readFile(path.join(top, name)).catch(() => undefined);
  if (!here) return (await stat(path.join(top, name)).catch(() => undefined)) === undefined;
  const comes = await git(["cat-file", "blob", `${tree}:${name}`], signal);
  return comes.ok && Buffer.from(comes.text, "latin1").subarray(0, here.length).equals(here);
}

/** Whether nothing is lost when another commit is checked out. */
async function isKept(git: RunGit, head: string, commit: string, signal: AbortSignal): Promise<boolean> {
  if ((await git(["symbolic-ref", "--quiet", "HEAD"], signal)).ok) return true;
  if ((await git(["merge-base", "--is-ancestor", head, commit], signal)).ok) return true;
  const holders = ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", head];
  return (await lineOf(git, [...holders, "refs/heads", "refs/remotes", "refs/tags"], signal)) !== "";
}

/** Files first, then what is checked out, then what is staged. Whatever fails, what was done is taken back. */
async function bring(
  place: FolderPlace,
  tree: WorkTree,
  { coming, from }: { readonly coming: ComingState; readonly from: string },
): Promise<RestoredFolder> {
  const { git } = tree;
  const { signal } = place;
  const before = await standing(git, signal);
  const files = await treeOfFiles(place, tree, from);
  if (!files.ok) throw fault("work_refused", { reason: files.why });
  const { index, tree: now } = files.value;
  // What was looked at is what is written over.
  if (now !== from) throw fault("work_refused", { reason: `${tree.top} was changed at the same moment` });
  const undo = async (): Promise<void> => {
    const again = await treeOfFiles(place, tree, now);
    if (again.ok) await again.value.index(["read-tree", "-m", "-u", again.value.tree, now], signal);
    await before.restore();
  };
  try {
    await must(index, ["read-tree", "-m", "-u", now, coming.tree], signal);
    const notes = await checkOut(git, coming, signal);
    await must(git, ["read-tree", `${coming.work}^2^{tree}`], signal);
    await git(["update-index", "-q", "--refresh"], signal);
    return { notes, undo };
  } catch (thrown) {
    await undo();
    throw thrown;
  }
}

/** What is checked out and staged, and how it is brought back. */
async function standing(git: RunGit, signal: AbortSignal): Promise<{ restore(): Promise<void> }> {
  const ref = await lineOf(git, ["symbolic-ref", "--quiet", "HEAD"], signal);
  const commit = await lineOf(git, ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], signal);
  const staged = await lineOf(git, ["write-tree"], signal);
  return {
    async restore() {
      if (ref !== "") await git(["symbolic-ref", "HEAD", ref], signal);
      if (commit !== "")
        await git(["update-ref", ...(ref === "" ? ["--no-deref"] : []), "HEAD", commit], signal);
      if (staged !== "") await git(["read-tree", staged], signal);
      await git(["update-index", "-q", "--refresh"], signal);
    },
  };
}

/** What it left here before is no longer asked for. */
export const forgetWork = async (place: FolderPlace, top: string, session: string): Promise<void> =>
  void (await gitAt(place, top)(["update-ref", "-d", workRef(session)], place.signal));

/** A branch only ever goes forward; one that went another way here stays where it is. */
async function checkOut(
  git: RunGit,
  { branch, commit }: ComingState,
  signal: AbortSignal,
): Promise<string[]> {
  const ref = `refs/heads/${branch}`;
  const detach = async (why: string[]): Promise<string[]> => {
    await must(git, ["update-ref", "--no-deref", "HEAD", commit], signal);
    return why;
  };
  if (branch === undefined || !(await git(["check-ref-format", ref], signal)).ok) return detach([]);
  const known = await lineOf(git, ["rev-parse", "--quiet", "--verify", `${ref}^{commit}`], signal);
  const current = await lineOf(git, ["symbolic-ref", "--quiet", "HEAD"], signal);
  if (known !== "" && !(await git(["merge-base", "--is-ancestor", known, commit], signal)).ok)
    return detach([`The branch ${branch} went another way here; the commit is checked out without it.`]);
  const others = await lineOf(git, ["worktree", "list", "--porcelain"], signal);
  if (current !== ref && others.split("\n").includes(`branch ${ref}`))
    return detach([`The branch ${branch} is checked out elsewhere; the commit is checked out without it.`]);
  await must(git, ["update-ref", ref, commit], signal);
  await must(git, ["symbolic-ref", "HEAD", ref], signal);
  return [];
}

async function must(git: RunGit, args: readonly string[], signal: AbortSignal): Promise<string> {
  const answer = await git(args, signal);
  if (!answer.ok) throw fault("work_refused", { reason: `git ${args[0]}: ${answer.why}` });
  return answer.text.trim();
}
