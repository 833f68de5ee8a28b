import { describe, expect, test } from "vitest";
import { openTestSession } from "../../../test/support/test-session.ts";
import { changeTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { carefulTraits } from "../ports/define-tool.ts";
import type { PathFacts } from "../ports/workspace.ts";
import { type PermissionMode, permissionModeSchema } from "../protocol/settings.ts";
import type { Claim } from "../protocol/tool.ts";
import { analyse } from "../shell/meaning/analyse.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { decide, noRules, type PolicyFacts, type Rules } from "./decide.ts";
import { judgeCommand } from "./judge-command.ts";
import { type PermissionRule, parseRule } from "./rules.ts";

const context = { cwd: "/p", home: "/h", roots: ["/p"], isTrusted: true };
const inside = (path: string): PathFacts => ({ path, exists: true, kind: "file", root: "/p", links: false });
const outside = (path: string): PathFacts => ({ ...inside(path), root: undefined });
const rule = (text: string): PermissionRule => {
  const parsed = parseRule(text, "user");
  if (!parsed) throw new Error(`not a rule: ${text}`);
  return parsed;
};

/** A call that writes, reads, fetches or uses something. */
function facts(claims: readonly Claim[], more: Partial<PolicyFacts> = {}): PolicyFacts {
  const paths = new Map(
    claims.map(({ target }) => [target, target.startsWith("/p") ? inside(target) : outside(target)]),
  );
  return {
    tool: "Tool",
    traits: carefulTraits,
    claims,
    mode: "default",
    rules: noRules,
    paths,
    world: context,
    ...more,
  };
}
const command = (text: string, more: Partial<PolicyFacts> = {}): PolicyFacts =>
  facts([{ action: "execute", target: text }], {
    tool: "Bash",
    commands: new Map([
      [
        text,
        judgeCommand({ text, analysis: analyse(text, context, undefined), world: context, paths: new Map() }),
      ],
    ]),
    ...more,
  });

describe("modes are a table", () => {
  const read = facts([{ action: "read", target: "/p/a" }], {
    tool: "Read",
    traits: { ...carefulTraits, readOnly: true },
  });
  const readAway = facts([{ action: "read", target: "/etc/a" }], {
    tool: "Read",
    traits: { ...carefulTraits, readOnly: true },
  });
  const write = facts([{ action: "write", target: "/p/a" }], { tool: "Write" });
  const writeAway = facts([{ action: "write", target: "/q/a" }], { tool: "Write" });
  const protectedWrite = facts([{ action: "write", target: "/p/.git/config" }], { tool: "Write" });
  const run = command("make");
  const runProtected = command("echo x > .git/hooks/pre-commit");
  test.each<[PermissionMode, string]>([
    ["default", "allow ask ask ask ask ask ask"],
    ["acceptEdits", "allow ask allow ask ask ask ask"],
    ["plan", "allow ask deny deny deny deny deny"],
    ["dontAsk", "allow deny deny deny deny deny deny"],
    ["bypassPermissions", "allow allow allow allow ask allow ask"],
    ["auto", "allow ask ask ask ask ask ask"],
  ])(
    "%s: read, read outside, write, write outside, write what is protected, run, run into what is protected: %s",
    (mode, expected) => {
      verifies("S0.80", "S4.44", "G33");
      const calls = [read, readAway, write, writeAway, protectedWrite, run, runProtected];
      expect(calls.map((call) => decide({ ...call, mode }).verdict).join(" ")).toBe(expected);
    },
  );

  test("the explicit override lifts the question about protected paths, and nothing else", () => {
    const rules: Rules = { ...noRules, protectedPaths: "allowed" };
    expect(decide({ ...protectedWrite, rules }).verdict).toBe("ask");
    expect(decide({ ...protectedWrite, rules, mode: "acceptEdits" }).verdict).toBe("allow");
    expect(decide({ ...runProtected, rules, mode: "bypassPermissions" }).verdict).toBe("allow");
  });

  test("a tool that claims nothing and changes nothing is not asked about; any other is", () => {
    expect(decide(facts([], { traits: { ...carefulTraits, readOnly: true } })).verdict).toBe("allow");
    expect(decide(facts([])).verdict).toBe("ask");
  });

  test("a command that nobody has looked at is asked about, and refused where nobody is asked", () => {
    const unseen = facts([{ action: "execute", target: "ls" }], { tool: "Bash" });
    expect(decide(unseen)).toMatchObject({
      verdict: "ask",
      because: "it is not understood: nobody has looked at it",
    });
    expect(decide({ ...unseen, mode: "dontAsk" }).verdict).toBe("deny");
    expect(
      decide({ ...unseen, rules: { ...noRules, deny: [rule("Bash(rm:*)")] }, mode: "bypassPermissions" })
        .verdict,
    ).toBe("ask");
  });
});

describe("a reason", () => {
  test("names the rule and where it stands", () => {
    const write = facts([{ action: "write", target: "/p/a" }], { tool: "Write" });
    const because = (rules: Partial<Rules>) => decide({ ...write, rules: { ...noRules, ...rules } }).because;
    expect(because({ deny: [rule("Edit(./a)")] })).toBe("the rule Edit(./a) (user) denies it");
    expect(because({ ask: [rule("Write")] })).toBe("the rule Write (user) asks");
    expect(because({ allow: [rule("Write")] })).toBe("the rule Write (user) allows it");
    expect(because({})).toBe("nothing allows it yet");
  });

  test("says what a command leaves open", () => {
    const grammarless = (text: string) => decide(command(text)).because;
    expect(grammarless("ls 'a")).toBe("it is not understood: a single quote is not closed");
    expect(grammarless("f() { ls; }")).toBe("it defines the function f");
  });
});

describe("a rule about a path", () => {
  const linked = new Map([["/p/e", { ...inside("/p/.env"), passed: ["/p/e"], links: true }]]);
  const read = facts([{ action: "read", target: "/p/e" }], {
    tool: "Read",
    traits: { ...carefulTraits, readOnly: true },
    paths: linked,
  });
  test("denies by where a link leads, and by the link's own name", () => {
    expect(decide({ ...read, rules: { ...noRules, deny: [rule("Read(./.env)")] } }).verdict).toBe("deny");
    expect(decide({ ...read, rules: { ...noRules, deny: [rule("Read(./e)")] } }).verdict).toBe("deny");
  });

  test("allows by where a link leads only", () => {
    const away = new Map([["/p/e", outside("/etc/passwd")]]);
    expect(decide({ ...read, paths: away, rules: { ...noRules, allow: [rule("Read(./e)")] } }).verdict).toBe(
      "ask",
    );
    expect(
      decide({ ...read, paths: away, rules: { ...noRules, allow: [rule("Read(//etc/**)")] } }).verdict,
    ).toBe("allow");
  });
});

test("deny is final, also where a hook and whoever is asked would allow it, in every mode", async () => {
  verifies("G29");
  for (const permissionMode of permissionModeSchema.options) {
    const trace: string[] = [];
    const { say, all } = await openTestSession({
      tools: [changeTool(trace)],
      rules: { ...noRules, deny: [rule("Change")], allow: [rule("Change")] },
      hooks: { beforeTool: async () => ({ decision: { verdict: "allow", reason: "" }, context: [] }) },
      settings: { permissionMode },
      answer: () => ({ verdict: "allow" }),
      script: { replies: [reply(toolUse("Change", { at: "1" }, "c1")), reply("Done.")] },
    });
    await say("go");
    expect(trace).toEqual([]);
    expect(all("tool.finished")).toMatchObject([{ denied: { by: "rule" } }]);
  }
});
