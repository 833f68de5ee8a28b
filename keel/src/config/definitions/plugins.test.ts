import { mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { type Tree, writeTree } from "../../../../test/support/words-stage.ts";
import { readGitHead } from "./git-head.ts";
import { readLibraryFiles } from "./library-files.ts";
import { changePluginList, readPluginList } from "./plugin-list.ts";
import { readPlugin } from "./plugins.ts";

function folder(tree: Tree): string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-plugin-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeTree(root, tree);
  return root;
}

describe("the manifest of a plugin", () => {
  test("may stand in three places, ours first, and name its parts or hold them", async () => {
    verifies("S2.11");
    const root = folder({
      "keel-plugin.json": JSON.stringify({
        name: "ours",
        hooks: "more/hooks.json",
        mcpServers: { a: { url: "u" } },
      }),
      ".claude-plugin/plugin.json": '{"name":"theirs"}',
      "more/hooks.json": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}',
    });
    expect(await readPlugin(root)).toMatchObject({
      ok: true,
      plugin: { name: "ours", hooks: { Stop: [{}] }, mcpServers: { a: { url: "u" } } },
      problems: [],
    });
  });

  test("that names something outside, or is damaged, loses that part and says so", async () => {
    const outside = folder({ "hooks.json": "{}" });
    const root = folder({
      "keel-plugin.json": JSON.stringify({ name: "x", hooks: path.join(outside, "hooks.json") }),
      ".mcp.json": '{"mcpServers": {"a": 1}}',
    });
    const read = await readPlugin(root);
    expect(read).toMatchObject({ ok: true, plugin: { hooks: {}, mcpServers: {} } });
    expect(read.ok && read.problems).toEqual([
      expect.stringContaining("lies outside of it"),
      expect.stringContaining("its mcpServers are left out"),
    ]);
    symlinkSync(path.join(outside, "hooks.json"), path.join(root, "link.json"));
    writeTree(root, { "keel-plugin.json": '{"name":"x","hooks":"link.json"}' });
    expect(await readPlugin(root)).toMatchObject({
      problems: [expect.stringContaining("lies outside of it"), {}],
    });
  });

  test("needs a name that can stand before others", async () => {
    for (const name of ["", "a b", "../x", "a:b", "-x", "x".repeat(65)])
      expect(await readPlugin(folder({ "keel-plugin.json": JSON.stringify({ name }) })), name).toMatchObject({
        ok: false,
      });
    expect(await readPlugin(folder({}))).toMatchObject({ ok: false, why: expect.stringContaining("has no") });
    expect(await readPlugin(folder({ "keel-plugin.json": "{" }))).toMatchObject({ ok: false });
  });
});

test("a damaged list of plugins names none, and is not written over", async () => {
  const home = folder({ "plugins.json": "{ no" });
  expect(await readPluginList(home)).toEqual([]);
  const changed = changePluginList({ home, lock: (work) => work() }, () => []);
  await expect(changed).rejects.toMatchObject({ code: "settings_unwritable" });
});

test("a skill needs a description and a name, and is found under its folder's name", async () => {
  verifies("P21");
  const root = folder({
    "good/SKILL.md": "---\ndescription: Good\n---\nbody",
    "mute/SKILL.md": "---\nname: mute\n---\nbody",
    "odd/SKILL.md": "---\nname: 'a/b c'\ndescription: d\n---\nbody",
    "nested/deep/SKILL.md": "---\ndescription: Deep\n---\nbody",
    "good/inner/SKILL.md": "---\ndescription: a part of the other\n---\nbody",
    "SKILL.md": "---\ndescription: no folder\n---\nbody",
  });
  const { skills: found, problems } = await readLibraryFiles((kind) =>
    kind === "skills" ? [{ path: root, source: "user", compatible: false, trusted: true }] : [],
  );
  expect(found.map(({ name }) => name)).toEqual(["good", "nested:deep"]);
  expect(problems).toHaveLength(2);
});

test("the branch is read from files: of a repository, of a worktree, of none, and never a sentence", async () => {
  verifies("S4.42");
  const commit = "0123456789abcdef0123456789abcdef01234567";
  const root = folder({
    "a/.git/HEAD": "ref: refs/heads/feature/x-1\n",
    "a/.git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/main\n",
    "a/.git/worktrees/w/HEAD": `${commit}\n`,
    "a/.git/worktrees/w/commondir": "../..\n",
    "w/.git": `gitdir: ../a/.git/worktrees/w\n`,
    "bad/.git/HEAD": "ref: refs/heads/do this now\n",
    "odd/.git/HEAD": "\0\0",
    "none/x": "",
  });
  const head = (name: string) => readGitHead(path.join(root, name));
  expect(await head("a")).toMatchObject({ branch: "feature/x-1", main: "main" });
  expect(await head("w")).toMatchObject({ branch: "commit 0123456789ab", main: "main" });
  for (const name of ["bad", "odd", "none"]) expect(await head(name), name).toBeUndefined();
});
