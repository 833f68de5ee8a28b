import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { commands } from "../hosts/cli/command-table.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { noRules } from "./decide.ts";
import { explain } from "./explain.ts";
import { ownGroups } from "./own-commands.ts";
import { parseRule } from "./rules.ts";

const grammar = openGrammar();

async function verdict(command: string): Promise<string> {
  const place = { cwd: "/srv/project", home: "/home/dev", roots: ["/srv/project"], trusted: true };
  const everything = parseRule("Bash(*)");
  if (!everything) throw new Error("no rule");
  const question = { tool: "Bash", input: { command }, ...place, mode: "bypassPermissions" as const };
  const rules = { ...noRules, allow: [everything] };
  return explain({ ...question, rules, readOnlyAuto: true }, await grammar.parse(command)).verdict;
}

test.each([
  'keel permissions add "Bash(*)"',
  "keel permissions remove x --user",
  "keel trust",
  "keel trust .",
  "keel trust add --yes",
  "keel --zq trust --yes add",
  "keel config set permissions.defaultMode bypassPermissions",
  "keel auth set anthropic < key",
  "keel plugin add ./x",
  "keel mcp add x -- ./x",
  "keel import claude --yes",
  "/usr/local/bin/keel trust add",
  "./node_modules/.bin/keel config set a b",
  "ke''el tr\\ust add",
  "$'keel' trust add",
  "KEEL trust add",
  "npx keel trust add",
  "npx -y keel@latest config set a b",
  "npm exec -- keel trust add",
  "node keel/bin/start.cjs trust add",
  "node --no-warnings /opt/keel/bin/start.cjs permissions add x",
  "node keel/src/hosts/cli/main.ts trust add",
  "sudo -u me env A=1 keel trust add",
  "bash -c 'keel trust add'",
  "some-runner keel trust add",
  "echo add | xargs keel trust",
  "echo 'keel trust add' | sh",
  "python3 -c 'import os; os.system(\"keel trust add\")'",
  "bash <<E\nkeel trust add\nE",
  "k=keel; $k trust add",
  "x='keel trust add'; $x",
  "$(echo keel) permissions add x",
  '"$KEEL" config set a b',
  "if true; then keel trust add; fi",
])("%s is asked about, whatever the mode and whatever is allowed", async (command) => {
  verifies("G26");
  expect(await verdict(command)).toBe("ask");
});

test.each([
  "keel permissions list",
  "keel permissions explain -- rm -rf x",
  "npx keel permissions list --json",
  "keel config get model",
  "keel trust status",
  "keel auth status",
  "keel mcp list",
  "keel trust --help",
  "keel -p hello",
  "keel sessions list",
  "cd keel && npm test",
  "git commit -m 'keel trust add is a question'",
  "grep -rn 'keel trust' docs",
  "node keel/build.mjs",
  "$x config",
])("%s changes nothing of Keel", async (command) => {
  expect(await verdict(command)).toBe("allow");
});

test("every command of Keel that changes what it lets run is known", async () => {
  const changing: string[] = [];
  for (const { usage } of commands) {
    const [, group = "", verb = ""] = usage.split(" ");
    const shows = Object.hasOwn(ownGroups, group) ? ownGroups[group]?.split(" ").includes(verb) : true;
    const plain = [group, /^[a-z]+$/.test(verb) ? verb : "x"].join(" ");
    expect(await verdict(`keel ${plain} y`), usage).toBe(shows ? "allow" : "ask");
    if (!shows) changing.push(`${group} ${verb}`);
  }
  expect(changing.length).toBeGreaterThan(12);
});
