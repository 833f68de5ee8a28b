// The same hooks fire at the same points, in the same order, whoever drives the session: `keel -p`, the SDK, and a
// turn that a background task has begun.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { hookEvents } from "../../keel/src/protocol/hook.ts";
import { query } from "../../keel/src/sdk/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { all, sdkStage } from "../sdk-stage.ts";
import { verifies } from "../verifies.ts";
import { keel } from "./command.ts";

const write = (name: string) => toolUse("Write", { file_path: name, content: "x" });
const script: Script = {
  replies: [reply(write("a.txt")), reply(toolUse("Read", { file_path: "missing.txt" })), reply("Done.")],
};
const modes = ["-p", "SDK"] as const;

/** Every point has a command that writes its name down. */
async function run(mode: (typeof modes)[number], given: Script): Promise<string[]> {
  const { cwd, home, server, options } = await sdkStage(given);
  const log = path.join(cwd, "hooks.log");
  const entry = { type: "command", command: `cat >> ${log}` };
  mkdirSync(home, { recursive: true });
  const hooks = Object.fromEntries(hookEvents.map((event) => [event, [{ hooks: [entry] }]]));
  const settings = { hooks, permissions: { allow: ["Write", "Bash(sleep:*)"] } };
  writeFileSync(path.join(home, "settings.json"), JSON.stringify(settings));
  if (mode === "SDK") await all(query({ prompt: "go", options: { ...options, settingSources: ["user"] } }));
  else {
    const env = { HOME: path.dirname(cwd), KEEL_HOME: home, ANTHROPIC_BASE_URL: server.url };
    const ended = await keel(["-p", "go", "--model", "claude-sonnet-4-5"], {
      cwd,
      env: { ...env, ANTHROPIC_API_KEY: "test-key" },
    });
    expect(ended).toMatchObject({ code: 0 });
  }
  return readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { hook_event_name: string }).hook_event_name);
}

describe("hooks", () => {
  test.each(modes)("of a turn with tools fire alike in %s", async (mode) => {
    verifies("S2.36", "S0.43");
    expect(await run(mode, script)).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      ...["PreToolUse", "PostToolUse", "PostToolBatch"],
      ...["PreToolUse", "PostToolUseFailure", "PostToolBatch"],
      "Stop",
      "SessionEnd",
    ]);
  });

  test.each(modes)("of the turn that a background task begins fire alike in %s", async (mode) => {
    const background = toolUse("Bash", { command: "sleep 0.3", run_in_background: true });
    const replies = [reply(background), reply("Waiting."), reply("It has ended.")];
    expect(await run(mode, { replies })).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      ...["PreToolUse", "PostToolUse", "PostToolBatch"],
      "Stop",
      "UserPromptSubmit",
      "Stop",
      "SessionEnd",
    ]);
  });
});
