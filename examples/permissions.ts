// Who may do what: rules for the known, a callback for the rest.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { type CanUseTool, query } from "keel";
import { reply, toolUse } from "keel/testing";
import { stage } from "./scripted.ts";

await using scripted = await stage({
  replies: [
    reply(toolUse("Write", { file_path: "notes.txt", content: "hello" })),
    reply(toolUse("Write", { file_path: "secrets.txt", content: "hello" })),
    reply("One of two."),
  ],
});

// #region permissions
const asked: string[] = [];
const canUseTool: CanUseTool = async (toolName, input) => {
  asked.push(`${toolName} ${input["file_path"]}`);
  if (String(input["file_path"]).includes("secrets"))
    return { behavior: "deny", message: "Leave the secrets alone." };
  return { behavior: "allow" };
};

for await (const message of query({
  prompt: "Write both files.",
  options: { canUseTool, disallowedTools: ["Bash"] },
})) {
  if (message.type === "result") console.log("refused:", message.permission_denials.length);
}
// #endregion

assert.deepEqual(asked, ["Write notes.txt", "Write secrets.txt"]);
assert.ok(existsSync(path.join(scripted.cwd, "notes.txt")));
assert.ok(!existsSync(path.join(scripted.cwd, "secrets.txt")));
