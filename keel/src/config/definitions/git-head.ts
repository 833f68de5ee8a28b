/** Which branch a repository is on, from its files alone: asking git itself could run programs that the repository names. */
import path from "node:path";
import { readPlainText } from "../settings/plain-text.ts";

export type GitHead = {
  readonly root: string;
  /** A branch, or the start of a commit where there is none. */
  readonly branch: string;
  /** The branch of the origin that others come from, if it is known. */
  readonly main: string | undefined;
};

/** Undefined where the project is no repository, or one that is not understood. */
export async function readGitHead(root: string): Promise<GitHead | undefined> {
  const folder = await gitFolder(root);
  if (folder === undefined) return undefined;
  const head = await readRef(path.join(folder, "HEAD"));
  if (head === undefined) return undefined;
  const shared = (await readLine(path.join(folder, "commondir"))) ?? ".";
  const origin = await readRef(path.resolve(folder, shared, "refs", "remotes", "origin", "HEAD"));
  return { root, branch: head, main: origin?.replace(/^origin\//, "") };
}

/** The branch of the nearest repository; `HEAD` for a commit without one, empty outside of a repository. */
export async function branchOf(cwd: string): Promise<string> {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const place = await gitFolder(folder);
    const head = place === undefined ? undefined : await readLine(path.join(place, "HEAD"));
    if (head !== undefined) return /^ref: refs\/heads\/(.+)$/.exec(head)?.[1]?.trim() ?? "HEAD";
    if (folder === path.dirname(folder)) return "";
  }
}

/** A worktree has a file that names the folder. */
async function gitFolder(root: string): Promise<string | undefined> {
  const place = path.join(root, ".git");
  const named = (await readLine(place))?.match(/^gitdir: (.{1,4096})$/)?.[1];
  return named === undefined ? place : path.resolve(root, named);
}

async function readRef(file: string): Promise<string | undefined> {
  const line = await readLine(file);
  if (line === undefined) return undefined;
  const named = /^ref: refs\/(?:heads|remotes)\/(.{1,255})$/.exec(line)?.[1];
  // A name may hold anything but blanks; one that looks like a sentence is not passed on.
  if (named !== undefined) return /^[\p{L}\p{N}._/@+#=-]{1,100}$/u.test(named) ? named : undefined;
  return /^[0-9a-f]{40,64}$/.test(line) ? `commit ${line.slice(0, 12)}` : undefined;
}

async function readLine(file: string): Promise<string | undefined> {
  const read = await readPlainText(file, { links: "refuse" });
  return read.kind === "text" && read.text.length < 8_192 ? read.text.trim().split("\n")[0] : undefined;
}
