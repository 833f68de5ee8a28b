import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { RunProgram } from "../../ports/hook-programs.ts";
import { knownWorktree, newWorktree, type OpenWorktree, type WorktreePorts } from "./worktree.ts";

let home: string;
let repository: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "keel-worktree-"));
  repository = path.join(home, "project");
  mkdirSync(path.join(repository, "sub"), { recursive: true });
  writeFileSync(path.join(repository, "sub/a.txt"), "a\n");
  git(repository, "init", "--quiet", "-b", "main");
  git(repository, "add", ".");
  git(repository, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "first");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const git = (cwd: string, ...args: string[]): string => execFileSync("git", args, { cwd, encoding: "utf8" });

const run: RunProgram = async ({ file, args, cwd, env }) => {
  try {
    const stdout = execFileSync(file, [...args], {
      cwd,
      env: { ...process.env, ...env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { exitCode: 0, stdout, stderr: "", cut: false };
  } catch (thrown) {
    const { status, stderr } = thrown as { status: number; stderr: string };
    return { exitCode: status, stdout: "", stderr: String(stderr), cut: false };
  }
};

function worldOf(taken = new Set<string>()): WorktreePorts {
  return {
    run,
    async lease(place) {
      if (taken.has(place)) throw new Error("taken");
      taken.add(place);
      return { release: async () => void taken.delete(place) };
    },
  };
}

async function opened(request: Promise<Awaited<ReturnType<typeof newWorktree>>>): Promise<OpenWorktree> {
  const found = await request;
  if (!found.ok) throw new Error(found.why);
  return found.value;
}

describe("a worktree", () => {
  test("is a copy beside the repository, in the same folder of it, and goes when nothing has changed", async () => {
    verifies("S4.12", "P25");
    const made = await opened(newWorktree(path.join(repository, "sub"), "one", worldOf()));
    expect(made.worktree.path).toBe(path.join(home, "project.worktrees/one"));
    expect(made.cwd).toBe(path.join(made.worktree.path, "sub"));
    expect(existsSync(path.join(made.cwd, "a.txt"))).toBe(true);
    expect(await made.leave("clean")).toBe("removed");
    expect(existsSync(made.worktree.path)).toBe(false);
    expect(git(repository, "branch", "--list", "keel/*")).toBe("");
  });

  test("stays when a file in it has changed, or a commit was made", async () => {
    verifies("P25");
    const touched = await opened(newWorktree(repository, "one", worldOf()));
    writeFileSync(path.join(touched.cwd, "new.txt"), "x");
    expect(await touched.leave("clean")).toBe("kept");
    const committed = await opened(newWorktree(repository, "two", worldOf()));
    git(committed.cwd, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "--allow-empty", "-qm", "more");
    expect(await committed.leave("clean")).toBe("kept");
    expect(existsSync(touched.worktree.path) && existsSync(committed.worktree.path)).toBe(true);
  });

  test("is held by one at a time", async () => {
    verifies("P25");
    const taken = new Set<string>();
    const first = await opened(newWorktree(repository, "one", worldOf(taken)));
    expect(await knownWorktree(first.worktree, worldOf(taken))).toMatchObject({ ok: false });
    expect(await newWorktree(repository, "one", worldOf(taken))).toMatchObject({ ok: false });
    await first.leave("keep");
    expect(await knownWorktree(first.worktree, worldOf(taken))).toMatchObject({ ok: true });
  });

  test("runs no hook of the repository", async () => {
    const hook = path.join(repository, ".git/hooks/post-checkout");
    writeFileSync(hook, `#!/bin/sh\ntouch ${path.join(home, "ran")}\n`, { mode: 0o755 });
    await opened(newWorktree(repository, "one", worldOf()));
    expect(existsSync(path.join(home, "ran"))).toBe(false);
  });

  test("needs a repository with a commit", async () => {
    mkdirSync(path.join(home, "plain"));
    expect(await newWorktree(path.join(home, "plain"), "one", worldOf())).toMatchObject({
      ok: false,
      why: "A worktree needs a git repository with at least one commit.",
    });
  });
});
