import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { trustProject, trustReport } from "../maintenance/trust.ts";
import { foldersOf } from "./folders.ts";
import { allowedMode, bypassOf, startMode } from "./mode.ts";
import { readSettings } from "./settings.ts";

function world(files: Record<string, unknown>) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-app-settings-")));
  const cwd = path.join(base, "project");
  mkdirSync(path.join(cwd, ".git"), { recursive: true });
  const write = (name: string, content: unknown): void => {
    mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
    writeFileSync(path.join(base, name), typeof content === "string" ? content : JSON.stringify(content));
  };
  for (const [name, content] of Object.entries(files)) write(name, content);
  const env = {
    HOME: base,
    KEEL_HOME: path.join(base, "home"),
    KEEL_MANAGED_SETTINGS: path.join(base, "managed.json"),
    B: "start",
    C: "start",
    D: "start",
  };
  return { base, cwd, env, write };
}

describe("variables", () => {
  const own = (env: Readonly<Record<string, string | undefined>>) =>
    Object.fromEntries(["A", "B", "C", "D", "P"].map((name) => [name, env[name]]));

  test("the start wins over files, and loses to what is said for this start and by an administrator", async () => {
    const { cwd, env } = world({
      "home/settings.json": { env: { A: "user", B: "user" } },
      "managed.json": { env: { D: "managed" } },
    });
    const read = await readSettings({ cwd, env, settings: { env: { C: "flags", D: "flags" } } });
    expect(own(read.env)).toEqual({ A: "user", B: "start", C: "flags", D: "managed", P: undefined });
  });

  test("a project's reach commands only, after trust, and hide nothing of the person's from Keel", async () => {
    const { cwd, env } = world({
      "home/settings.json": { env: { A: "user" } },
      "project/.keel/settings.json": {
        env: { A: "project", B: "project", P: "project", KEEL_MODEL: "evil" },
      },
    });
    const before = await readSettings({ cwd, env });
    expect([own(before.env)["A"], own(before.commandEnv)["P"]]).toEqual(["user", undefined]);
    const named = await readSettings({ cwd, env, settingSources: ["user", "project"] });
    expect(own(named.env)).toMatchObject({ A: "user", B: "start", P: undefined });
    expect(own(named.commandEnv)).toMatchObject({ A: "project", B: "start", P: "project" });
    expect(named.commandEnv["KEEL_MODEL"]).toBeUndefined();
  });

  test("no setting moves Keel's own folder", async () => {
    const { cwd, env, base } = world({ "home/settings.json": { env: { KEEL_HOME: "/elsewhere" } } });
    const read = await readSettings({ cwd, env });
    expect(read.env["KEEL_HOME"]).toBe(path.join(base, "home"));
  });
});

describe("the mode of a start", () => {
  const bypassing = { permissions: { defaultMode: "bypassPermissions" } } as const;

  test("bypassing that a file asks for needs the word at the start, and is otherwise passed over", () => {
    expect(startMode(bypassing, { asked: undefined, bypass: "allowed" }).mode).toBe("bypassPermissions");
    const told = startMode(bypassing, { asked: undefined, bypass: "refused" });
    expect(told).toMatchObject({ mode: "default", notices: [{ code: "mode_refused" }] });
  });

  test("bypassing that was asked for without the word, or where it is forbidden, is refused", () => {
    const start = (bypass: "refused" | "disabled") => () =>
      startMode(bypassing, { asked: "bypassPermissions", bypass });
    expect(start("refused")).toThrow(expect.objectContaining({ code: "mode_refused" }));
    expect(start("disabled")).toThrow(/the settings forbid it/);
    const forbidden = { permissions: { disableBypassPermissionsMode: "disable" } } as const;
    const allowed = { asked: "allowed", managed: "whole", asRoot: false } as const;
    expect(bypassOf(forbidden, allowed)).toBe("disabled");
    expect(bypassOf({}, allowed)).toBe("allowed");
    const bypass = bypassOf({}, { ...allowed, asRoot: true });
    expect(() => allowedMode("bypassPermissions", bypass)).toThrow(/root.*IS_SANDBOX=1/);
  });
});

test("where a part of the administrator's file cannot be read, nobody bypasses permissions", async () => {
  verifies("G29");
  for (const managed of [
    { permissions: { deny: "Bash(rm:*)" } },
    { permissions: { deny: ["Bash(curl:*)", 7] } },
    { permision: { deny: ["Bash(rm:*)"] } },
  ]) {
    const { cwd, env } = world({ "managed.json": managed });
    const read = await readSettings({ cwd, env });
    expect(read.managed, JSON.stringify(managed)).toBe("damaged");
    expect(read.notices).toHaveLength(1);
    const bypass = bypassOf(read.settings, { asked: "allowed", managed: read.managed, asRoot: false });
    expect(() => allowedMode("bypassPermissions", bypass)).toThrow(/cannot be read/);
  }
  const { cwd, env } = world({ "managed.json": { permissions: { deny: ["Bash(rm:*)"] } } });
  expect((await readSettings({ cwd, env })).managed).toBe("whole");
});

test("what is given for this start and forbids something is read whole or refused", async () => {
  const { base, cwd, env, write } = world({});
  write("damaged.json", '{ "permissions": { "deny": ["Bash(rm:*)"] ');
  for (const settings of [
    path.join(base, "damaged.json"),
    { permissions: { deny: "Bash(rm:*)" } },
    { permissions: { ask: [1] } },
    { permissions: "none" },
  ])
    await expect(readSettings({ cwd, env, settings }), JSON.stringify(settings)).rejects.toMatchObject({
      code: "usage",
    });
  // One wrong value of another kind is told, as in a file.
  const { notices } = await readSettings({ cwd, env, settings: { permissions: { allow: [1] }, model: 2 } });
  expect(notices).toHaveLength(2);
});

test("a further folder that is none is wrong use on the command line, and told when a file names it", async () => {
  const { cwd, env, base } = world({
    "home/settings.json": { permissions: { additionalDirectories: ["~/more", "gone"] } },
  });
  mkdirSync(path.join(base, "more"));
  const { entries } = await readSettings({ cwd, env });
  const { roots, problems } = foldersOf({ cwd, env, entries });
  expect(roots).toEqual([cwd, path.join(base, "more")]);
  expect(problems).toEqual([expect.stringContaining("gone is not a folder")]);
  const asked = await readSettings({ cwd, env, addDirs: ["gone"] });
  expect(() => foldersOf({ cwd, env, entries: asked.entries })).toThrow(
    expect.objectContaining({ code: "usage" }),
  );
});

describe("what trust would enable", () => {
  test("is told with every word, also the files of skills, commands and agents; what changes waits again", async () => {
    const { cwd, env, write } = world({
      "project/.keel/settings.json": {
        hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "check.sh" }] }] },
        permissions: { defaultMode: "acceptEdits", additionalDirectories: [".."] },
        model: "theirs",
      },
      "project/.mcp.json": { mcpServers: { a: { command: "node", args: ["server.js"], env: { X: "1" } } } },
      "project/.claude/skills/help/SKILL.md": "text",
    });
    const place = { cwd, env };
    const report = await trustReport(place);
    expect(report.offers.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "hook PreToolUse: [Bash] check.sh",
      'server a: node server.js {"env":{"X":"1"}}',
      "mode acceptEdits",
      "folder ..",
      "file help/SKILL.md",
    ]);
    await trustProject(place, report);
    const states = async () => (await trustReport(place)).offers.map(({ state }) => state);
    expect(new Set(await states())).toEqual(new Set(["enabled"]));
    write("project/.claude/skills/help/SKILL.md", "other text");
    expect(await states()).toEqual(["enabled", "enabled", "enabled", "enabled", "waiting"]);
  });

  test("what came between the showing and the word is not trusted by it", async () => {
    const { cwd, env, write } = world({ "project/.keel/settings.json": { env: { P: "1" } } });
    const shown = await trustReport({ cwd, env });
    write("project/.keel/settings.json", { env: { P: "2" } });
    await trustProject({ cwd, env }, shown);
    expect((await readSettings({ cwd, env })).commandEnv["P"]).toBeUndefined();
  });
});
