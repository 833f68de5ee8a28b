/** Decisions about shell commands, as a session makes them: both readers, rules, proofs and mode. */
import { noRules, type Rules } from "../../keel/src/policy/decide.ts";
import { explainWith } from "../../keel/src/policy/explain.ts";
import { parseRule } from "../../keel/src/policy/rules.ts";
import type { Grammar } from "../../keel/src/ports/shell.ts";
import { openGrammar } from "../../keel/src/workspace/processes/grammar.ts";
import { timeEach } from "../decisions.ts";
import { runProgram } from "../program.ts";

const rules: Rules = {
  ...noRules,
  allow: ["Bash(npm run test:*)", "Bash(git commit:*)", "Edit(./src/**)"].flatMap(
    (text) => parseRule(text) ?? [],
  ),
  ask: ["Bash(git push:*)"].flatMap((text) => parseRule(text) ?? []),
  deny: ["Bash(rm -rf:*)", "Bash(curl:*)", "Read(./.env)"].flatMap((text) => parseRule(text) ?? []),
};

await runProgram(async (given: { file: string }) => {
  const grammar = openGrammar();
  const watched: Grammar = {
    parse: async (text) => {
      const tree = await grammar.parse(text);
      if (!tree && text.length < 100) throw new Error(`The grammar did not see ${text}`);
      return tree;
    },
  };
  const place = { cwd: "/srv/project", home: "/home/dev", roots: ["/srv/project"], trusted: true };
  return timeEach(given, async (command) => {
    const question = { tool: "Bash", input: { command }, ...place, mode: "default" as const };
    await explainWith(watched, { ...question, rules, readOnlyAuto: true });
  });
});
