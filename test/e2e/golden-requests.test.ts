// The requests that sessions of the built command send to a model, byte for byte, as `test/golden/requests/` has them.
// A change of the source tree that means to change nothing leaves every pin as it is. A change that means to change
// what a model is sent writes them anew, and its diff shows what the model will see:
//   KEEL_WRITE_GOLDEN=1 npm test -- golden-requests
// What may differ from run to run and between machines stands in `placeholders` of `golden-session.ts`.
import path from "node:path";
import { test } from "vitest";
import { byPosition, reply, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import { type GoldenSession, openGoldenSession } from "./golden-session.ts";

const everything = path.resolve(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
);

test("a plain question is sent as it was", async () => {
  const session = await openGoldenSession({ replies: [reply("Hello.")] });
  await session.ask("Say hello, in “quotes” and with a \\ and an é.");
  session.expectPinned("plain-text", 1);
});

test("results of Read, Edit, Write, Bash, Glob and Grep are sent as they were", async () => {
  const file_path = "src/greet.js";
  const session = await openGoldenSession({
    replies: [
      reply(
        "Looking.",
        toolUse("Read", { file_path }, "read"),
        toolUse("Glob", { pattern: "**/*.js" }, "glob"),
      ),
      reply(toolUse("Edit", { file_path, old_string: "hello", new_string: "good day" }, "edit")),
      reply(
        toolUse("Grep", { pattern: "good", output_mode: "content" }, "grep"),
        toolUse("Bash", { command: "cat src/greet.js; echo gone >&2; exit 3" }, "bash"),
        toolUse("Read", { file_path: "missing.js" }, "missing"),
      ),
      reply(toolUse("Write", { file_path: "NOTES.txt", content: "one\ntwo\n" }, "write")),
      reply("Done."),
    ],
  });
  session.write({ "src/greet.js": 'export const greet = () => "hello";\n' });
  await session.ask("Be polite.", ["--allowed-tools", "Bash", "--permission-mode", "acceptEdits"]);
  session.expectPinned("tools", 5);
});

test("calls that a rule, nobody, and a person refused, and one that a person allowed, are sent as they were", async () => {
  const touch = (name: string) => reply(toolUse("Bash", { command: `touch ${name}` }, name));
  const session = await openGoldenSession({
    replies: [
      ...["ruled", "alone"].map(touch),
      reply("Refused."),
      ...["refused", "allowed"].map(touch),
      reply("Done."),
    ],
  });
  const rules = ["--disallowed-tools", "Bash(touch ruled)"];
  await session.ask("Make files.", rules);
  await session.askHost("Try again.", {
    args: [...rules, "--continue", "--permission-prompt-tool", "stdio"],
    answer: ({ input }) =>
      JSON.stringify(input).includes("refused")
        ? { behavior: "deny", message: "Not that one." }
        : { behavior: "allow", updatedInput: input },
  });
  session.expectPinned("permissions", 6);
});

test("what agents are sent, and what their parent hears of them, is as it was", async () => {
  const id = "11111111-2222-4333-8444-555555555555";
  const counter = { description: "count files", subagent_type: "counter", run_in_background: false };
  const other = { description: "count again", subagent_type: "general-purpose", run_in_background: true };
  const parent = byPosition([
    reply(toolUse("Agent", { ...counter, prompt: "Count the files." }, "first")),
    reply(toolUse("Agent", { ...other, prompt: "Count them once more." }, "second")),
    reply("I wait."),
    reply("Two."),
  ]);
  const child = byPosition([
    reply(toolUse("Glob", { pattern: "*.txt" }, "count")),
    reply("There are two files."),
  ]);
  const session: GoldenSession = await openGoldenSession(async (request, asked) => {
    if (asked.system.includes("You count.")) return child(request, asked);
    if (!asked.lastUser.includes("once more")) return parent(request, asked);
    await session.turnFinished(id);
    return reply("There are two indeed.");
  });
  session.write({
    "a.txt": "a\n",
    "b.txt": "b\n",
    ".keel/agents/counter.md":
      "---\nname: counter\ndescription: Counts things.\ntools: Read, Glob\n---\nYou count. Be exact.\n",
  });
  await session.ask("How many files are there?", ["--session-id", id]);
  session.expectPinned("agents", 7);
});

test("tools of an MCP server and their results are sent as they were", async () => {
  const session = await openGoldenSession({
    replies: [
      reply(
        toolUse("mcp__all__echo", { message: "hi" }, "echo"),
        toolUse("mcp__all__get-sum", { a: 2, b: 3 }, "sum"),
      ),
      reply(toolUse("mcp__all__get-tiny-image", {}, "image")),
      reply("Done."),
    ],
  });
  const all = {
    command: process.execPath,
    args: [everything, "stdio"],
  };
  const settings = { mcp: { startMs: 60_000, connectMs: 60_000 } };
  const servers = ["--mcp-config", JSON.stringify({ mcpServers: { all } }), "--allowed-tools", "mcp__all"];
  await session.ask("Use the server.", [...servers, "--settings", JSON.stringify(settings)]);
  session.expectPinned("mcp", 3);
});

test("the request for a summary and what follows it are sent as they were", async () => {
  const session = await openGoldenSession({
    replies: [
      reply(toolUse("Read", { file_path: "long.txt" }, "read")),
      reply("It has many lines."),
      reply("The file was read; it has 40 lines."),
      reply("40."),
    ],
  });
  session.write({
    "AGENTS.md": "Count exactly.\n",
    "long.txt": Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join(""),
  });
  await session.ask("What is in long.txt?");
  await session.ask("/compact keep the number of lines", ["--continue"]);
  await session.ask("How many lines?", ["--continue"]);
  session.expectPinned("compaction", 4);
});

test("a session that other processes go on with sends what it sent", async () => {
  const id = "11111111-2222-4333-8444-555555555555";
  const session = await openGoldenSession({
    replies: [
      reply(toolUse("Bash", { command: "echo one" }, "one")),
      reply("First."),
      reply(toolUse("Bash", { command: "pwd" }, "two")),
      reply("Second."),
      reply("Third."),
    ],
  });
  await session.ask("One.", ["--session-id", id]);
  await session.ask("Two.", ["--resume", id, "--model", "claude-opus-4-5"]);
  await session.ask("Three.", ["--resume", id, "--fork", "--append-system-prompt", "Be brief."]);
  session.expectPinned("resume", 5);
});

test("instructions, skills, commands and mentioned files are sent as they were", async () => {
  const session = await openGoldenSession({
    replies: [
      reply(toolUse("Skill", { skill: "release-notes", args: "for 2.0" }, "skill")),
      reply(toolUse("Read", { file_path: "inner/code.js" }, "inner")),
      reply("Noted."),
      reply("Done."),
    ],
  });
  session.write({
    ".git/HEAD": "ref: refs/heads/topic\n",
    "AGENTS.md": "# Orders\n\nMoney is in cents. See @docs/rules.md\n",
    "CLAUDE.md": "Use tabs.\n",
    "docs/rules.md": "Never touch generated files.\n",
    "inner/AGENTS.md": "Inner code is frozen.\n",
    "inner/code.js": "export {};\n",
    ".keel/rules/tests.md": '---\npaths: "**/*.js"\n---\nEvery file has a test.\n',
    ".keel/skills/release-notes/SKILL.md":
      "---\nname: release-notes\ndescription: Writes the notes of a release.\n---\nRead the commits, then write. $ARGUMENTS\n",
    ".keel/commands/issue.md":
      "---\ndescription: Works on an issue\n---\nWork on issue $1. Mind: $ARGUMENTS\n\nHere: !`echo ran`\n\nRules: @docs/rules.md\n",
    "../home/AGENTS.md": "The person likes short answers.\n",
  });
  await session.ask("Follow the rules in @docs/rules.md");
  const trusted = ["--setting-sources", "user,project", "--allowed-tools", "Bash"];
  await session.ask("/issue 42 keep it small", ["--continue", ...trusted]);
  session.expectPinned("instructions", 4);
});

test("what hooks add, change and refuse is sent as it was", async () => {
  const session = await openGoldenSession({
    replies: [
      reply(toolUse("Bash", { command: "echo first" }, "first")),
      reply(toolUse("Bash", { command: "echo secret" }, "secret")),
      reply("Done?"),
      reply("Done."),
    ],
  });
  const adds = (hookEventName: string, more: object) =>
    `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName, ...more } })}'`;
  const on = (command: string, more: object = {}) => [{ ...more, hooks: [{ type: "command", command }] }];
  const hooks = {
    SessionStart: on(adds("SessionStart", { additionalContext: "The build is green." })),
    UserPromptSubmit: on("echo Words of a hook."),
    PreToolUse: on("if grep -q secret; then echo No secrets. >&2; exit 2; fi", { matcher: "Bash" }),
    PostToolUse: on(adds("PostToolUse", { additionalContext: "That was quick." }), { matcher: "Bash" }),
    Stop: [
      {
        hooks: [
          { type: "command", command: `echo '{"decision":"block","reason":"Look once more."}'`, once: true },
        ],
      },
    ],
  };
  session.write({ "../home/settings.json": JSON.stringify({ hooks }) });
  await session.ask("Go.", ["--allowed-tools", "Bash"]);
  session.expectPinned("hooks", 4);
});

test("the wire of OpenAI is sent what it was", async () => {
  const session = await openGoldenSession({
    replies: [
      reply(
        "Looking.",
        toolUse("Read", { file_path: "a.txt" }, "read"),
        toolUse("Bash", { command: "exit 1" }, "bash"),
      ),
      reply("Seen."),
      reply("Yes."),
    ],
  });
  session.write({ "a.txt": "one\ntwo\n" });
  const openai = { ANTHROPIC_BASE_URL: "", OPENAI_BASE_URL: `${session.url}/v1` };
  await session.ask("Look.", ["--model", "openai/gpt-5-mini", "--allowed-tools", "Bash"], openai);
  await session.ask("Sure?", ["--continue"], openai);
  session.expectPinned("openai", 3);
});

test("thinking and effort are sent as they were, and thinking goes back with its signature", async () => {
  const session = await openGoldenSession({
    replies: [
      reply(thinking("I should look.", "signed"), toolUse("Read", { file_path: "a.txt" }, "read")),
      reply("Seen."),
      reply(thinking("Easy.", "signed too"), "Yes."),
    ],
  });
  session.write({ "a.txt": "one\n" });
  await session.ask("Think.", ["--max-thinking-tokens", "4000"]);
  const args = ["--continue", "--model", "claude-opus-4-6", "--effort", "medium", "--thinking", "adaptive"];
  await session.askHost("Think again.", { args });
  session.expectPinned("thinking", 3);
});
