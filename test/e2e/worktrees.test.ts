// A session in a worktree, seen through the built command: entered, worked in, left, kept or removed, and taken up again.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, type Stage } from "./stage.ts";

const enter = reply(toolUse("EnterWorktree", { name: "one" }));
const exit = (action: "keep" | "remove", more: object = {}) =>
  reply(toolUse("ExitWorktree", { action, ...more }));
const write = (name: string) => reply(toolUse("Write", { file_path: name, content: "x\n" }));
const where = reply(toolUse("Bash", { command: "pwd; git branch --show-current" }));
const allowed = ["--allowed-tools", "EnterWorktree,ExitWorktree,Write,Bash"];
const trusted = [...allowed, "--setting-sources", "project"];

type Repository = Stage & {
  git(...words: string[]): string;
  /** What the tools said, in order. */
  said(): string[];
};

async function repository(script: Script): Promise<Repository> {
  const stage = await openStage(script);
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@t", ...words], {
      cwd: stage.project,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: stage.env["HOME"] },
    }).trim();
  git("init", "-q", "-b", "main");
  writeFileSync(path.join(stage.project, "a.txt"), "a\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const said = (): string[] =>
    stage
      .log()
      .filter(({ type }) => type === "tool.finished")
      .map(({ content }) => JSON.stringify(content));
  return { ...stage, git, said };
}

const worktrees = ({ git }: Repository): string[] =>
  git("worktree", "list", "--porcelain")
    .split("\n")
    .filter((line) => line.startsWith("worktree "))
    .map((line) => line.slice("worktree ".length));

test("what is done in it stays in it, and after leaving the session works at home again", async () => {
  verifies("S4.12");
  const stage = await repository({
    replies: [enter, write("inside.txt"), where, exit("keep"), write("outside.txt"), where, reply("Done.")],
  });
  const ended = await stage.run(["-p", "go", ...trusted]);
  expect(ended).toMatchObject({ code: 0, stdout: "Done.\n" });
  const [, kept = ""] = worktrees(stage);
  expect(existsSync(path.join(kept, "inside.txt"))).toBe(true);
  expect(existsSync(path.join(stage.project, "inside.txt"))).toBe(false);
  expect(existsSync(path.join(stage.project, "outside.txt"))).toBe(true);
  const said = stage.said();
  expect(said[2]).toContain(kept);
  expect(said[2]).toMatch(/keel\/one|one/);
  expect(said[5]).toContain(stage.project);
  expect(said[5]).toContain("main");
  expect(
    stage
      .log()
      .filter(({ type }) => type === "folder.changed")
      .map(({ cwd }) => cwd),
  ).toEqual([kept, stage.project]);
});

test("one without changes is removed; one with changes only when they are to be lost", async () => {
  const clean = await repository({ replies: [enter, exit("remove"), reply("Done.")] });
  await clean.run(["-p", "go", ...trusted]);
  expect(worktrees(clean)).toEqual([clean.project]);

  const changed = await repository({
    replies: [
      ...[enter, write("inside.txt"), exit("remove"), where],
      ...[exit("remove", { discard_changes: true }), reply("Done.")],
    ],
  });
  await changed.run(["-p", "go", ...trusted]);
  const said = changed.said();
  expect(said[2]).toContain("holds changes");
  expect(said[3]).not.toContain(`"${changed.project}\\n`);
  expect(said[4]).toContain("was removed");
  expect(worktrees(changed)).toEqual([changed.project]);
});

test("a session that ended in it goes on in it; where it is gone, at home, and says so", async () => {
  const stage = await repository({
    replies: [enter, write("inside.txt"), reply("One."), where, reply("Two."), where, reply("Three.")],
  });
  await stage.run(["-p", "go", ...trusted]);
  const [session = ""] = stage.sessions();
  const [, kept = ""] = worktrees(stage);
  const again = await stage.run(["-p", "--resume", session, "go on", ...trusted]);
  expect(again).toMatchObject({ code: 0, stdout: "Two.\n" });
  expect(stage.said().at(-1)).toContain(kept);
  expect(readFileSync(path.join(kept, "inside.txt"), "utf8")).toBe("x\n");

  stage.git("worktree", "remove", "--force", kept);
  const later = await stage.run(["-p", "--resume", session, "once more", ...trusted]);
  expect(later).toMatchObject({ code: 0, stdout: "Three.\n" });
  expect(later.stderr).toContain(`The session works in ${stage.project}`);
  expect(stage.said().at(-1)).toContain(stage.project);
});

test("no worktree is made in a project that nobody trusts", async () => {
  const stage = await repository({ replies: [enter, where, reply("Done.")] });
  await stage.run(["-p", "go", ...allowed]);
  expect(stage.said()[0]).toContain("trusted");
  expect(stage.said()[1]).toContain(stage.project);
  expect(worktrees(stage)).toEqual([stage.project]);
});
