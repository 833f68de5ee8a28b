import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realWorkspace } from "../../../test/support/real-workspace.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { carefulTraits } from "../ports/define-tool.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import { nodeCommandPlace } from "../workspace/git/command-place.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { decide, noRules, type Rules } from "./decide.ts";
import { lookAt } from "./look.ts";
import { parseRule } from "./rules.ts";

const grammar = openGrammar();

/** A trusted repository with folders; some of them are repositories of their own. */
function world() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-look-")));
  const root = path.join(base, "project");
  for (const folder of [
    "project/.git",
    "project/src/deep",
    "project/vendor/lib/.git",
    "project/bare",
    "other/.git",
  ])
    mkdirSync(path.join(base, folder), { recursive: true });
  for (const repository of [".git", "bare"])
    writeFileSync(path.join(root, repository, "HEAD"), "ref: refs/heads/main\n");
  symlinkSync(path.join(base, "other"), path.join(root, "away"));
  return root;
}

async function verdictOf(
  root: string,
  command: string,
  rules: Partial<Rules> = {},
  mode: PermissionMode = "default",
) {
  const workspace = {
    ...realWorkspace({ cwd: root }),
    commands: {
      grammar,
      home: path.join(root, "../home"),
      isTrusted: true,
      place: nodeCommandPlace({ project: root, env: {} }),
    },
  };
  const claims = [{ action: "execute" as const, target: command }];
  const looked = await lookAt(claims, workspace);
  const facts = { tool: "Bash", traits: carefulTraits, claims, mode, ...looked };
  return decide({ ...facts, rules: { ...noRules, ...rules } }).verdict;
}

describe("git in a folder of the project", () => {
  const root = world();

  test.each([
    ["git status", "allow"],
    ["git -C src log --oneline", "allow"],
    ["cd src && git diff", "allow"],
    ["cd src/deep && git -C .. status", "allow"],
    ["git -C vendor/lib status", "ask"],
    ["cd vendor/lib && git status", "ask"],
    ["cd vendor && git -C lib log", "ask"],
    ["git -C bare log", "ask"],
    ["git -C away status", "ask"],
    ["git -C .. status", "ask"],
  ])("%j: %s", async (command, verdict) => {
    verifies("G23");
    expect(await verdictOf(root, command)).toBe(verdict);
  });

  test("a rule does not cover a repository inside of the trusted one either", async () => {
    const allow = [parseRule("Bash(git commit:*)") ?? []].flat();
    expect(await verdictOf(root, "cd src && git commit -m x", { allow })).toBe("allow");
    expect(await verdictOf(root, "cd vendor/lib && git commit -m x", { allow })).toBe("ask");
  });
});

test("what our own reader cannot read is asked about, and the grammar is not asked for it", async () => {
  verifies("G28", "G45");
  const asked: string[] = [];
  const counting = {
    parse: (text: string) => {
      asked.push(text);
      return grammar.parse(text);
    },
  };
  const workspace = {
    ...realWorkspace({ cwd: world() }),
    commands: {
      grammar: counting,
      home: "/home/dev",
      isTrusted: true,
      place: nodeCommandPlace({ project: "/p", env: {} }),
    },
  };
  // Arrays in arrays: the grammar would take seconds for this.
  for (const target of ["a=(".repeat(3_000), "ls"]) {
    const claims = [{ action: "execute" as const, target }];
    const looked = await lookAt(claims, workspace);
    const facts = { tool: "Bash", traits: carefulTraits, claims, mode: "default" as const, ...looked };
    expect(decide({ ...facts, rules: noRules }).verdict).toBe(target === "ls" ? "allow" : "ask");
  }
  expect(asked).toEqual(["ls"]);
});

/** A folder with what rules deny, links to it and out, and files that are called like options. */
function place() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-look-")));
  const root = path.join(base, "project");
  const put = (name: string): void => {
    mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
    writeFileSync(path.join(base, name), "x\n");
  };
  for (const name of [
    "readme.md",
    "src/a.ts",
    "src/b.ts",
    "secrets/db.txt",
    ".env",
    "token.json",
    "if=.env",
    "d1/x",
    "d2/x",
  ])
    put(`project/${name}`);
  for (const name of ["home/.ssh/id_rsa", "other/x"]) put(name);
  execFileSync("git", ["init", "-q"], { cwd: root });
  const links = {
    "notes.txt": "../home/.ssh/id_rsa",
    "n[x]": "../home/.ssh/id_rsa",
    hidden: "secrets/db.txt",
    "src/in": "a.ts",
    "d1/y": "../../other/x",
    key: "token.json",
    up: "src/deep",
    process: "/proc/self/cwd",
  };
  mkdirSync(path.join(root, "src/deep"));
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
  return root;
}

const ruleOf = (text: string) => [parseRule(text) ?? []].flat();

describe("a pattern is what it finds in this folder", () => {
  const root = place();

  test.each([
    ["cat r*", "allow"],
    ["cat src/*.ts", "allow"],
    ["head -n 1 s*/*.ts", "allow"],
    ["grep x src/i*", "allow"],
    ["ls *", "ask"],
    ["ls s*", "allow"],
    // F7: a link out, by any pattern that finds it.
    ["cat notes.txt", "ask"],
    ["cat n*", "ask"],
    ["tail ./n?tes.txt", "ask"],
    ["diff n* x", "ask"],
    ["cat < n*", "ask"],
    ["cat n[x]", "ask"],
    ["cat 'n[x]'", "ask"],
    ["cat [a-o]*", "ask"],
    ["cat ?ey", "ask"],
    ["cat key", "ask"],
    ["cat t*", "ask"],
    ["cat readme.m?; cat n*", "ask"],
    // Two folders are compared file by file, and links in them are followed.
    ["diff d1 d2", "ask"],
    ["diff d1/x d2/x", "allow"],
    // Behind a link the shell goes back to where it came from.
    ["cd up/.. && cat notes.txt", "ask"],
    ["cd src/.. && cat readme.md", "allow"],
    ["shopt -s dotglob; cat *", "ask"],
  ])("%j: %s", async (command, verdict) => {
    verifies("G23");
    expect(await verdictOf(root, command)).toBe(verdict);
  });

  test("what changes patterns is not covered by a rule together with what is read", async () => {
    const allow = ruleOf("Bash(shopt:*)");
    expect(await verdictOf(root, "shopt -s nullglob; cat r*", { allow })).toBe("ask");
  });
});

test("what a command of the same text moves or links is not read by what was looked at before", async () => {
  const root = place();
  const allow = ["ln", "mv", "git checkout", "tar", "cp", "mkdir"].flatMap((name) =>
    ruleOf(`Bash(${name}:*)`),
  );
  for (const command of [
    "ln -s ../other/x new; cat new",
    "mv notes.txt new && cat new",
    "git checkout other && cat src/*.ts",
    "tar xf a.tar && head readme.md",
    "cp -r d1 d3 && cat d3/y",
  ])
    expect(await verdictOf(root, command, { allow }), command).toBe("ask");
  for (const command of [
    "cp readme.md copy && cat copy",
    "mkdir new && cat readme.md",
    "git checkout other && git status",
  ])
    expect(await verdictOf(root, command, { allow }), command).toBe("allow");
});

describe("a deny of reading is final in every form of a name", () => {
  const root = place();
  const deny = [...ruleOf("Read(./secrets/**)"), ...ruleOf("Read(.env)")];
  const denied = [
    "cat secrets/db.txt",
    "cat s*/db.txt",
    "cat s[e]crets/db.txt",
    "cat h*",
    "cat hidden",
    "cat < s*/db.txt",
    "rg X s*",
    "cat .e*",
    "cat /proc/self/cwd/.env",
    "cat $PWD/.env",
    "cat $HOME/../project/.env",
    'bash -c "cat .env"',
    'bash -c "cat < .env"',
    "bash -c 'echo $(< .env)'",
    "dd if=.env",
    "curl --data @.env localhost",
    "curl -d@.env localhost",
    "curl -F x=@.env localhost",
    "curl -T .env localhost",
    "curl file://$PWD/.env",
    "wget --post-file=.env localhost",
    "git show HEAD:secrets/db.txt",
    "git log -L1,2:.env",
    "sh -c 'timeout 5 cat .env'",
    "dd i*",
    "cat process/.env",
    "grep -f.env readme.md",
  ];
  const asked = [
    "cat process/db.txt",
    // One of the folders that it finds is a link into a process.
    "cat */db.txt",
    "tar cf - .",
    "cp -a . ../copy",
    "rsync -a . ../copy",
    "zip -r - .",
    "find . -exec cat {} +",
    "ls -a | xargs cat",
    "cat $X",
    "cat ~+/.env",
    "cat ~-/.env",
    "cd $X && cat db.txt",
    "grep -r x",
    "strings -f.env",
    "cat -- $(ls)",
    "git diff",
    "git log -p",
    "git log --pat",
    "git log -S x",
    "git log -p -S readme.md",
    "git show",
    "git grep x",
    "git grep -A 3 readme.md",
    "git stash show -p",
    "git diff -- ':(glob)**'",
    "git archive HEAD",
    "git cat-file -p 1234567",
    "git p",
    "git -c alias.p=diff p",
    "python3 -c 'print(open(\".env\").read())'",
    "cat /proc/123/fd/4",
    "docker run -v $PWD/secrets:/x y",
    "shopt -s dotglob; cat *",
    "a=(",
    "sed r.env readme.md",
    "env -C src cat db.txt",
    "c?t $X",
    "echo 'cat .env' | bash",
    "ln -s . here; cat here/x",
    "f() { cat db.txt; }; f",
  ];
  const free = [
    "cat readme.md",
    "cat src/*.ts",
    "git status",
    "git log --oneline -n 5",
    "git diff --stat",
    "git stash list",
    "git diff -- src",
    "git log -p src/a.ts",
    "git ls-files",
    "grep -r x src --exclude=.env",
  ];

  /** The names that rules about a whole tree are not about. */
  const only = { deny: ruleOf("Read(./secrets/**)") };

  for (const mode of ["default", "bypassPermissions"] as const) {
    test.each(denied)(`%j is denied, in mode ${mode} and under a broad rule`, async (command) => {
      verifies("G29");
      const allow = ["cat", "dd", "curl", "git", "bash", "rg"].flatMap((name) => ruleOf(`Bash(${name}:*)`));
      expect(await verdictOf(root, command, { deny, allow }, mode)).toBe("deny");
    });
    test.each(asked)(`%j is asked about, in mode ${mode} and under a broad rule`, async (command) => {
      verifies("G29");
      const allow = ["cat", "tar", "git", "find", "grep"].flatMap((name) => ruleOf(`Bash(${name}:*)`));
      expect(await verdictOf(root, command, { deny, allow }, mode)).toBe("ask");
    });
    test.each(free)(`%j shows nothing of it, in mode ${mode}`, async (command) => {
      expect(await verdictOf(root, command, only, mode)).toBe("allow");
    });
  }
});
