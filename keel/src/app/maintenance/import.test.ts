import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { type Tree, writeTree } from "../../../../test/support/words-stage.ts";
import { readToml } from "../../config/definitions/other-agents.ts";
import { openHome } from "../home.ts";
import { planImport } from "./import.ts";

const sessionId = "0196f0c2-1111-7222-8333-444455556666";

function world(home: (cwd: string) => Tree) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-import-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const cwd = path.join(base, "work");
  writeTree(base, { "work/a.txt": "a" });
  writeTree(path.join(base, "home"), home(cwd));
  const keel = path.join(base, "home", ".keel");
  const env = { HOME: path.join(base, "home"), KEEL_HOME: keel };
  return {
    keel,
    place: { env, cwd, version: "0.0.0" },
    read: (file: string) => readFileSync(path.join(keel, file), "utf8"),
  };
}

const lines = (...all: object[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join("");

describe("importing", () => {
  test("from Claude Code copies settings, instructions, servers, files and sessions, and shows no secret", async () => {
    verifies("P53");
    const { place, read, keel } = world((cwd) => ({
      ".claude/settings.json": JSON.stringify({
        model: "opus",
        env: { TOKEN: "sk-canary" },
        unknown: 1,
        permissions: { allow: ["Bash(npm test:*)", "not ) a rule"], deny: ["Read(.env)"] },
      }),
      ".claude.json": JSON.stringify({
        mcpServers: {
          db: { command: "db", env: { KEY: "sk-canary" } },
          web: { type: "http", url: "https://me:canary@host/mcp?key=canary" },
        },
      }),
      ".claude/CLAUDE.md": "My rules.",
      ".claude/commands/git/push.md": "Push.",
      ".claude/agents/a.md": "---\ndescription: d\n---\nA.",
      ".claude/skills/know/SKILL.md": "---\ndescription: d\n---\nKnow.",
      ".claude/skills/know/more.txt": "more",
      [`.claude/projects/${cwd.replaceAll(/[^a-zA-Z0-9]/g, "-")}/${sessionId}.jsonl`]: `${lines(
        {
          type: "user",
          cwd,
          timestamp: "2026-01-01T00:00:00Z",
          message: { role: "user", content: "Look at a.txt" },
        },
        {
          type: "assistant",
          message: { id: "m1", model: "claude-x", content: [{ type: "text", text: "Reading." }] },
        },
        {
          type: "assistant",
          message: {
            id: "m1",
            model: "claude-x",
            content: [{ type: "tool_use", id: "t1", name: "Read", input: { file_path: "a.txt" } }],
          },
        },
        { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t1", content: "a" }] } },
        {
          type: "assistant",
          message: { id: "m2", model: "claude-x", content: [{ type: "text", text: "It says a." }] },
        },
        { type: "user", isSidechain: true, message: { content: "inner" } },
      )}{"half`,
    }));
    const plan = await planImport(place, "claude");
    expect(JSON.stringify(plan.rows)).not.toContain("canary");
    expect(plan.rows.map(({ state, kind, what }) => `${state} ${kind} ${what}`)).toEqual([
      'new setting model = "opus"',
      "new setting env: TOKEN",
      "new rule allow Bash(npm test:*)",
      "left-out rule allow not ) a rule",
      "new rule deny Read(.env)",
      "new server db: db",
      "new server web: https://…@host/mcp?key=…",
      "new instructions AGENTS.md",
      "new command commands/git/push.md",
      "new agent agents/a.md",
      "new skill skills/know",
      `new session ${sessionId}: Look at a.txt`,
    ]);
    expect(existsSync(keel)).toBe(false);
    expect(await plan.copy()).toEqual([]);
    expect(JSON.parse(read("settings.json"))).toMatchObject({
      model: "opus",
      env: { TOKEN: "sk-canary" },
      permissions: { allow: ["Bash(npm test:*)"], deny: ["Read(.env)"] },
      mcpServers: { db: { command: "db" } },
    });
    expect(read("AGENTS.md")).toBe("My rules.");
    expect(read("commands/git/push.md")).toBe("Push.");
    expect(read("skills/know/more.txt")).toBe("more");
    const events = await Array.fromAsync(openHome(place).sessions.read(sessionId));
    expect(events.map(({ type }) => type)).toEqual([
      "session.opened",
      "input.accepted",
      "turn.started",
      "model.started",
      "model.finished",
      "tool.finished",
      "model.started",
      "model.finished",
      "turn.finished",
      // What an agent was asked in between is a session of its own.
      "task.changed",
      "session.closed",
    ]);
    // Once more there is nothing new, and nothing is overwritten.
    expect((await planImport(place, "claude")).rows.filter(({ state }) => state === "new")).toEqual([]);
  });

  test("from Codex reads its tables, prompts and messages", async () => {
    verifies("P53");
    const { place, read } = world((cwd) => ({
      ".codex/config.toml": [
        'model = "gpt-x" # the usual one',
        "[mcp_servers.docs]",
        'command = "docs"',
        'args = ["--port", "1,2",',
        '  "x"]',
        "[mcp_servers.docs.env]",
        'KEY = "v"',
      ].join("\n"),
      ".codex/AGENTS.md": "Codex rules.",
      ".codex/prompts/fix.md": "Fix $1.",
      [`.codex/sessions/2026/01/01/rollout-2026-01-01-${sessionId}.jsonl`]: lines(
        { type: "session_meta", timestamp: "2026-01-01T00:00:00Z", payload: { cwd } },
        {
          type: "response_item",
          payload: { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
        },
        {
          type: "response_item",
          payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi." }] },
        },
      ),
    }));
    const plan = await planImport(place, "codex");
    expect(plan.rows.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
      'setting model = "gpt-x"',
      "server docs: docs",
      "instructions AGENTS.md",
      "command commands/fix.md",
      `session ${sessionId}: Hello`,
    ]);
    expect(await plan.copy()).toEqual([]);
    expect(JSON.parse(read("settings.json")).mcpServers.docs).toEqual({
      command: "docs",
      args: ["--port", "1,2", "x"],
      env: { KEY: "v" },
    });
  });

  test("from Gemini turns its commands into ours", async () => {
    verifies("P53");
    const { place, read } = world(() => ({
      ".gemini/settings.json": JSON.stringify({
        model: { name: "gemini-x" },
        mcpServers: { a: { url: "https://a" } },
      }),
      ".gemini/GEMINI.md": "Gemini rules.",
      ".gemini/commands/plan.toml":
        'description = "Plans"\nprompt = """\nPlan {{args}} with !{git status}.\n"""\n',
    }));
    const plan = await planImport(place, "gemini");
    expect(plan.rows.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
      'setting model = "gemini-x"',
      "server a: https://a",
      "instructions AGENTS.md",
      "command commands/plan.md",
    ]);
    expect(await plan.copy()).toEqual([]);
    expect(read("commands/plan.md")).toBe(
      '---\ndescription: "Plans"\n---\nPlan $ARGUMENTS with !`git status`.',
    );
  });

  test("finds nothing where there is nothing", async () => {
    const { place } = world(() => ({}));
    for (const agent of ["claude", "codex", "gemini"] as const)
      expect((await planImport(place, agent)).rows).toEqual([]);
  });
});

test("TOML is read soon, whatever it holds", () => {
  verifies("G45");
  expect(readToml('a.b = 1\n"c d" = [true, {x = "y"}]\n[e."f.g"]\nh = \'i\'\nbroken\n= 3')).toEqual({
    a: { b: 1 },
    "c d": [true, { x: "y" }],
    e: { "f.g": { h: "i" } },
  });
  for (const piece of ["[", "a=[", "a=[1,\n", 'a="', "[a.", "a={b=", "#", "a=#"]) {
    const before = performance.now();
    readToml(piece.repeat(Math.ceil(50_000 / piece.length)));
    expect(performance.now() - before, JSON.stringify(piece)).toBeLessThan(2_000);
  }
});

test.each([
  ["lines that are wrong", "a = 1\nbroken\nb = 2\n= 3\n[t", { a: 1, b: 2 }],
  ["a text that never ends", 'a = 1\nb = """\nno\nend', { a: 1 }],
  ["a list that never ends", "a = 1\nb = [1,\n2,\n", { a: 1 }],
  ["a key that is there twice, the second time", "a = 1\na = 2", { a: 1 }],
  ["numbers that are none of ours", "a = 1\nb = 99999999999999999999\nc = inf", { a: 1 }],
  ["dates", "a = 1\nb = 1979-05-27T07:32:00Z\nc = [1979-05-27]", { a: 1, c: [] }],
  ["lists that lie too deep", `a = 1\nb = ${"[".repeat(5_000)}${"]".repeat(5_000)}`, { a: 1 }],
  ["what is no TOML at all", "no\n".repeat(4_000), {}],
])("of TOML is left out: %s", (_, text, expected) => {
  expect(readToml(text)).toEqual(expected);
});

test("a key of TOML with thousands of dots becomes no deep value", () => {
  expect(JSON.stringify(readToml(`a = 1\n${"b.".repeat(20_000)}b = 1`)).length).toBeLessThan(100);
});
