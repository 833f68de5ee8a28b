/**
 * What a conversation is told of a repository at its start: what has changed in its work tree, and its newest commits.
 * Git is asked with every program that a repository can name switched off; and while nobody trusts the project, only
 * where its settings, read here as text, hold nothing but what git itself and ordinary use write there.
 */
import path from "node:path";
import { oneLine, shorten } from "../../kernel/text.ts";
import type { ProcessEnvironment } from "../processes/environment.ts";
import { type GitAnswer, gitIn, settings } from "./git.ts";

export type GitState = {
  /** One line each, in the short form of `git status`. */
  readonly changes: readonly string[];
  readonly omitted: number;
  /** The newest first: a short id and the first line of the message. */
  readonly commits: readonly string[];
};

export type GitStateOptions = {
  readonly root: string;
  readonly env: ProcessEnvironment;
  /** What the repository's settings files say; undefined where the project is trusted and may say what it likes. */
  readonly untrustedConfig?: readonly string[] | undefined;
};

/** A conversation does not wait longer for it. */
const maxMs = 2_000;
const maxChanges = 20;
const maxCommits = 5;
const maxCharacters = 120;

/** Undefined where git says nothing, or is not to be asked. */
export async function readGitState({
  root,
  env,
  untrustedConfig = [],
}: GitStateOptions): Promise<GitState | undefined> {
  if (!untrustedConfig.every(isOrdinary)) return undefined;
  // Only the repository of this very folder, and nothing that it lacks is fetched.
  const bounds = { GIT_CEILING_DIRECTORIES: path.dirname(root), GIT_NO_LAZY_FETCH: "1" };
  const git = gitIn({ cwd: root, env: { ...env, ...bounds } });
  const signal = AbortSignal.timeout(maxMs);
  const here = ["--work-tree=.", ...settings("log.showSignature=false", "core.quotePath=false")];
  // One after the other: the first finds out what is to be switched off.
  const status = await git([...here, "status", "--short", "--ignore-submodules=all"], signal);
  if (!status.ok) return undefined;
  const log = await git([...here, "log", `-${maxCommits}`, "--no-color", "--format=%h %s"], signal);
  const changes = linesOf(status);
  return {
    changes: changes.slice(0, maxChanges),
    omitted: Math.max(0, changes.length - maxChanges),
    commits: linesOf(log).slice(0, maxCommits),
  };
}

const linesOf = (answer: GitAnswer): string[] =>
  answer.ok
    ? answer.text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => shorten(oneLine(line), maxCharacters))
    : [];

/** Sections that name no program and no other file, and of `core` the settings that `git init` and `git clone` write. */
const ordinarySections = /^\[(?:core|init|user|pull|push|color|branch "[^"\\]*"|remote "[^"\\]*")\]$/i;
const ordinarySettings: Readonly<Record<string, RegExp>> = {
  core: /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|longpaths)$/i,
  remote: /^(?:url|fetch|pushurl|tagopt|prune)$/i,
};

function isOrdinary(config: string): boolean {
  let section = "";
  return config.split("\n").every((written) => {
    const line = written.trim();
    if (line === "" || /^[#;]/.test(line)) return true;
    if (line.startsWith("[")) {
      section = /^\[(\w+)/.exec(line)?.[1]?.toLowerCase() ?? "";
      return ordinarySections.test(line);
    }
    const [, key, value = ""] = /^([\w-]+)\s*(?:=\s*(.*))?$/.exec(line) ?? [];
    // What goes on in the next line, or stands in quotes, is not read.
    return key !== undefined && !/[\\"]/.test(value) && (ordinarySettings[section]?.test(key) ?? true);
  });
}
