// What policy says of commands where they are confined: fewer questions, none of them about what must be asked, and a way
// out that is always a person's to give.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Decision, decide, noRules, type Rules } from "../keel/src/policy/decide.ts";
import { isOutside, lookAt } from "../keel/src/policy/look.ts";
import { parseRule } from "../keel/src/policy/rules.ts";
import { carefulTraits } from "../keel/src/ports/define-tool.ts";
import type { CommandSandbox } from "../keel/src/ports/sandbox.ts";
import type { Workspace } from "../keel/src/ports/workspace.ts";
import type { PermissionMode } from "../keel/src/protocol/settings.ts";
import { openGrammar } from "../keel/src/workspace/processes/grammar.ts";
import { readBashRows } from "./corpus/bash-rows.ts";
import { realWorkspace } from "./support/real-workspace.ts";
import { verifies } from "./support/verifies.ts";

const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-policy-")));
mkdirSync(path.join(cwd, "src"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const place = {
  find: async () => undefined,
  repository: async () => ({ kind: "own" as const }),
  search: async () => ({ folders: [], variables: {} }),
};
const plain: Workspace = {
  ...realWorkspace({ cwd }),
  commands: { grammar: openGrammar(), home: "/home/dev", isTrusted: true, place },
};
const sandboxed = (more: Partial<CommandSandbox> = {}): Workspace => ({
  ...plain,
  sandbox: {
    autoAllow: true,
    mayLeave: true,
    excluded: [],
    note: (_: string, violations) => violations,
    refused: () => [],
    answering: () => () => undefined,
    ...more,
  },
});

type Way = { mode?: PermissionMode; rules?: Partial<Rules>; outside?: true };

async function decided(
  command: string,
  workspace: Workspace,
  { mode = "default", rules = {}, outside }: Way = {},
): Promise<Decision> {
  const claims = [{ action: "execute" as const, target: command, ...(outside ? { outside } : {}) }];
  const held = { ...noRules, ...rules };
  return decide({
    tool: "Bash",
    traits: carefulTraits,
    claims,
    mode,
    rules: held,
    ...(await lookAt(claims, workspace, held)),
  });
}

const rule = (text: string) => [parseRule(text) ?? []].flat();

test("inside, nine of ten questions about what developers do fall away, and none about what does harm outside", async () => {
  verifies("S2.46", "G38");
  const everyday = new Set(["build-test", "write-cwd"]);
  const count = { before: 0, after: 0, harmful: 0 };
  const spared: string[] = [];
  for (const { id, class: kind, command, autoApprove, destructive, writesOutsideCwd } of readBashRows()
    .commands) {
    const { verdict } = await decided(command, sandboxed());
    if (autoApprove === "mustNot" && (destructive || writesOutsideCwd)) {
      count.harmful += 1;
      if (verdict === "allow") spared.push(id);
    }
    if (autoApprove === "mustNot" && !everyday.has(kind)) continue;
    if ((await decided(command, plain)).verdict === "allow") continue;
    count.before += 1;
    if (verdict !== "allow") count.after += 1;
  }
  expect(spared).toEqual([]);
  expect(count.harmful).toBeGreaterThan(150);
  expect(count.before).toBeGreaterThan(40);
  expect(count.after / count.before).toBeLessThanOrEqual(0.1);
});

describe("a command inside", () => {
  test("is still denied by a deny rule, and asked about by a rule that asks", async () => {
    verifies("G38");
    const deny = { deny: rule("Bash(npm publish:*)") };
    expect(await decided("npm test && npm publish", sandboxed(), { rules: deny })).toMatchObject({
      verdict: "deny",
    });
    expect(await decided("npm test", sandboxed(), { rules: { ask: rule("Bash(npm test)") } })).toMatchObject({
      verdict: "ask",
    });
    expect(
      await decided("cat .env; npm test", sandboxed(), { rules: { deny: rule("Read(.env)") } }),
    ).toMatchObject({ verdict: "deny" });
  });

  test("is asked about when it destroys, leads outside, is protected or not understood", async () => {
    for (const command of [
      "rm -rf src",
      "cp src/a ~/x",
      "echo x > .git/hooks/pre-commit",
      "echo x > .mcp.json",
      'eval "$X"',
    ])
      expect([command, (await decided(command, sandboxed())).verdict]).toEqual([command, "ask"]);
  });

  test("is asked about as ever where the settings do not spare questions", async () => {
    expect(await decided("npm test", sandboxed({ autoAllow: false }))).toMatchObject({ verdict: "ask" });
    expect(await decided("npm test", sandboxed())).toMatchObject({
      verdict: "allow",
      because: "it runs inside the sandbox",
    });
    expect(await decided("npm test", sandboxed(), { mode: "plan" })).toMatchObject({ verdict: "deny" });
  });
});

describe("a run outside", () => {
  const violations = [{ kind: "write" as const, target: "/etc/hosts" }];

  test("is a person's to allow in every mode, marked, with what was refused", async () => {
    verifies("S2.47");
    const workspace = sandboxed({ refused: () => violations });
    for (const mode of ["default", "acceptEdits", "bypassPermissions", "auto"] as const) {
      const rules = { allow: rule("Bash") };
      const decision = await decided("touch /etc/hosts", workspace, { mode, rules, outside: true });
      expect(decision).toMatchObject({ verdict: "ask", insists: true, guarded: true });
      expect(decision.because).toContain("UNSANDBOXED");
      expect(decision.because).toContain("write /etc/hosts");
    }
    expect(await decided("ls", workspace, { mode: "dontAsk", outside: true })).toMatchObject({
      verdict: "deny",
    });
    const rules = { deny: rule("Bash(touch:*)") };
    expect(await decided("touch x", workspace, { rules, outside: true })).toMatchObject({ verdict: "deny" });
  });

  test("comes without asking for it only where every command of the text is excluded", async () => {
    verifies("S2.46");
    const workspace = sandboxed({ excluded: ["docker:*", "git push *"] });
    const side = async (command: string) => ((await isOutside(command, workspace)) ? "outside" : "inside");
    for (const command of ["docker ps", "docker build . && docker push x", "git push origin main"])
      expect([command, await side(command)]).toEqual([command, "outside"]);
    for (const command of [
      "npm test",
      "docker ps; curl http://evil.example",
      "docker ps | sh",
      "docker ps && rm -rf x",
      "docker $(curl evil)",
      "eval docker ps",
      "x=docker; $x ps",
      "PATH=. docker ps",

      "dockerx ps",
      "docker ps > ~/out",
      "docker ps\nrm x",
      "(docker ps; id)",
      "if docker ps; then id; fi",
      "docker ps &id",
      "echo docker",
      "./docker ps",
    ])
      expect([command, await side(command)]).toEqual([command, "inside"]);
    // Who is outside is asked about as ever.
    expect(await decided("docker ps", workspace)).toMatchObject({ verdict: "ask" });
  });
});
