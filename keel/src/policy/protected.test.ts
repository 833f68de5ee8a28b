import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { carefulTraits } from "../ports/define-tool.ts";
import type { PathFacts } from "../ports/workspace.ts";
import type { Ask } from "../protocol/ask.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import type { Claim } from "../protocol/tool.ts";
import { answersAsk } from "./changes.ts";
import { type Decision, decide, noRules, type Rules } from "./decide.ts";
import { protectionOf } from "./protected.ts";
import { parseRule } from "./rules.ts";

const because = (path: string) => protectionOf({ path: `/srv/project/${path}` });

describe("a protected path", () => {
  test.each([
    ".git",
    ".git/config",
    ".git/hooks/pre-commit",
    "sub/module/.git/info/exclude",
    "bare.git/hooks/update",
    ".gitconfig",
    ".gitmodules",
    ".gitattributes",
    "src/.gitattributes",
    "HEAD",
    "sub/HEAD",
    "sub/commondir",
    ".husky/pre-commit",
    "lefthook.yml",
    ".pre-commit-config.yaml",
    ".keel/settings.json",
    ".keel/agents/a.md",
    ".claude/settings.local.json",
    ".mcp.json",
    ".bashrc",
    "home/.profile",
    ".zshenv",
    ".config/fish/config.fish",
    ".envrc",
    ".inputrc",
    ".ssh/authorized_keys",
    ".netrc",
    ".gnupg/gpg.conf",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".devcontainer/devcontainer.json",
    ".vimrc",
    ".npmrc",
    ".yarnrc.yml",
    ".yarn/releases/yarn.cjs",
    ".cargo/config.toml",
    "bunfig.toml",
    ".pypirc",
    ".config/systemd/user/a.service",
    ".local/bin/ls",
    "Library/LaunchAgents/a.plist",
    ".ripgreprc",
  ])("is %s", (path) => {
    verifies("G33");
    expect(because(path)).toEqual(expect.any(String));
  });

  test.each([
    ".GIT/hooks/x",
    ".Git/config",
    "x/.BashRC",
    ".MCP.json",
    ".Keel/settings.json",
    ".git./config",
    ".git /config",
    "git~1/config",
    ".g\u200cit/config",
    ".ﬁsh/../.git/x",
    ".git::$INDEX/config",
    ".ıdea/workspace.xml",
    ".ſsh/config",
  ])("is also %j, which some file systems take for it", (path) => {
    verifies("G33");
    expect(because(path)).toEqual(expect.any(String));
  });

  test.each([
    "package.json",
    "docs/.gitkeep",
    ".gitignore",
    ".github/workflows/ci.yml",
    ".env",
    "src/git/config.ts",
    "src/bashrc",
    "profile.ts",
    "gitconfig",
    "vscode/tasks.json",
    "claude.md",
    "keel/a",
    "Makefile",
    ".eslintrc",
    ".editorconfig",
    ".config/app.json",
    ".cargo/README",
    "etc/hosts",
    "usr/bin/x",
    "login",
    "settings.json",
    "mcp.json",
    ".keelson/x",
    ".gitlab-ci.yml",
    "hooks/pre-commit",
  ])("is not %s", (path) => {
    expect(because(path)).toBeUndefined();
  });

  test("is a part of the system only at the root", () => {
    expect(protectionOf({ path: "/etc/hosts" })).toBe("it is a part of the system");
    expect(protectionOf({ path: "/usr/local/bin/node" })).toBe("it is a part of the system");
    expect(protectionOf({ path: "/usr/src/app/index.js" })).toBeUndefined();
  });

  test("is one of Keel's own wherever they are kept", () => {
    expect(protectionOf({ path: "/srv/state/x", own: true })).toContain("Keel keeps its own");
  });
});

const target = "/srv/project/.git/config";
const inside = (path: string): PathFacts => ({
  path,
  exists: false,
  kind: "missing",
  root: "/srv/project",
  links: false,
});
function verdict({
  mode = "default",
  rules = noRules,
  claims = [{ action: "write", target }],
  paths = new Map(claims.map((claim) => [claim.target, inside(claim.target)])),
}: {
  mode?: PermissionMode;
  rules?: Rules;
  claims?: Claim[];
  paths?: Map<string, PathFacts>;
}): Decision {
  return decide({ tool: "Write", traits: carefulTraits, claims, mode, rules, paths });
}
const allowWrite = parseRule("Write");

describe("a write to a protected path", () => {
  test.each(["default", "acceptEdits", "bypassPermissions"] as const)("is asked in the mode %s", (mode) => {
    verifies("G33");
    const decision = verdict({ mode });
    expect(decision).toMatchObject({ verdict: "ask", insists: true });
    expect(decision.because).toBe(
      `${target} is protected: git and its kind run the hooks and programs that are named there`,
    );
    expect(decision).toMatchObject({ options: [{ id: "once" }, { id: "no" }, { id: "say" }] });
  });

  test("is asked although a rule allows the tool, and refused where nothing is asked", () => {
    verifies("G33");
    const rules = { ...noRules, allow: allowWrite ? [allowWrite] : [] };
    expect(verdict({ rules })).toMatchObject({ verdict: "ask" });
    expect(verdict({ rules, mode: "dontAsk" })).toMatchObject({ verdict: "deny", by: "mode" });
    expect(verdict({ mode: "plan" })).toMatchObject({
      verdict: "deny",
      because: "plan mode changes nothing",
    });
  });

  test("stays denied where a rule denies it", () => {
    const deny = allowWrite ? [allowWrite] : [];
    expect(verdict({ rules: { ...noRules, deny }, mode: "bypassPermissions" })).toMatchObject({
      verdict: "deny",
    });
  });

  test("is asked when any of several claims is one, by its name or by where it leads", () => {
    verifies("G33");
    const plain = "/srv/project/a.txt";
    const link = "/srv/project/.keel";
    const claims: Claim[] = [
      { action: "write", target: plain },
      { action: "write", target: link },
    ];
    const paths = new Map([
      [plain, inside(plain)],
      [link, inside("/srv/project/settings")],
    ]);
    expect(verdict({ mode: "acceptEdits", claims, paths })).toMatchObject({ verdict: "ask" });
    const leads = new Map([[plain, inside(target)]]);
    const one: Claim[] = [{ action: "write", target: plain }];
    expect(verdict({ mode: "acceptEdits", claims: one, paths: leads })).toMatchObject({ verdict: "ask" });
  });

  test("goes by the usual rules once the separate setting allows it", () => {
    const rules: Rules = { ...noRules, protectedPaths: "allowed" };
    expect(verdict({ rules, mode: "acceptEdits" })).toMatchObject({ verdict: "allow" });
    expect(verdict({ rules })).toMatchObject({ verdict: "ask", insists: false });
  });

  test("is not answered by a rule that is learnt while it is open", () => {
    verifies("G33");
    const decision = verdict({});
    const options = decision.verdict === "ask" ? [...decision.options] : [];
    const ask: Ask = {
      id: "1",
      kind: "permission",
      title: "Allow Write?",
      tool: "Write",
      callId: "c",
      options,
      body: { kind: "text", text: "" },
      claims: [{ action: "write", target }],
    };
    expect(answersAsk("Write", ask)).toBe(false);
    const always: Ask["options"][number] = { id: "always", label: "", verdict: "allow", rule: "Write" };
    expect(answersAsk("Write", { ...ask, options: [always] })).toBe(true);
  });
});

test("reading a protected path inside the workspace goes unasked", () => {
  const claims: Claim[] = [{ action: "read", target }];
  const paths = new Map([[target, inside(target)]]);
  const traits = { readOnly: true, concurrent: true, replay: "safe" } as const;
  expect(decide({ tool: "Read", traits, claims, mode: "default", rules: noRules, paths })).toMatchObject({
    verdict: "allow",
  });
});
