/** The workspace's own tools, which a runner always offers: where the work stands, reviews, issues and scripts. */
import { lstat, readFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import type { OwnTool } from "../../../app/compose/own-tools.ts";
import { nodeIds } from "../../../app/node-ports.ts";
import type { EnvironmentVariables } from "../../../config/settings/paths.ts";
import { isJson, type Json, parseJson } from "../../../kernel/json.ts";
import { shorten } from "../../../kernel/text.ts";
import { jsonSchema } from "../../../protocol/message.ts";
import { gitIn, type RunGit } from "../../../workspace/git/git.ts";
import { jsonPoster } from "../../../workspace/web/post-json.ts";
import { workspaceServer, workspaceTool } from "./define.ts";
import { type FindIssue, issuesOfFile, issuesOfLinear } from "./issues.ts";
import { type History, reviewTools } from "./review.ts";

type WorkspaceToolsOptions = {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  readonly linearIssue?: string | undefined;
  readonly targetBranch?: string | undefined;
  readonly history: History;
};

/** Those that run without a question: they read, or leave something for the person to decide about. */
export const unaskedWorkspaceTools: readonly string[] = [
  "get_session_status",
  "get_workspace_diff",
  "get_recent_activity",
  "add_review_comment",
  "list_review_comments",
  "get_review_comment_stats",
  "get_linear_context",
  "update_linear_status",
  "get_workspace_scripts_config",
  "propose_scripts_config",
].map((name) => `mcp__${workspaceServer}__${name}`);

const maxDiff = 60_000;
const maxChanged = 500;
const none = z.object({});

export function workspaceTools(options: WorkspaceToolsOptions): OwnTool[] {
  const { cwd, env, targetBranch, linearIssue } = options;
  const git = gitIn({ cwd, env });
  const find = finderOf(options);
  const noIssue = "This session has no issue, and none was named.";
  const findIssue = async (id = linearIssue, signal: AbortSignal) =>
    id === undefined ? noIssue : find(id, signal);
  return [
    workspaceTool({
      name: "get_session_status",
      description:
        "The branch, what is not committed, the distance from the target branch, and the issue of this session.",
      input: none,
      run: async (_, signal) => {
        const state = await gitState(git, targetBranch, signal);
        if (typeof state === "string") return { failed: `Git cannot tell: ${state}` };
        const { branch, changed, ahead, behind, comparedWith } = state;
        const lines = [
          `Branch: ${branch}`,
          changed.length === 0 ? "Everything is committed." : `Not committed: ${changed.length} files`,
          ...(comparedWith ? [`Against ${comparedWith}: ${ahead} ahead, ${behind} behind`] : []),
          ...(linearIssue === undefined ? [] : [`Issue: ${linearIssue}`]),
        ];
        return { says: lines.join("\n"), data: json({ ...state, issue: linearIssue }) };
      },
    }),
    workspaceTool({
      name: "get_workspace_diff",
      description:
        "What has changed since the target branch, committed or not: a summary, or the whole difference.",
      input: z.object({
        detailed: z.optional(z.boolean().check(z.describe("The whole difference; a summary when left out."))),
      }),
      run: async ({ detailed }, signal) => {
        const base = (await baseOf(git, targetBranch, signal)) ?? "HEAD";
        const merge = await git(["merge-base", base, "HEAD"], signal);
        const from = merge.ok ? merge.text.trim() : "HEAD";
        const plain = ["--no-ext-diff", "--no-textconv", "--no-color", ...(detailed ? [] : ["--stat=120"])];
        const diff = await git(["diff", ...plain, from, "--"], signal);
        if (!diff.ok) return { failed: `Git cannot tell: ${diff.why}` };
        const says = shorten(diff.text, maxDiff) || "Nothing has changed.";
        return { says, data: { from, truncated: diff.cut || diff.text.length > maxDiff } };
      },
    }),
    workspaceTool({
      name: "get_recent_activity",
      description: "The newest commits of this branch.",
      input: z.object({ limit: z.optional(z.int().check(z.minimum(1), z.maximum(100))) }),
      run: async ({ limit = 10 }, signal) => {
        const log = await git(
          ["log", `--max-count=${limit}`, "--no-color", "--format=%h%x09%an%x09%cI%x09%s"],
          signal,
        );
        if (!log.ok) return { failed: `Git cannot tell: ${log.why}` };
        const commits = log.text
          .split("\n")
          .filter(Boolean)
          .map((line) => {
            const [commit = "", author = "", at = "", ...subject] = line.split("\t");
            return { commit, author, at, subject: subject.join("\t") };
          });
        return { says: log.text.trim() || "There are no commits.", data: { commits } };
      },
    }),
    ...reviewTools({ history: options.history, uuid: nodeIds().uuid }),
    workspaceTool({
      name: "get_linear_context",
      description: "The issue that this session is about, or another one by its id.",
      input: z.object({ id: z.optional(z.string()) }),
      run: async ({ id }, signal) => {
        const issue = await findIssue(id, signal);
        if (typeof issue === "string") return { failed: issue };
        const { title, status, description } = issue;
        return { says: `${issue.id}: ${title}\nStatus: ${status}\n\n${description}`, data: json(issue) };
      },
    }),
    workspaceTool({
      name: "start_linear_issue",
      description: "Makes a branch for an issue and goes to it.",
      input: z.object({ id: z.optional(z.string()) }),
      changes: "something",
      run: async ({ id }, signal) => {
        const issue = await findIssue(id, signal);
        if (typeof issue === "string") return { failed: issue };
        const branch = branchFor(issue.id, issue.title);
        const made = await git(["switch", "--create", branch], signal);
        if (!made.ok) return { failed: `The branch could not be made: ${made.why}` };
        return { says: `On the new branch ${branch}.`, data: json({ ...issue, branch, status: "started" }) };
      },
    }),
    workspaceTool({
      name: "update_linear_status",
      description: "Notes a new status of the issue for the person's program. Nothing is sent to Linear.",
      input: z.object({
        id: z.optional(z.string()),
        status: z.string().check(z.minLength(1), z.maxLength(100)),
      }),
      run: async ({ id, status }) => {
        const wanted = id ?? linearIssue;
        if (wanted === undefined) return { failed: noIssue };
        return { says: `Noted: ${wanted} is ${status}.`, data: { id: wanted, status } };
      },
    }),
    workspaceTool({
      name: "get_workspace_scripts_config",
      description: "The scripts of this workspace, from .keel/config.json.",
      input: none,
      run: async () => {
        const file = path.join(cwd, ".keel", "config.json");
        const found = await readSmall(file);
        if (found === undefined)
          return { says: "There is no .keel/config.json yet.", data: { config: null } };
        const config = parseJson(found);
        if (config === undefined) return { failed: ".keel/config.json is not JSON." };
        return { says: found, data: { config } };
      },
    }),
    workspaceTool({
      name: "propose_scripts_config",
      description:
        "Proposes scripts for this workspace. The person sees them and decides; nothing is written.",
      input: z.object({
        config: z.record(z.string(), jsonSchema).check(z.describe("What .keel/config.json would hold.")),
        reason: z.optional(z.string().check(z.maxLength(2_000))),
      }),
      run: async ({ config, reason }) => ({
        says: "Proposed. The person decides about it.",
        data: json({ config, ...(reason === undefined ? {} : { reason }) }),
      }),
    }),
  ];
}

function finderOf({ cwd, env }: WorkspaceToolsOptions): FindIssue {
  const key = env["LINEAR_API_KEY"]?.trim();
  if (!key) return issuesOfFile(cwd);
  const url = env["KEEL_LINEAR_URL"]?.trim() || "https://api.linear.app/graphql";
  return issuesOfLinear({ url, key, post: jsonPoster({ allowHosts: [] }) });
}

/** Its branch, what is not committed, and how far it is from the branch it will join; a sentence where git cannot tell. */
async function gitState(git: RunGit, target: string | undefined, signal: AbortSignal) {
  const status = await git(
    ["status", "--porcelain=v2", "--branch", "--untracked-files=normal", "-z"],
    signal,
  );
  if (!status.ok) return status.why;
  const lines = status.text.split("\0");
  const header = (name: string): string =>
    lines.find((line) => line.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length) ?? "";
  const changed = lines
    .filter((line) => /^[12u?] /.test(line))
    .map((line) => line.slice(line.startsWith("?") ? 2 : 0));
  const base = await baseOf(git, target, signal);
  const counts = base
    ? await git(["rev-list", "--left-right", "--count", `HEAD...${base}`, "--"], signal)
    : undefined;
  const [ahead = 0, behind = 0] = counts?.ok ? counts.text.trim().split(/\s+/).map(Number) : [];
  return {
    branch: header("head") || "(none)",
    commit: header("oid"),
    changed: changed.slice(0, maxChanged),
    ahead,
    behind,
    comparedWith: base,
  };
}

/** The named branch, here or at its origin; otherwise the usual names. A name that looks like an option is none. */
async function baseOf(
  git: RunGit,
  target: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const names = target === undefined ? ["main", "master"] : [target];
  for (const name of names.flatMap((known) => [`refs/heads/${known}`, `refs/remotes/origin/${known}`])) {
    if (/[\s~^:?*[\\]|\.\.|@\{/.test(name)) continue;
    const found = await git(["rev-parse", "--verify", "--quiet", `${name}^{commit}`], signal);
    if (found.ok) return name;
  }
  return undefined;
}

/** Letters, digits and dashes only: whatever the title holds. */
function branchFor(id: string, title: string): string {
  const plain = (words: string): string =>
    words
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "");
  return [plain(id), plain(title).slice(0, 50).replace(/-$/, "")].filter(Boolean).join("-") || "issue";
}

async function readSmall(file: string): Promise<string | undefined> {
  try {
    const stat = await lstat(file);
    return stat.isFile() && stat.size < 1_000_000 ? await readFile(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Without what is undefined. */
function json(value: unknown): Json {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return isJson(plain) ? plain : null;
}
