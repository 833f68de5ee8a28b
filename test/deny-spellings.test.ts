// Deny is final in every spelling: what a rule denies is never allowed, whatever stands between, around or before its
// words, in every mode and under every allow rule. And what is not denied is not asked about because of it.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decide, noRules, type Rules } from "../keel/src/policy/decide.ts";
import { judgeCommand } from "../keel/src/policy/judge-command.ts";
import { type PermissionRule, parseRule } from "../keel/src/policy/rules.ts";
import { carefulTraits } from "../keel/src/ports/define-tool.ts";
import type { PermissionMode } from "../keel/src/protocol/settings.ts";
import { analyse } from "../keel/src/shell/meaning/analyse.ts";
import { openGrammar } from "../keel/src/workspace/processes/grammar.ts";
import { chanceOf } from "./differential/generate.ts";
import { generateSpelling, programs } from "./differential/spellings.ts";
import { countOf, seed } from "./support/budget.ts";
import { note } from "./support/notes.ts";
import { verifies } from "./support/verifies.ts";

const worldIn = (cwd: string) => ({ cwd, home: "/h", roots: ["/p"], isTrusted: true });
const grammar = openGrammar();
const ruleOf = (words: string): PermissionRule => {
  const parsed = parseRule(words, "user");
  if (!parsed) throw new Error(`not a rule: ${words}`);
  return parsed;
};

/** A command read once, and decided under any rules. */
async function readOnce(
  command: string,
  cwd = "/p",
): Promise<(mode: PermissionMode, rules: Partial<Rules>) => string> {
  const world = worldIn(cwd);
  const tree = await grammar.parse(command);
  const judge = judgeCommand({
    text: command,
    analysis: analyse(command, world, tree),
    world,
    paths: new Map(),
  });
  return (mode, rules) =>
    decide({
      tool: "Bash",
      traits: carefulTraits,
      claims: [{ action: "execute", target: command }],
      mode,
      rules: { ...noRules, ...rules },
      paths: new Map(),
      commands: new Map([[command, judge]]),
      world,
    }).verdict;
}

const broad = [...new Set(Object.keys(programs).map((program) => `Bash(${program}:*)`))].map(ruleOf);
const situations: readonly { mode: PermissionMode; allow: readonly PermissionRule[] }[] = [
  { mode: "default", allow: [] },
  { mode: "default", allow: broad },
  { mode: "default", allow: [ruleOf("Bash(*)")] },
  { mode: "acceptEdits", allow: broad },
  { mode: "bypassPermissions", allow: [] },
];

const count = countOf("deny-spellings");

test("a denied command never runs, however it is spelled", { timeout: 120_000 + count * 20 }, async () => {
  verifies("G29");
  const passed: string[] = [];
  const seen = { deny: 0, ask: 0 };
  const first = seed();
  for (let at = 0; at < count; at++) {
    const { rule, command } = generateSpelling(chanceOf(first + at));
    // Every other one where an earlier command left the shell.
    const decided = await readOnce(command, at % 2 === 0 ? "/p" : "/p/sub/deep");
    const deny = [ruleOf(rule)];
    for (const { mode, allow } of situations) {
      const verdict = decided(mode, { allow, deny });
      if (verdict === "allow") passed.push(`${mode}, ${rule}: ${command}`);
      else seen[verdict === "deny" ? "deny" : "ask"] += 1;
    }
  }
  note("counts", `${count} spellings: ${passed.length} run, ${seen.deny} denied, ${seen.ask} asked`);
  expect(passed.slice(0, 40)).toEqual([]);
  // Most are known for what they are, and not only doubted.
  expect(seen.deny).toBeGreaterThan(seen.ask);
});

const ordinaryRules = [
  "git push",
  "npm publish",
  "npm run deploy",
  "docker compose down",
  "kubectl delete",
  "terraform destroy",
  "gh pr merge",
  "cargo publish",
  "aws s3 rm",
  "rm -rf",
].map((words) => ruleOf(`Bash(${words}:*)`));

test("ten ordinary deny rules make questions of few of 200 ordinary commands", async () => {
  const commands = readFileSync(new URL("fixtures/commands/ordinary.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "");
  expect(commands).toHaveLength(200);
  const asked: string[] = [];
  for (const command of commands) {
    const decided = await readOnce(command);
    // Without the rules each of them runs.
    expect(decided("bypassPermissions", {}), command).toBe("allow");
    if (decided("bypassPermissions", { deny: ordinaryRules }) !== "allow") asked.push(command);
  }
  note("counts", `${asked.length} of ${commands.length} ordinary commands are asked about`);
  expect(asked).toEqual([]);
});
