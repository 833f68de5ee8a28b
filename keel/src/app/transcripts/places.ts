/** Where transcripts of the official interface stand, for those that Keel writes and those that it finds. */
import { readdir } from "node:fs/promises";
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
