import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { Grammar } from "../ports/shell.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { noRules, type Rules } from "./decide.ts";
import { type ExplainRequest, explain } from "./explain.ts";
import { type PermissionRule, parseRule } from "./rules.ts";

let grammar: Grammar;
beforeAll(() => {
  grammar = openGrammar();
});

/** Rows of words that a tab parts: what is expected, or a rule, and a command. */
const rows = (name: string): [string, string][] =>
  readFileSync(new URL(`../../../test/fixtures/commands/${name}`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => [line.slice(0, line.indexOf("\t")), line.slice(line.indexOf("\t") + 1)]);

const rule = (words: string): PermissionRule => {
  const parsed = parseRule(words);
  if (!parsed) throw new Error(`not a rule: ${words}`);
  return parsed;
};

async function verdictOf(
  command: string,
  rules: Partial<Rules>,
  more: Partial<ExplainRequest>,
): Promise<string> {
  const place = { cwd: "/srv/project", home: "/home/dev", roots: ["/srv/project"], trusted: true };
  const question = { tool: "Bash", input: { command }, ...place, mode: "default" as const };
  const tree = await grammar.parse(command);
  return explain({ ...question, rules: { ...noRules, ...rules }, readOnlyAuto: true, ...more }, tree).verdict;
}

test("a denied program is found where others run it, asked about where only the run knows, and not taken for data", async () => {
  verifies("G26", "G29");
  const wrong: string[] = [];
  for (const [expected, command] of rows("rm-is-denied.txt")) {
    const found = await verdictOf(command, { deny: [rule("Bash(rm:*)")] }, { mode: "bypassPermissions" });
    if (found !== expected) wrong.push(`${command}: ${found}, expected ${expected}`);
  }
  expect(wrong).toEqual([]);
});

test("a rule of several words is found in a text by all of them, in their order", async () => {
  const deny = [rule("Bash(git push:*)")];
  const inBypass = (command: string) => verdictOf(command, { deny }, { mode: "bypassPermissions" });
  expect(await inBypass("some-runner git push origin")).toBe("ask");
  expect(await inBypass("python3 -c 'run(\"git push\")'")).toBe("ask");
  expect(await inBypass("some-runner git pull")).toBe("allow");
  expect(await inBypass("python3 -c 'push to git'")).toBe("allow");
  expect(await inBypass("git commit -m 'git push later'")).toBe("allow");
});

test("a rule about first words does not cover options that it has not seen", async () => {
  verifies("G26");
  const allowed: string[] = [];
  for (const [words, command] of rows("not-covered.txt"))
    if ((await verdictOf(command, { allow: [rule(words)] }, { readOnlyAuto: false })) !== "ask")
      allowed.push(`${words} lets ${command} run`);
  expect(allowed).toEqual([]);
});

test("ordinary options do not need a rule of their own", async () => {
  const asked: string[] = [];
  for (const [words, command] of [
    ["Bash(git log:*)", "git log --oneline -5 --grep=/api/ --since=2.weeks"],
    ["Bash(git commit:*)", "git commit -m 'a: b' --no-verify"],
    ["Bash(git:*)", "git push origin main"],
    ["Bash(npm run test:*)", "npm run test -- --reporter=dot --outputFile=out/a.json"],
    ["Bash(pytest:*)", "pytest -x --maxfail=1 tests/unit"],
    ["Bash(cargo test:*)", "cargo test --target-dir target/x"],
    ["Bash(go test:*)", "go test -run TestA -coverprofile=cover.out ./..."],
    ["Bash(make:*)", "make test V=1 -j4"],
    ["Bash(jest:*)", "jest --config jest.config.js -t name"],
    ["Bash(tsc:*)", "tsc -p tsconfig.json --outDir dist"],
    ["Bash(docker compose up:*)", "docker compose up -d web"],
    ["Bash(poetry run pytest:*)", "poetry run pytest -x"],
    ["Bash(curl:*)", "curl -s -o /dev/null https://example.org"],
    ["Bash(tar:*)", "tar czf out.tgz src"],
  ] as const)
    if ((await verdictOf(command, { allow: [rule(words)] }, { readOnlyAuto: false })) !== "allow")
      asked.push(command);
  expect(asked).toEqual([]);
});
