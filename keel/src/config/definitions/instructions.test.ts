import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { type Tree, writeTree } from "../../../../test/support/words-stage.ts";
import { pathsOf } from "../settings/paths.ts";
import { findProject } from "../settings/project-root.ts";
import {
  type InstructionFile,
  Instructions,
  type InstructionsOptions,
  importsIn,
  maxFileCharacters,
} from "./instructions.ts";

function world(tree: Tree, request: Partial<InstructionsOptions> & { cwd?: string } = {}) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-instructions-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  writeTree(base, { "project/.git/HEAD": "ref: refs/heads/main", ...tree });
  const cwd = path.join(base, request.cwd ?? "project");
  mkdirSync(cwd, { recursive: true });
  const userHome = path.join(base, "home");
  const managed = path.join(base, "etc", "managed-settings.json");
  const env = { HOME: userHome, KEEL_MANAGED_SETTINGS: managed };
  const instructions = new Instructions({
    paths: pathsOf({ env, cwd }),
    userHome,
    trust: { ...findProject(cwd), state: "untrusted", waiting: [], shown: new Set() },
    mayRead: async () => true,
    ...request,
  });
  const short = (files: readonly InstructionFile[]): string[] =>
    files.map((file) => `${path.relative(base, file.path)} (${file.source})`);
  return {
    base,
    instructions,
    start: async () => short(await instructions.start()),
    near: async (files: string[], known: string[] = []) =>
      short(
        await instructions.near(
          files.map((file) => path.join(base, file)),
          new Set(known.map((file) => path.join(base, file))),
        ),
      ),
  };
}

describe("instruction files", () => {
  test("come from administrator, home, config folders and the project, the general ones first", async () => {
    verifies("S4.43", "P22");
    const { start } = world(
      {
        "etc/AGENTS.md": "managed",
        "home/AGENTS.md": "home",
        "home/.claude/CLAUDE.md": "second",
        "home/.keel/AGENTS.md": "own",
        "project/AGENTS.md": "root",
        "project/.keel/AGENTS.md": "root, inner",
        "project/.claude/rules/style.md": "rule",
        "project/inner/CLAUDE.md": "inner",
        "project/inner/CLAUDE.local.md": "for me",
        "project/inner/deeper/AGENTS.md": "not yet",
      },
      { cwd: "project/inner" },
    );
    expect(await start()).toEqual([
      "etc/AGENTS.md (managed)",
      "home/AGENTS.md (user)",
      "home/.claude/CLAUDE.md (user)",
      "home/.keel/AGENTS.md (user)",
      "project/AGENTS.md (project)",
      "project/.keel/AGENTS.md (project)",
      "project/inner/CLAUDE.md (project)",
      "project/.claude/rules/style.md (project)",
      "project/inner/CLAUDE.local.md (local)",
    ]);
  });

  test("above the repository are not read", async () => {
    const { start } = world({ "AGENTS.md": "above" }, { cwd: "project/inner" });
    expect(await start()).toEqual([]);
  });

  test("are read only from the sources that were chosen", async () => {
    const tree = { "home/.keel/AGENTS.md": "u", "project/AGENTS.md": "p", "project/AGENTS.local.md": "l" };
    expect(await world(tree, { chosen: ["user"] }).start()).toEqual(["home/.keel/AGENTS.md (user)"]);
    expect(await world(tree, { chosen: ["local"] }).start()).toEqual(["project/AGENTS.local.md (local)"]);
    expect(await world(tree, { chosen: [] }).start()).toEqual([]);
  });

  test("under names of others count where a folder has none of ours, and the same words count once", async () => {
    verifies("P22");
    expect(await world({ "project/GEMINI.md": "g" }).start()).toEqual(["project/GEMINI.md (project)"]);
    expect(await world({ "project/GEMINI.md": "g", "project/CLAUDE.md": "c" }).start()).toEqual([
      "project/CLAUDE.md (project)",
    ]);
    expect(await world({ "project/AGENTS.md": "same\n", "project/CLAUDE.md": "same" }).start()).toEqual([
      "project/AGENTS.md (project)",
    ]);
  });

  test("of folders further in come with a file there, once, and from no other place", async () => {
    verifies("S4.43");
    const { near } = world({
      "project/AGENTS.md": "root",
      "project/a/AGENTS.md": "a",
      "project/a/b/CLAUDE.md": "b",
      "project/c/AGENTS.md": "c",
      "elsewhere/AGENTS.md": "outside",
    });
    expect(await near(["project/a/b/file.ts", "project/x.ts", "elsewhere/y.ts"])).toEqual([
      "project/a/AGENTS.md (project)",
      "project/a/b/CLAUDE.md (project)",
    ]);
    expect(await near(["project/a/b/file.ts"], ["project/a/AGENTS.md"])).toEqual([
      "project/a/b/CLAUDE.md (project)",
    ]);
  });

  test("of the folder rules hold for the files that they name, or always", async () => {
    const { start, near } = world({
      "project/.keel/rules/always.md": "always",
      "project/.keel/rules/tests.md": "---\npaths: '**/*.test.ts, docs/*'\n---\ntests",
    });
    expect(await start()).toEqual(["project/.keel/rules/always.md (project)"]);
    expect(await near(["project/src/a.ts"])).toEqual([]);
    expect(await near(["project/src/a.test.ts"])).toEqual(["project/.keel/rules/tests.md (project)"]);
    expect(await near(["project/docs/x.md"])).toEqual(["project/.keel/rules/tests.md (project)"]);
  });

  test("that rules deny are not read", async () => {
    const { start } = world(
      { "project/AGENTS.md": "@b.md", "project/b.md": "b" },
      { mayRead: async () => false },
    );
    expect(await start()).toEqual([]);
  });
});

describe("what instruction files name", () => {
  test("is read behind them, each once, also in a circle", async () => {
    const { start } = world({
      "project/AGENTS.md": "See @docs/a.md and @docs/b.md.",
      "project/docs/a.md": "back to @../AGENTS.md, and @b.md",
      "project/docs/b.md": "b",
    });
    expect(await start()).toEqual([
      "project/AGENTS.md (project)",
      "project/docs/a.md (project)",
      "project/docs/b.md (project)",
    ]);
  });

  test("is read five files deep and no deeper", async () => {
    verifies("G45");
    const chain = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`project/n${index}.md`, `level ${index} @n${index + 1}.md`]),
    );
    const { instructions } = world({ "project/AGENTS.md": "@n0.md", ...chain });
    const files = await instructions.start();
    expect(files).toHaveLength(6);
    expect(files.at(-1)?.notes).toEqual(["What it names with @ is not read: it is too many files deep."]);
  });

  test("never leaves the project, nor the person's own folders", async () => {
    verifies("G46");
    const outside = {
      "secret.md": "secret",
      "home/.ssh/id.md": "key",
      "home/notes.md": "notes",
      "home/.keel/more.md": "more",
    };
    const project = world({
      ...outside,
      "project/AGENTS.md": "@../secret.md @~/.ssh/id.md @~/.keel/more.md @/etc/hosts",
    });
    expect(await project.start()).toEqual(["project/AGENTS.md (project)"]);
    const own = world({ ...outside, "home/.keel/AGENTS.md": "@more.md @~/notes.md @../.ssh/id.md" });
    expect(await own.start()).toEqual(["home/.keel/AGENTS.md (user)", "home/.keel/more.md (user)"]);
    const [first] = await own.instructions.start();
    expect(first?.notes).toHaveLength(2);
  });

  test("is not reached through a link either", async () => {
    verifies("G46");
    const { base, start } = world({
      "secret.md": "secret",
      "project/a.md": "a",
      "project/AGENTS.md": "@link.md",
    });
    symlinkSync(path.join(base, "secret.md"), path.join(base, "project/link.md"));
    symlinkSync(path.join(base, "secret.md"), path.join(base, "project/CLAUDE.md"));
    symlinkSync(base, path.join(base, "project/.claude"));
    expect(await start()).toEqual(["project/AGENTS.md (project)"]);
    symlinkSync(path.join(base, "project/a.md"), path.join(base, "project/AGENTS.local.md"));
    expect(await start()).toEqual(["project/AGENTS.md (project)", "project/a.md (local)"]);
  });

  test("is not looked for in code, in addresses and in names of people", () => {
    const words = [
      "write to me@example.org, ask @alice",
      "`@inline.md` and @real.md.",
      "```sh",
      "@in-code.md",
      "```",
      "~~~~",
      "```",
      "@still-code.md",
      "~~~~",
      "(@after.md), @~/own.md",
    ];
    expect(importsIn(words.join("\n"))).toEqual(["alice", "real.md", "~/own.md"]);
  });

  test("is bounded: a long file is cut with a note, and many files end", async () => {
    verifies("G45");
    const long = "x".repeat(maxFileCharacters + 5);
    const { instructions } = world({ "project/AGENTS.md": long });
    const [file] = await instructions.start();
    expect(file?.text).toHaveLength(maxFileCharacters);
    expect(file?.notes).toEqual([
      `Only ${maxFileCharacters} of its ${maxFileCharacters + 5} characters are shown here.`,
    ]);
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`project/f${index}.md`, `${index}${"y".repeat(30_000)}`]),
    );
    const named = Object.keys(many).map((name) => `@${path.basename(name)}`);
    const all = await world({ "project/AGENTS.md": named.join(" "), ...many }).instructions.start();
    expect(all.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(160_000);
  });

  test("is found in a time that grows with the text only", () => {
    verifies("G45");
    for (const piece of ["@", "@ ", "`", "```\n", " @a.md", "@a)", "~~~", "@....", "\n@"]) {
      const words = piece.repeat(Math.ceil(100_000 / piece.length));
      const before = performance.now();
      expect(importsIn(words).length).toBeLessThanOrEqual(50);
      expect(performance.now() - before, JSON.stringify(piece)).toBeLessThan(1_000);
    }
  });
});
