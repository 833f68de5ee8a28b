// The file tools where there is no disk.
import { expect, test } from "vitest";
import { openTestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Tool } from "../ports/tool.ts";
import { memoryWorkspace } from "../testing/memory-workspace.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { editTool } from "./edit.ts";
import { readTool } from "./read.ts";

test("files are reached through a port: a session reads and edits where there is no disk", async () => {
  verifies("P41");
  const workspace = memoryWorkspace({ files: { "/project/a.txt": "one\n" } });
  const { say, all } = await openTestSession({
    workspace,
    tools: [readTool as Tool, editTool as Tool],
    script: {
      replies: [
        reply(toolUse("Read", { file_path: "a.txt" })),
        reply(toolUse("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" })),
        reply("Done."),
      ],
    },
  });
  await say("go");
  expect(all("tool.finished").map(({ failed }) => failed)).toEqual([false, false]);
  const read = await workspace.files.read("/project/a.txt", { maxBytes: 100 });
  expect(read.ok && new TextDecoder().decode(read.file.bytes)).toBe("two\n");
});
