import { expect, test } from "vitest";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { noRules } from "../../policy/decide.ts";
import { parseRule } from "../../policy/rules.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Files } from "../../ports/workspace.ts";
import { memoryWorkspace } from "../../testing/memory-workspace.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { readTool } from "../../tools/read.ts";

/** A workspace that notes every walk of a path. */
function counted(files: Files, walked: string[]): Files {
  return {
    describe: (path) => {
      walked.push(path);
      return files.describe(path);
    },
    expand: (pattern) => files.expand(pattern),
    read: (path, limits) => files.read(path, limits),
    write: (path, bytes, basis) => files.write(path, bytes, basis),
  };
}

test("a path is walked once to check a call, to claim for it and to decide about it, and the run opens what was decided", async () => {
  const workspace = memoryWorkspace({ files: { "/project/a.txt": "a\n" } });
  const walked: string[] = [];
  const opened = await openTestSession({
    tools: [readTool as Tool],
    workspace: { ...workspace, files: counted(workspace.files, walked) },
    script: { replies: [reply(toolUse("Read", { file_path: "a.txt" })), reply("Done.")] },
  });
  await opened.say("go");
  expect(opened.all("tool.finished")).toMatchObject([{ failed: false }]);
  expect(walked).toEqual(["a.txt"]);
});

test("after a question a changed input is looked at anew", async () => {
  const workspace = memoryWorkspace({ files: { "/project/a.txt": "a\n" } });
  const walked: string[] = [];
  const opened = await openTestSession({
    tools: [readTool as Tool],
    workspace: { ...workspace, files: counted(workspace.files, walked) },
    rules: { ...noRules, ask: [parseRule("Read")].flatMap((rule) => rule ?? []) },
    answer: () => ({ verdict: "allow", input: { file_path: "./a.txt" } }),
    script: { replies: [reply(toolUse("Read", { file_path: "a.txt" })), reply("Done.")] },
  });
  await opened.say("go");
  // Once by the early start, which finds that somebody has to be asked, and once in its turn.
  expect(walked).toEqual(["a.txt", "a.txt", "./a.txt"]);
});
