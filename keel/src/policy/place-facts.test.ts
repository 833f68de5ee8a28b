// Live: real folders, real repositories, and what would be decided in them.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realWorkspace } from "../../../test/support/real-workspace.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { carefulTraits } from "../ports/define-tool.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import type { Claim } from "../protocol/tool.ts";
import { nodeCommandPlace } from "../workspace/git/command-place.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { decide, noRules } from "./decide.ts";
import { lookAt } from "./look.ts";
import { parseRule } from "./rules.ts";

const grammar = openGrammar();
const user = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
const git = (cwd: string, ...words: string[]) =>
  execFileSync("git", [...user, ...words], { cwd, stdio: "pipe" });

function folder(): string {
  const root = path.join(realpathSync(mkdtempSync(path.join(tmpdir(), "keel-place-"))), "project");
  mkdirSync(path.join(root, "src"), { recursive: true });
  return root;
}

function repository(): string {
  const root = folder();
  git(root, "init", "-q");
  git(root, "commit", "-q", "--allow-empty", "-m", "x");
  return root;
}

type Given = {
  readonly project?: string;
  readonly env?: Record<string, string>;
  readonly allow?: readonly string[];
  readonly mode?: PermissionMode;
  readonly isTrusted?: boolean;
  readonly roots?: readonly string[];
};

async function decided(cwd: string, claims: readonly Claim[], tool: string, given: Given) {
  const { project = cwd, env = {}, allow = [], mode = "default", isTrusted = true, roots = [cwd] } = given;
  const workspace = {
    ...realWorkspace({ cwd, roots }),
    commands: { grammar, home: "/home/dev", isTrusted, place: nodeCommandPlace({ project, env }) },
  };
  const rules = { ...noRules, allow: allow.flatMap((text) => parseRule(text, "user") ?? []) };
  return decide({ tool, traits: carefulTraits, claims, mode, rules, ...(await lookAt(claims, workspace)) })
    .verdict;
}

const run = (cwd: string, command: string, given: Given = {}) =>
  decided(cwd, [{ action: "execute", target: command }], "Bash", given);
const write = (cwd: string, file: string, mode: PermissionMode = "acceptEdits") =>
  decided(cwd, [{ action: "write", target: path.join(cwd, file) }], "Write", { mode });

describe("git runs unasked", () => {
  test("in the trusted repository and its folders, and where there is none", async () => {
    const root = repository();
    for (const command of ["git status", "git -C src status", "cd src && git log -n 1"])
      expect(await run(root, command), command).toBe("allow");
    expect(await run(path.join(root, "src"), "git status", { project: root })).toBe("allow");
    expect(await run(folder(), "git status")).toBe("allow");
    expect(await run(root, "git status", { isTrusted: false })).toBe("ask");
  });

  test("in a worktree of the trusted repository, and in a worktree or submodule that was trusted itself", async () => {
    const root = repository();
    const tree = path.join(path.dirname(root), "tree");
    git(root, "worktree", "add", "-q", tree);
    expect(await run(tree, "git status", { project: root })).toBe("allow");
    expect(await run(tree, "git status")).toBe("allow");
    git(root, "submodule", "--quiet", "add", repository(), "module");
    expect(await run(path.join(root, "module"), "git status")).toBe("allow");
    // From the repository around it, it is another one.
    expect(await run(root, "git -C module status")).toBe("ask");
  });
});

describe("git is asked about", () => {
  /** What makes a folder a bare repository to git. */
  function plant(at: string, head: "file" | "link" = "file"): void {
    for (const inner of ["objects/info", "refs/heads"]) mkdirSync(path.join(at, inner), { recursive: true });
    writeFileSync(path.join(at, "config"), "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = false\n");
    if (head === "link") symlinkSync("refs/heads/main", path.join(at, "HEAD"));
    else writeFileSync(path.join(at, "HEAD"), "ref: refs/heads/main\n");
  }

  test("where a folder is a bare repository, also by a link that leads nowhere", async () => {
    verifies("G35");
    for (const head of ["file", "link"] as const) {
      const root = repository();
      plant(path.join(root, "sub"), head);
      for (const command of ["cd sub && git status", "git -C sub status", "git -C sub/refs log"])
        expect(await run(root, command), command).toBe("ask");
      expect(await run(root, "git -C sub status", { allow: ["Bash(git:*)"] })).toBe("ask");
    }
  });

  test("where the first root itself has become one, below a repository or not", async () => {
    const plain = folder();
    plant(plain);
    expect(await run(plain, "git status")).toBe("ask");
    const root = repository();
    plant(path.join(root, "src"));
    expect(await run(path.join(root, "src"), "git status", { project: root })).toBe("ask");
  });

  test("where .git is a link, leads elsewhere, is broken, or says that its settings lie elsewhere", async () => {
    const forms: ((root: string) => void)[] = [
      (root) => symlinkSync(path.join(repository(), ".git"), path.join(root, ".git")),
      (root) => writeFileSync(path.join(root, ".git"), `gitdir: ${repository()}/.git\n`),
      (root) => symlinkSync("nowhere", path.join(root, ".git")),
      (root) => mkdirSync(path.join(root, ".git")),
      (root) => {
        git(root, "init", "-q");
        writeFileSync(path.join(root, ".git/commondir"), "../src\n");
      },
    ];
    for (const form of forms) {
      const root = folder();
      form(root);
      expect(await run(root, "git status"), form.toString()).toBe("ask");
    }
  });

  test("where a repository above has come, or a variable names another", async () => {
    const root = folder();
    git(path.dirname(root), "init", "-q");
    expect(await run(root, "git status")).toBe("ask");
    const own = repository();
    expect(await run(own, "git status", { env: { GIT_DIR: `${repository()}/.git` } })).toBe("ask");
    expect(await run(own, "git status", { env: { GIT_DIR: ".git" } })).toBe("allow");
    expect(await run(own, "git status", { env: { GIT_CONFIG_GLOBAL: "./x" } })).toBe("ask");
  });

  test("a rule about git still covers a further root that somebody has named", async () => {
    const [root, other] = [repository(), repository()];
    const given = { allow: ["Bash(git:*)"], roots: [root, other] };
    expect(await run(root, `git -C ${other} status`, given)).toBe("allow");
    expect(await run(root, `git -C ${other} status`, { roots: [root, other] })).toBe("ask");
  });
});

describe("a program is the one of its name", () => {
  test("unless a folder of PATH is the workspace's and has one of that name", async () => {
    const root = repository();
    mkdirSync(path.join(root, "bin"));
    for (const entry of [`${root}/bin`, "bin", "./bin"]) {
      const env = { PATH: `${entry}:/usr/bin:/bin` };
      expect(await run(root, "ls", { env })).toBe("allow");
      writeFileSync(path.join(root, "bin/ls"), "");
      expect(await run(root, "ls", { env })).toBe("ask");
      expect(await run(root, "cat x", { env })).toBe("allow");
      execFileSync("rm", [path.join(root, "bin/ls")]);
    }
    writeFileSync(path.join(root, "src/cat"), "");
    expect(await run(root, "cat x", { env: { PATH: ":/usr/bin" } })).toBe("allow");
    expect(await run(root, "cd src && cat x", { env: { PATH: ":/usr/bin" } })).toBe("ask");
    expect(await run(root, "cd src && echo x", { env: { PATH: ":/usr/bin" } })).toBe("allow");
  });

  test("a version is asked for unasked only where nothing of the folder says which program answers", async () => {
    verifies("G35");
    const root = repository();
    expect(await run(root, "rustc --version")).toBe("allow");
    expect(await run(root, "rustc --version", { isTrusted: false })).toBe("ask");
    expect(await run(root, "node --version", { isTrusted: false })).toBe("ask");
    writeFileSync(path.join(path.dirname(root), "rust-toolchain.toml"), "");
    expect(await run(path.join(root, "src"), "rustc --version", { project: root })).toBe("ask");
    expect(await run(root, "node --version")).toBe("allow");
    for (const command of ["yarn --version", "pnpm -v", "yarn -v"])
      expect(await run(root, command), command).toBe("ask");
  });
});

describe("a write is protected", () => {
  test("where it makes a folder a repository to git, or says what git runs", async () => {
    const root = folder();
    for (const file of ["HEAD", "sub/HEAD", ".gitattributes", "sub/commondir", "sub/.git", "sub/gitdir"])
      expect(await write(root, file), file).toBe("ask");
    for (const file of ["config", "sub/config", "objects/x", "refs/heads/x", "head.ts", "config/app.json"])
      expect(await write(root, file), file).toBe("allow");
    mkdirSync(path.join(root, "sub"));
    symlinkSync("refs/heads/main", path.join(root, "sub/HEAD"));
    expect(await write(root, "sub/config")).toBe("ask");
  });

  test.each([
    "git config core.hooksPath x",
    "git config --global core.pager x",
    "git config --add alias.x '!y'",
    "git config --unset core.hooksPath",
    "git config set core.editor x",
    "git config edit",
    "git config -e",
    "git config --rename-section a b",
    "git config --file .git/config user.name x",
    "git config trailer.x.command 'touch pwned'",
    "git config submodule.x.update '!touch pwned'",
    "git config include.path ../x",
    'git config "$KEY" x',
    "git remote add e 'ext::sh -c x'",
    "git submodule add https://example.org/x",
    "git init --template=x",
    "git clone -c core.sshCommand=x https://example.org/x",
    "git mv a .husky/pre-commit",
    "cp x .gi?/hooks/y",
    "cp x .g*/hooks/y",
    "cp x .[g]it/hooks/y",
    "echo x > .gi?/config",
    'cp x "$PLACE"/.git/hooks/y',
    "cp x .husk*/pre-commit",
    "cp x H?AD",
    "touch sub/HEAD",
  ])("in every mode: %s", async (command) => {
    const root = repository();
    const allow = ["Bash(git:*)", "Bash(cp:*)"];
    expect(await run(root, command, { mode: "bypassPermissions", allow })).toBe("ask");
  });

  test.each([
    "git config user.email a@b",
    "git config --get core.pager",
    "git config core.pager",
    "git config list",
    "git remote add o https://example.org/x",
    "git commit -m x",
    "rm *",
    "rm *.log",
    "cp a* b/",
    "touch head config",
  ])("and not where it says nothing about programs: %s", async (command) => {
    expect(await run(repository(), command, { mode: "bypassPermissions" })).toBe("allow");
  });
});

describe("a broad rule does not cover", () => {
  test.each([
    "git commit --allow-empty -m m --trailer x=1",
    "git apply --unsafe-paths p.patch",
    "git config core.worktree /tmp",
    "git config remote.origin.url /tmp/x",
    "git merge -s evil x",
    "git archive -o ../x HEAD",
    "git fast-export --export-marks=../x HEAD",
    "git gc --expire-to=../x",
    "git bundle create ../x HEAD",
    "curl -w '%output{../x}a' http://127.0.0.1",
    "curl -w '%output{>>/etc/x}a' http://127.0.0.1",
    "curl -w @format http://127.0.0.1",
    "curl --expand-output '{{x}}' http://127.0.0.1",
    "curl --etag-save ../x http://127.0.0.1",
    "wget --save-cookies=../x http://127.0.0.1",
  ])("%s", async (command) => {
    expect(await run(repository(), command, { allow: ["Bash(git:*)", "Bash(curl:*)", "Bash(wget:*)"] })).toBe(
      "ask",
    );
  });

  test.each([
    "git commit -m x",
    "git config user.name x",
    "git apply p.patch",
    "git merge -s ours x",
    "git show-ref --head",
  ])("but it covers %s", async (command) => {
    expect(await run(repository(), command, { allow: ["Bash(git:*)"] })).toBe("allow");
  });
});
