// Settings and trust through the built command: what counts, what is told, and what is written.
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { lines, openStage, type Stage, until } from "./stage.ts";
import { hasTerminal, startOnTerminal } from "./terminal.ts";

const touch = byPosition([reply(toolUse("Bash", { command: "touch made" })), reply("done")]);

const put = ({ project }: Stage, name: string, content: unknown): void => {
  const file = path.join(project, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
};
const isMade = ({ project }: Stage): boolean =>
  statSync(path.join(project, "made"), { throwIfNoEntry: false }) !== undefined;

describe("a project", () => {
  test("its allow rules, hooks and variables wait for trust: one notice, and init says what waits", async () => {
    verifies("S2.13");
    const stage = await openStage(touch);
    put(stage, ".keel/settings.json", { permissions: { allow: ["Bash(touch:*)"] }, env: { A: "1" } });
    const ended = await stage.run(["-p", "go", "--output-format", "stream-json"]);
    expect(isMade(stage)).toBe(false);
    const notices = ended.stderr.split("\n").filter((line) => line.includes("not trusted"));
    expect(notices).toEqual([
      expect.stringMatching(/1 allow rule, 1 variable of .keel.settings.json are left out/),
    ]);
    expect(lines(ended.stdout)[0]).toMatchObject({
      subtype: "init",
      project_trust: { root: stage.project, state: "untrusted", left_out: ["permissions.allow", "env.A"] },
    });
  });

  test("keel trust shows it, keel trust add enables it, and what comes later waits again", async () => {
    const stage = await openStage(touch);
    put(stage, ".keel/settings.json", { permissions: { allow: ["Bash(touch:*)"] } });
    const shown = await stage.run(["trust"]);
    expect(shown.stdout).toContain("│ Bash(touch:*)");
    await stage.run(["-p", "go"]);
    expect(isMade(stage)).toBe(false);
    expect(await stage.run(["trust", "add"])).toMatchObject({ code: 0 });
    const trusted = await stage.run(["-p", "go"]);
    expect(isMade(stage)).toBe(true);
    expect(trusted.stderr).not.toContain("trust");
    put(stage, ".keel/settings.json", { permissions: { allow: ["Bash(touch:*)", "Bash(rm:*)"] } });
    expect((await stage.run(["-p", "go"])).stderr).toContain(
      "has changed since it was trusted: 1 allow rule",
    );
    await stage.run(["trust", "remove"]);
    expect((await stage.run(["-p", "go"])).stderr).toContain("is not trusted: 2 allow rules");
  });

  test("naming it in --setting-sources trusts it for once; deny rules count in any case", async () => {
    verifies("S0.15");
    const stage = await openStage(touch);
    put(stage, ".claude/settings.json", { permissions: { allow: ["Bash"] } });
    await stage.run(["-p", "go", "--setting-sources", "user"]);
    expect(isMade(stage)).toBe(false);
    await stage.run(["-p", "go", "--setting-sources", "user,project"]);
    expect(isMade(stage)).toBe(true);
    expect((await stage.run(["trust", "status"])).stdout).toContain("is not trusted");
    put(stage, ".keel/settings.json", { permissions: { deny: ["Bash"] } });
    const denied = await stage.run(["-p", "go", "--allowed-tools", "Bash", "--output-format", "json"]);
    const tools = stage.server.requests.at(-1)?.body["tools"] as { name: string }[];
    expect(tools.map(({ name }) => name)).not.toContain("Bash");
    expect(denied.code).toBe(0);
    expect((await stage.run(["-p", "go", "--setting-sources", "projct"])).code).toBe(64);
  });

  test("what Keel itself saved into a trusted project on a person's word counts at once", async () => {
    const stage = await openStage(touch);
    await stage.run(["trust", "add"]);
    const saved = await stage.run(["config", "set", "permissions.allow", '["Bash(touch:*)"]', "--local"]);
    expect(saved.stderr).not.toContain("counts when");
    await stage.run(["-p", "go"]);
    expect(isMade(stage)).toBe(true);
    expect(readFileSync(path.join(stage.project, ".keel/.gitignore"), "utf8")).toBe("settings.local.json\n");
  });

  test("on a terminal keel trust asks, and an empty line is no", async () => {
    if (!hasTerminal()) return notRunHere("keel trust on a terminal", "script of util-linux absent");
    const stage = await openStage(touch);
    put(stage, ".keel/settings.json", { env: { A: "1" } });
    for (const [typed, state] of [
      ["\n", "is not trusted"],
      ["yes\n", "is trusted"],
    ] as const) {
      const running = startOnTerminal(["trust"], stage);
      await until("the question", () => running.out().includes("[no] > "));
      running.child.stdin?.write(typed);
      await running.ended;
      expect((await stage.run(["trust", "status"])).stdout).toContain(state);
    }
  });
});

describe("keel config", () => {
  test("sets, gets, lists with origin and unsets; comments stay, and the file is private", async () => {
    const stage = await openStage(touch);
    mkdirSync(stage.home, { mode: 0o700 });
    const file = path.join(stage.home, "settings.json");
    writeFileSync(file, '{\n  // mine\n  "model": "opus"\n}\n', { mode: 0o600 });
    expect(await stage.run(["config", "set", "model", "haiku"])).toMatchObject({ code: 0, stdout: "" });
    await stage.run(["config", "set", "limits.maxRetries", "3"]);
    expect(readFileSync(file, "utf8")).toBe(
      '{\n  // mine\n  "model": "haiku",\n  "limits": {\n    "maxRetries": 3\n  }\n}\n',
    );
    expect((await stage.run(["config", "get", "model"])).stdout).toBe("haiku\n");
    expect((await stage.run(["config", "get", "guard"])).stdout).toBe("on\n");
    expect(await stage.run(["config", "get", "fallbackModel"])).toMatchObject({ code: 1, stdout: "" });
    const listed = lines((await stage.run(["config", "list", "--origin", "--json"])).stdout)[0];
    expect(listed).toEqual(
      expect.arrayContaining([
        { name: "limits.maxRetries", value: 3, source: "user", file, state: "counts" },
        { name: "limits.maxRetries", value: 10, source: "built-in", state: "overridden" },
      ]),
    );
    await stage.run(["config", "unset", "limits.maxRetries"]);
    expect((await stage.run(["config", "get", "limits.maxRetries"])).stdout).toBe("10\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("refuses what is no setting, what does not fit, and what no project may say", async () => {
    const stage = await openStage(touch);
    for (const words of [
      ["modle", "x"],
      ["permissions.defaultMode", "yolo"],
      ["permissions.defaultMode", "bypassPermissions", "--project"],
      ["providers.anthropic.baseUrl", "http://x", "--local"],
      ["env.PATH", "x", "--project"],
      ["model", "x", "--project", "--local"],
    ])
      expect(await stage.run(["config", "set", ...words])).toMatchObject({ code: 64, stdout: "" });
    expect(statSync(path.join(stage.project, ".keel"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("never shows a key", async () => {
    const stage = await openStage(touch);
    await stage.run(["config", "set", "providers.anthropic.key", "sk-canary-1"]);
    await stage.run(["config", "set", "env.MY_TOKEN", "sk-canary-2"]);
    const shown = await Promise.all([
      stage.run(["config", "list", "--origin"]),
      stage.run(["config", "list", "--json"]),
      stage.run(["config", "get", "providers.anthropic.key"]),
      stage.run(["config", "get", "providers"]),
      stage.run(["config", "get", "env"]),
    ]);
    for (const { code, stdout, stderr } of shown) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain("sk-canary");
    }
  });

  test("an administrator's settings win over the command line, and forbid bypassing for good", async () => {
    const stage = await openStage(touch);
    const managed = path.join(path.dirname(stage.home), "managed.json");
    writeFileSync(
      managed,
      JSON.stringify({
        model: "claude-opus-4-5",
        permissions: { disableBypassPermissionsMode: "disable", deny: ["Bash(touch:*)"] },
      }),
    );
    const env = { KEEL_MANAGED_SETTINGS: managed };
    await stage.run(["-p", "go", "--model", "haiku", "--allowed-tools", "Bash"], { env });
    expect(stage.server.requests[0]?.body["model"]).toBe("claude-opus-4-5");
    expect(isMade(stage)).toBe(false);
    const bypass = ["--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions"];
    expect(await stage.run(["-p", "go", ...bypass], { env })).toMatchObject({ code: 64 });
    writeFileSync(managed, "{");
    expect(await stage.run(["-p", "go"], { env })).toMatchObject({ code: 78, stdout: "" });
  });

  test("--settings counts for one session, inline or as a file; a bypass in a file is told and not taken", async () => {
    const stage = await openStage(touch);
    await stage.run(["-p", "go", "--settings", '{"permissions": {"allow": ["Bash(touch:*)"]}} // now']);
    expect(isMade(stage)).toBe(true);
    put(stage, "flags.json", { model: "claude-opus-4-5", permissions: { defaultMode: "bypassPermissions" } });
    const ended = await stage.run(["-p", "go", "--settings", "flags.json"]);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("--allow-dangerously-skip-permissions");
    expect(stage.server.requests.at(-1)?.body["model"]).toBe("claude-opus-4-5");
    expect((await stage.run(["-p", "go", "--settings", "none.json"])).code).toBe(64);
    expect((await stage.run(["-p", "go", "--settings", "{"])).code).toBe(64);
  });

  test("a trusted project's variables reach commands, and never Keel itself", async () => {
    const say = byPosition([reply(toolUse("Bash", { command: 'echo "<$FOO>"' })), reply("done")]);
    const stage = await openStage(say);
    put(stage, ".keel/settings.json", { env: { FOO: "bar", KEEL_MODEL: "evil" } });
    const words = ["-p", "go", "--setting-sources", "project", "--allowed-tools", "Bash"];
    await stage.run(words, { env: { KEEL_MODEL: "claude-haiku-4-5" } });
    expect(JSON.stringify(stage.server.requests.at(-1)?.body["messages"])).toContain("<bar>");
    expect(stage.server.requests.at(-1)?.body["model"]).toBe("claude-haiku-4-5");
  });
});
