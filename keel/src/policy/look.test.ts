import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realWorkspace } from "../../../test/support/real-workspace.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { carefulTraits } from "../ports/define-tool.ts";
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

async function verdictOf(root: string, command: string, rules: Partial<Rules> = {}) {
  const workspace = {
    ...realWorkspace({ cwd: root }),
    commands: {
      grammar,
      home: "/home/dev",
      isTrusted: true,
      place: nodeCommandPlace({ project: root, env: {} }),
    },
  };
  const claims = [{ action: "execute" as const, target: command }];
  const looked = await lookAt(claims, workspace);
  const facts = { tool: "Bash", traits: carefulTraits, claims, mode: "default" as const, ...looked };
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
