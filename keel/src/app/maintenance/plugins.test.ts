import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { writeTree } from "../../../../test/support/words-stage.ts";
import { sourceOf } from "./fetch-plugin.ts";
import { listPlugins, offerPlugin, removePlugin } from "./plugins.ts";

const { signal } = new AbortController();

function world() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-plugins-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  writeTree(base, {
    "work/plug/keel-plugin.json": JSON.stringify({ name: "plug", version: "1.0.0", description: "A test" }),
    "work/plug/commands/go.md": "Go.",
    "work/plug/skills/know/SKILL.md": "---\ndescription: d\n---\nKnow.",
    "work/plug/hooks/hooks.json": JSON.stringify({
      hooks: { Stop: [{ hooks: [{ type: "command", command: "touch /tmp/never" }] }] },
    }),
    "work/plug/.mcp.json": JSON.stringify({ mcpServers: { db: { command: "db-server" } } }),
  });
  const home = path.join(base, "home", ".keel");
  const env = {
    PATH: process.env["PATH"],
    HOME: path.join(base, "home"),
    KEEL_HOME: home,
    KEEL_GUARD: "off",
  };
  return { base, home, place: { env, cwd: path.join(base, "work") } };
}

describe("a plugin", () => {
  test("is shown before it is added, and added, listed and removed by name", async () => {
    verifies("P19", "S2.11");
    const { place, base } = world();
    const { report, accept } = await offerPlugin(place, "plug", signal);
    expect(report).toMatchObject({
      ...{ name: "plug", version: "1.0.0", commands: ["plug:go"], skills: ["plug:know"], agents: [] },
      hooks: ["Stop: touch /tmp/never"],
      servers: ['db: {"command":"db-server"}'],
    });
    expect(await listPlugins(place)).toEqual([]);
    await accept();
    await accept();
    expect(await listPlugins(place)).toMatchObject([{ name: "plug", from: path.join(base, "work/plug") }]);
    expect(await removePlugin(place, "plug")).toBe(true);
    expect(await removePlugin(place, "plug")).toBe(false);
    expect(await listPlugins(place)).toEqual([]);
    // The person's own folder stays.
    expect(existsSync(path.join(base, "work/plug/keel-plugin.json"))).toBe(true);
  });

  test("from a repository is fetched as files, without history and without running anything of it", async () => {
    verifies("P19");
    const { place, base, home } = world();
    const git = (...args: string[]): void =>
      void execFileSync("git", ["-C", path.join(base, "work/plug"), ...args], { stdio: "ignore" });
    git("init", "-q");
    git("add", ".");
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "one");
    const given = `git+file://${path.join(base, "work/plug")}`;
    const refused = await offerPlugin(place, given, signal);
    await refused.refuse();
    expect(readdirSync(path.join(home, "plugins"))).toEqual([]);
    const { accept, report } = await offerPlugin(place, given, signal);
    await accept();
    expect(report.from).toBe(given);
    expect(readdirSync(path.join(home, "plugins"))).toEqual(["plug"]);
    expect(existsSync(path.join(home, "plugins/plug/.git"))).toBe(false);
    expect(await listPlugins(place)).toMatchObject([{ name: "plug", path: path.join(home, "plugins/plug") }]);
    await removePlugin(place, "plug");
    expect(readdirSync(path.join(home, "plugins"))).toEqual([]);
  });

  test("that is none, or cannot be fetched, leaves nothing behind", async () => {
    const { place, base, home } = world();
    await expect(offerPlugin(place, "nowhere", signal)).rejects.toMatchObject({ code: "usage" });
    await expect(offerPlugin(place, `git+file://${base}/none`, signal)).rejects.toMatchObject({
      code: "usage",
    });
    expect(readdirSync(path.join(home, "plugins"))).toEqual([]);
  });
});

describe("the address of a plugin", () => {
  test("is a folder, a repository or a package", () => {
    expect(sourceOf("./a")).toEqual({ kind: "folder", path: "./a" });
    expect(sourceOf("https://example.org/a.git#v1")).toEqual({
      ...{ kind: "git", url: "https://example.org/a.git", revision: "v1" },
    });
    expect(sourceOf("git@example.org:a/b")).toMatchObject({ kind: "git" });
    expect(sourceOf("npm:@scope/name@1.2.3")).toEqual({ kind: "npm", name: "@scope/name@1.2.3" });
  });

  test("cannot carry an option or a program", () => {
    const bad = [
      "git+ext::sh -c touch% /tmp/x",
      "git+--upload-pack=touch /tmp/x",
      "git+https://example.org/a.git#--config",
      "git+http://example.org/a.git",
      "npm:--registry",
      "npm:a b",
      "npm:../x",
    ];
    for (const given of bad) expect(() => sourceOf(given), given).toThrow();
  });
});
