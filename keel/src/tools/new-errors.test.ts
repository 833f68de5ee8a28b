import { expect, test } from "vitest";
import { openTestSession } from "../../../test/support/test-session.ts";
import { fakeDiagnostics } from "../testing/fake-diagnostics.ts";
import { memoryWorkspace } from "../testing/memory-workspace.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { builtInTools } from "./catalog.ts";

const file_path = "/project/a.x";
const edit = { old_string: "fine", new_string: "bad new" };

/** Errors are the lines that start with "bad", in files whose name ends with ".x". */
const diagnostics = () =>
  fakeDiagnostics((text, path) =>
    path.endsWith(".x") ? text.split("\n").filter((line) => line.startsWith("bad")) : undefined,
  );

test.each([
  ["Edit", { file_path, ...edit }],
  ["MultiEdit", { file_path, edits: [edit] }],
  ["Write", { file_path, content: "bad old\nbad new\n" }],
])("%s tells the errors that it brought, and not those that were there", async (name, input) => {
  const fake = diagnostics();
  const opened = await openTestSession({
    tools: builtInTools(),
    workspace: { ...memoryWorkspace({ files: { [file_path]: "bad old\nfine\n" } }), diagnostics: fake },
    script: { replies: [reply(toolUse("Read", { file_path })), reply(toolUse(name, input)), reply("Done.")] },
  });
  await opened.say("go");
  expect(opened.all("tool.finished")[1]).toMatchObject({
    failed: false,
    content: [{ type: "text" }, { type: "text", text: `New errors in ${file_path}:\nbad new` }],
  });
  expect(fake.looked).toEqual([{ path: file_path, after: "bad old\nbad new\n" }]);
});

test("a change that breaks nothing, and a file that nobody looks after, say nothing more", async () => {
  const fake = diagnostics();
  const write = (name: string, content: string) =>
    reply(toolUse("Write", { file_path: `/project/${name}`, content }));
  const opened = await openTestSession({
    tools: builtInTools(),
    workspace: { ...memoryWorkspace(), diagnostics: fake },
    script: { replies: [write("a.x", "fine"), write("a.txt", "bad"), reply("Done.")] },
  });
  await opened.say("go");
  expect(opened.all("tool.finished").map(({ content }) => content.length)).toEqual([1, 1]);
  expect(fake.looked).toHaveLength(1);
});
