/** Where transcripts of the official interface stand, for those that Keel writes and those that it finds. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type EnvironmentVariables, userHome } from "../../config/settings/paths.ts";
import { projectKeyOf } from "../../kernel/path.ts";

export const transcriptProjects = (env: EnvironmentVariables): string =>
  path.join(env["CLAUDE_CONFIG_DIR"] || path.join(userHome(env), ".claude"), "projects");

export const transcriptFile = (env: EnvironmentVariables, { cwd, id }: { cwd: string; id: string }): string =>
  path.join(transcriptProjects(env), projectKeyOf(cwd), `${id}.jsonl`);

/** In Keel's own folder, for hooks alone: gone with its session. */
export const ownTranscriptFolder = (home: string, id: string): string => path.join(home, "transcripts", id);

/** Beside a transcript: those of its agents. */
export const agentTranscripts = (file: string): string =>
  path.join(file.replace(/\.jsonl$/, ""), "subagents");

/** The transcripts of sessions in a folder and below; those of agents belong to one of them. */
export async function transcriptsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl") && !entry.name.startsWith("agent-"))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/** The transcript of a session, of this folder or else of any. */
export async function findTranscript(
  env: EnvironmentVariables,
  { cwd, id }: { cwd: string; id: string },
): Promise<string | undefined> {
  const projects = transcriptProjects(env);
  const own = projectKeyOf(cwd);
  const keys = await readdir(projects).catch(() => []);
  for (const key of [own, ...keys.filter((each) => each !== own)]) {
    const names = await readdir(path.join(projects, key)).catch(() => []);
    const name = names.find((each) => each.toLowerCase() === `${id.toLowerCase()}.jsonl`);
    if (name !== undefined) return path.join(projects, key, name);
  }
  return undefined;
}

/** `HEAD` for a commit without a branch, empty outside of a repository. Reads two small files and starts nothing. */
export async function branchOf(cwd: string): Promise<string> {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const head = await headOf(path.join(folder, ".git"));
    if (head !== undefined) return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1]?.trim() ?? "HEAD";
    if (folder === path.dirname(folder)) return "";
  }
}

async function headOf(git: string): Promise<string | undefined> {
  const own = await readFile(path.join(git, "HEAD"), "utf8").catch(() => undefined);
  if (own !== undefined) return own;
  // A worktree says in a file where its own is.
  const link = await readFile(git, "utf8").catch(() => "");
  const place = /^gitdir: (.+)$/m.exec(link)?.[1]?.trim();
  if (place === undefined) return undefined;
  return readFile(path.resolve(path.dirname(git), place, "HEAD"), "utf8").catch(() => undefined);
}
