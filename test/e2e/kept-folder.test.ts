// Bash keeps its folder, seen through the built command: over a kill and a resume, in agents and in worktrees.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { openStage, type Stage, until } from "./stage.ts";

const bash = (command: string) => reply(toolUse("Bash", { command }));
const allowed = ["--allowed-tools", "EnterWorktree,ExitWorktree,Agent", "--setting-sources", "project"];

async function stageWith(replies: readonly ReturnType<typeof reply>[]): Promise<Stage> {
  const stage = await openStage({ replies: [...replies] });
  mkdirSync(path.join(stage.project, "sub/deep"), { recursive: true });
  writeFileSync(path.join(stage.project, "sub/notes.txt"), "of sub\n");
  return stage;
}

/** What the commands of a log said. */
const said = (stage: Stage, session?: string): string[] =>
  stage
    .log(session)
    .filter(({ type, tool }) => type === "tool.finished" && tool === "Bash")
    .map(({ content }) => (content as { text: string }[])[0]?.text ?? "");

test.each([
  ["in a namespace", {}],
  ["beside a sweeper", { KEEL_GUARD: "off" }],
])("%s: a session that was killed goes on where its shell stood, and decides there", async (_, env) => {
  const stage = await stageWith([
    bash("cd sub"),
    bash("cat notes.txt; sleep 60"),
    bash("pwd; cat n*"),
    bash("cd ..; pwd"),
    bash("pwd"),
    reply("Done."),
  ]);
  const first = stage.start(["-p", "go", ...allowed], { env });
  await until("the second command runs", () =>
    stage
      .log()
      .some(({ type, facts }) => type === "tool.started" && (facts as { cwd: string }).cwd.endsWith("/sub")),
  );
  first.child.kill("SIGKILL");
  await first.ended;
  const [session = ""] = stage.sessions();
  const again = await stage.run(["-p", "--resume", session, "go on", ...allowed], { env });
  expect(again).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(said(stage).slice(-3)).toEqual([`${stage.project}/sub\nof sub`, stage.project, stage.project]);
  const starts = stage.log().filter(({ type }) => type === "tool.started");
  expect(starts.map(({ facts }) => (facts as { cwd: string }).cwd)).toEqual([
    stage.project,
    ...Array.from({ length: 3 }, () => `${stage.project}/sub`),
    stage.project,
  ]);
});

test("a folder that is gone when the session goes on: nothing runs in its place, and the next starts at home", async () => {
  const stage = await stageWith([bash("cd sub"), reply("One."), bash("ls"), bash("pwd"), reply("Two.")]);
  await stage.run(["-p", "go", ...allowed]);
  rmSync(path.join(stage.project, "sub"), { recursive: true });
  const [session = ""] = stage.sessions();
  await stage.run(["-p", "--resume", session, "go on", ...allowed]);
  expect(said(stage).slice(1)).toEqual([
    expect.stringMatching(/^Not run: .*\/sub, .* is no folder/),
    stage.project,
  ]);
});

test("each agent has its own, which begins where the agent works", async () => {
  const stage = await stageWith([
    bash("cd sub"),
    reply(toolUse("Agent", { description: "look", prompt: "Look.", run_in_background: false })),
    bash("pwd"),
    bash("cd sub/deep"),
    bash("pwd"),
    reply("Looked."),
    bash("pwd"),
    reply("Done."),
  ]);
  await stage.run(["-p", "go", ...allowed]);
  // The third request is the agent's first; each newest message is what the last command said.
  const newest = stage.server.requests.map(({ body }) =>
    JSON.stringify((body as { messages: unknown[] }).messages.at(-1)),
  );
  const told = [3, 5, 7].map((at) => /"(\/[^"]*)"/.exec(newest[at] ?? "")?.[1]);
  expect(told).toEqual([stage.project, `${stage.project}/sub/deep`, `${stage.project}/sub`]);
});

test("entering a worktree and leaving it begin in its folder", async () => {
  const stage = await stageWith([
    bash("cd sub"),
    reply(toolUse("EnterWorktree", { name: "one" })),
    bash("pwd; cd sub; pwd"),
    bash("pwd"),
    reply(toolUse("ExitWorktree", { action: "remove" })),
    bash("pwd"),
    reply("Done."),
  ]);
  const git = (...words: string[]) => execFileSync("git", words, { cwd: stage.project });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("-c", "user.name=T", "-c", "user.email=t@t", "commit", "-qm", "first");
  await stage.run(["-p", "go", ...allowed]);
  const [, inside = "", again, home] = said(stage);
  const [start = "", sub] = inside.split("\n");
  expect(start).not.toContain(`${stage.project}\n`);
  expect(sub).toBe(`${start}/sub`);
  expect(again).toBe(`${start}/sub`);
  expect(home).toBe(stage.project);
});
