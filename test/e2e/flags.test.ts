// Every flag of the interface at both doors: as `keel -p`, and as the executable of an SDK.
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { lines, openStage, type Stage } from "./stage.ts";
import { type Line, openWire } from "./wire-client.ts";

const hello = { replies: [], otherwise: reply("hello") };

type Heard = { readonly code: number | null; readonly err: string; readonly messages: Line[] };

const doors = {
  async print(stage: Stage, flags: readonly string[], prompt: string): Promise<Heard> {
    const args = ["-p", prompt, "--output-format", "stream-json", "--verbose", ...flags];
    const { code, stderr, stdout } = await stage.run(args);
    return { code, err: stderr, messages: code === 64 ? [] : (lines(stdout) as Line[]) };
  },
  async wire(stage: Stage, args: readonly string[], prompt: string): Promise<Heard> {
    const wire = openWire(stage, { args });
    wire.say(prompt);
    wire.endInput();
    const { code } = await wire.ended;
    return { code, err: wire.err(), messages: wire.lines };
  },
} as const;

const bodyOf = (stage: Stage): string => JSON.stringify(stage.server.requests[0]?.body);
const initIn = ({ messages }: Heard) => messages.find(({ subtype }) => subtype === "init");

/** A server whose one tool allows what begins with `touch`. */
const approver = `
import { createInterface } from "node:readline";
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } });
  else if (method === "tools/list")
    answer(id, { tools: [{ name: "approve", description: "Approves.", inputSchema: { type: "object" } }] });
  else if (method === "tools/call") {
    const { input } = params.arguments;
    const decided = input.command.startsWith("touch made")
      ? { behavior: "allow", updatedInput: input }
      : { behavior: "deny", message: "not that" };
    answer(id, { content: [{ type: "text", text: JSON.stringify(decided) }] });
  } else if (id !== undefined) answer(id, {});
}
`;

describe.each(["print", "wire"] as const)("at the door %s", (name) => {
  const door = doors[name];

  test("texts of the prompt may stand in files", async () => {
    const stage = await openStage(hello);
    writeFileSync(path.join(stage.project, "own.txt"), "You speak as a PIRATE.");
    writeFileSync(path.join(stage.project, "more.txt"), "End with a SONG.");
    const files = ["--system-prompt-file", "own.txt", "--append-system-prompt-file=more.txt"];
    expect(await door(stage, files, "hi")).toMatchObject({ code: 0, err: "" });
    expect(JSON.stringify(stage.server.requests[0]?.body["system"])).toMatch(/PIRATE.*SONG/);
    const both = ["--system-prompt", "x", "--system-prompt-file", "own.txt"];
    expect(await door(stage, both, "hi")).toMatchObject({ code: 64 });
    expect(await door(stage, ["--system-prompt-file", "none.txt"], "hi")).toMatchObject({ code: 64 });
  });

  test("kinds of agents come as JSON, and one of them can be the main one", async () => {
    const stage = await openStage(hello);
    const agents = JSON.stringify({ scout: { description: "Looks.", prompt: "You are the SCOUT." } });
    const heard = await door(stage, ["--agents", agents, "--agent", "scout"], "hi");
    expect(heard).toMatchObject({ code: 0, err: "" });
    expect(initIn(heard)).toMatchObject({ agents: expect.arrayContaining(["scout"]) });
    expect(bodyOf(stage)).toContain("You are the SCOUT.");
  });

  test("betas, effort, thinking and a name reach the provider and the session", async () => {
    const stage = await openStage(hello);
    const flags = ["--betas", "one-2025,two-2025", "--name", "A name", "--model", "claude-opus-4-5"];
    const heard = await door(stage, [...flags, "--effort", "low", "--thinking", "disabled"], "hi");
    expect(heard).toMatchObject({ code: 0, err: "" });
    expect(stage.server.requests[0]?.headers["anthropic-beta"]).toBe("one-2025,two-2025");
    expect(bodyOf(stage)).toContain('"effort":"low"');
    expect(stage.log().some((event) => JSON.stringify(event).includes('"title":"A name"'))).toBe(true);
  });

  test("a tool of a server answers what would be asked", async () => {
    const stage = await openStage(
      byPosition([
        reply(toolUse("Bash", { command: "touch made" })),
        reply(toolUse("Bash", { command: "rm made" })),
        reply("done"),
      ]),
    );
    const file = path.join(stage.project, "..", "approver.mjs");
    writeFileSync(file, approver);
    const servers = JSON.stringify({ mcpServers: { a: { command: process.execPath, args: [file] } } });
    const flags = ["--mcp-config", servers, "--permission-prompt-tool", "mcp__a__approve"];
    const heard = await door(stage, flags, "go");
    expect(heard).toMatchObject({ code: 0 });
    expect(existsSync(path.join(stage.project, "made"))).toBe(true);
    expect(JSON.stringify(stage.server.requests[2]?.body)).toContain("not that");
  });

  test("nothing is kept, prompts are echoed, and a slash means nothing, where that is wished", async () => {
    const stage = await openStage(hello);
    const flags = ["--no-session-persistence", "--replay-user-messages", "--disable-slash-commands"];
    const heard = await door(stage, flags, "/help me");
    expect(heard).toMatchObject({ code: 0, err: "" });
    expect(heard.messages.filter(({ isReplay }) => isReplay)).toMatchObject([{ type: "user" }]);
    expect(initIn(heard)).toMatchObject({ skills: [] });
    expect(bodyOf(stage)).toContain("/help me");
    expect(stage.sessions()).toEqual([]);
  });

  test("bare: what nobody named is not read", async () => {
    const stage = await openStage(hello);
    writeFileSync(path.join(stage.project, "AGENTS.md"), "PROJECT RULES");
    expect(await door(stage, ["--bare"], "hi")).toMatchObject({ code: 0 });
    expect(bodyOf(stage)).not.toContain("PROJECT RULES");
    expect(await door(stage, [], "hi")).toMatchObject({ code: 0 });
    expect(JSON.stringify(stage.server.requests[1]?.body)).toContain("PROJECT RULES");
  });

  test("when hooks run is told", async () => {
    const stage = await openStage(hello);
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: "command", command: "true" }] }] };
    const flags = ["--settings", JSON.stringify({ hooks }), "--include-hook-events"];
    const heard = await door(stage, flags, "hi");
    expect(heard.messages).toContainEqual(expect.objectContaining({ subtype: "hook_started" }));
  });

  test("several values may stand behind one flag", async () => {
    const stage = await openStage(hello);
    const flags = ["--allowedTools", "Bash(git log:*)", "Read", "mcp__x__y", "--tools", "Read", "Grep"];
    const heard = await door(stage, [...flags, "--debug", "api,hooks", "-d"], "hi");
    expect(heard).toMatchObject({ code: 0 });
    expect(initIn(heard)).toMatchObject({ tools: ["Grep", "Read"] });
    expect(bodyOf(stage)).not.toContain("mcp__x__y");
  });

  test("what means nothing here is passed over with one line", async () => {
    const stage = await openStage(hello);
    const flags = ["--chrome", "--task-budget", "1000", "--thinking-display=omitted", "--no-chrome"];
    const heard = await door(stage, flags, "hi");
    expect(heard).toMatchObject({
      code: 0,
      err: "keel: without effect in this version: --chrome, --task-budget, --thinking-display, --no-chrome\n",
    });
  });

  test("what would work elsewhere than it was told is refused", async () => {
    const stage = await openStage(hello);
    const heard = await door(stage, ["--worktree", "x"], "hi");
    expect(heard).toMatchObject({ code: 64 });
    expect(heard.err).toContain("--worktree");
    expect(stage.server.requests).toHaveLength(0);
  });
});

test("a flag that nobody has is wrong use on the command line, and passed over for an SDK", async () => {
  const stage = await openStage(hello);
  expect(await doors.print(stage, ["--nonsense"], "hi")).toMatchObject({ code: 64 });
  const heard = await doors.wire(stage, ["--nonsense", "value", "--model", "claude-opus-4-5"], "hi");
  expect(heard).toMatchObject({ code: 0, err: "keel: without effect in this version: --nonsense\n" });
  expect(stage.server.requests[0]?.body["model"]).toBe("claude-opus-4-5");
});

test("-v tells the version of the interface, --version Keel's own", async () => {
  const stage = await openStage(hello);
  expect((await stage.run(["-v"])).stdout).toMatch(/^2\.1\.\d+ \(Keel \d+\.\d+\.\d+\)\n$/);
  expect((await stage.run(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe("commands that hosts ask", () => {
  test("auth status says whether somebody is logged in", async () => {
    const stage = await openStage(hello);
    const ask = async (env: Record<string, string>) =>
      JSON.parse((await stage.run(["auth", "status", "--json"], { env })).stdout);
    expect(await ask({ ANTHROPIC_API_KEY: "k-1234567890" })).toMatchObject({
      loggedIn: true,
      authMethod: "api_key",
      apiProvider: "anthropic",
      providers: expect.arrayContaining([expect.objectContaining({ provider: "anthropic" })]),
    });
    expect(await ask({})).toMatchObject({ loggedIn: false, authMethod: "none" });
  });

  test("a server is added as JSON, looked at and removed", async () => {
    const stage = await openStage(hello);
    const json = '{"type":"stdio","command":"node","args":["s.mjs"],"env":{"KEY":"secret"}}';
    expect((await stage.run(["mcp", "add-json", "one", json, "-s", "user"])).code).toBe(0);
    const shown = await stage.run(["mcp", "get", "one"]);
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stdout).toContain("command: node");
    expect(shown.stdout).not.toContain("secret");
    const asJson = JSON.parse((await stage.run(["mcp", "get", "one", "--json"])).stdout);
    expect(asJson).toMatchObject({ name: "one", scope: "user", args: ["s.mjs"] });
    expect((await stage.run(["mcp", "remove", "one", "--scope", "user"])).code).toBe(0);
    expect(await stage.run(["mcp", "get", "one"])).toMatchObject({ code: 64 });
    expect((await stage.run(["mcp", "add-json", "two", "no json"])).code).toBe(64);
  });

  test("what there is not is said as it is", async () => {
    const stage = await openStage(hello);
    const unknown = await stage.run(["mcp", "frobnicate"]);
    expect(unknown).toMatchObject({ code: 64, stdout: "" });
    expect(unknown.stderr).toContain('There is no command "mcp frobnicate"');
    expect((await stage.run(["nonsense"])).stderr).toContain('keel -p "PROMPT"');
    const alone = await stage.run([]);
    expect(alone).toMatchObject({ code: 64 });
    expect(alone.stderr).toContain("keel --help");
  });
});
