// Hooks: an audit of every call, and a limit on how fast a tool is used.
import assert from "node:assert/strict";
import { type HookCallback, query } from "keel";
import { reply, toolUse } from "keel/testing";
import { stage } from "./scripted.ts";

const write = (name: string) => toolUse("Write", { file_path: name, content: name });
await using _ = await stage({
  replies: [reply(write("1.txt")), reply(write("2.txt")), reply(write("3.txt")), reply("Two of three.")],
});

// #region audit
const audit: string[] = [];
const record: HookCallback = async (input) => {
  if (input.hook_event_name === "PostToolUse")
    audit.push(`${input.tool_name} took ${(input.duration_ms ?? 0) >= 0 ? "some" : "no"} time`);
  if (input.hook_event_name === "PermissionDenied") audit.push(`${input.tool_name} refused: ${input.reason}`);
  return {};
};
// #endregion

// #region rate-limit
function atMost(calls: number, perMs: number): HookCallback {
  let recent: number[] = [];
  return async () => {
    const now = Date.now();
    recent = recent.filter((at) => now - at < perMs);
    if (recent.length >= calls) return { decision: "block", reason: "Too fast: wait before the next call." };
    recent.push(now);
    return {};
  };
}
// #endregion

for await (const message of query({
  prompt: "Write three files.",
  options: {
    permissionMode: "acceptEdits",
    hooks: {
      PreToolUse: [{ matcher: "Write", hooks: [atMost(2, 60_000)] }],
      PostToolUse: [{ hooks: [record] }],
      PermissionDenied: [{ hooks: [record] }],
    },
  },
})) {
  if (message.type === "result") console.log(audit.join("\n"));
}

assert.deepEqual(audit, [
  "Write took some time",
  "Write took some time",
  "Write refused: Too fast: wait before the next call.",
]);
