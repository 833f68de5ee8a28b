/** Calls on record decided again under other rules, as `keel permissions backtest` does it, with reading them. */
import { readFile } from "node:fs/promises";
import { pastCalls } from "../../keel/src/app/maintenance/past-calls.ts";
import { backtest } from "../../keel/src/policy/backtest.ts";
import { noRules, type Rules } from "../../keel/src/policy/decide.ts";
import type { CallOnRecord, PastCall } from "../../keel/src/policy/decide-again.ts";
import { parseRule } from "../../keel/src/policy/rules.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { openGrammar } from "../../keel/src/workspace/processes/grammar.ts";
import { runProgram } from "../program.ts";

const read = (...texts: string[]) => texts.flatMap((text) => parseRule(text) ?? []);
const rules: Rules = {
  ...noRules,
  allow: read("Bash(npm run test:*)", "Bash(git commit:*)", "Bash(make:*)"),
  ask: read("Bash(git push:*)"),
  deny: read("Bash(rm -rf:*)", "Bash(curl:*)"),
};

await runProgram(async ({ file, calls: written }: { file: string; calls: number }) => {
  const startedAt = performance.now();
  const sessions = new Map<string, Durable[]>();
  for (const line of (await readFile(file, "utf8")).split("\n")) {
    const event: Durable = JSON.parse(line);
    const events = sessions.get(event.session) ?? [];
    events.push(event);
    sessions.set(event.session, events);
  }
  const grammar = openGrammar();
  const known = new Map<string, CallOnRecord>();
  const past: PastCall[] = [];
  for (const [id, events] of sessions)
    past.push(...(await pastCalls({ id, events, agents: [] }, { rules, grammar, known })));
  const { calls } = backtest(past, { tried: [rules] });
  if (calls < written) throw new Error(`${calls} calls of ${written} were found.`);
  return { whole: [performance.now() - startedAt] };
});
