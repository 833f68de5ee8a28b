// The corpus of commands and rules, scored as its own page says. Nothing is run: verdicts are explained, by text alone.
import { beforeAll, describe, expect, test } from "vitest";
import { noRules, type Rules } from "../../keel/src/policy/decide.ts";
import { type Explanation, explain } from "../../keel/src/policy/explain.ts";
import { parseRule } from "../../keel/src/policy/rules.ts";
import { openGrammar } from "../../keel/src/workspace/processes/grammar.ts";
import { verifies } from "../support/verifies.ts";
import { type CommandRow, readBashRows } from "./bash-rows.ts";

const { commands, rules } = readBashRows();
const grammar = openGrammar();

async function explained(command: string, given: Rules, readOnlyAuto: boolean): Promise<Explanation> {
  const place = { cwd: "/srv/project", home: "/home/dev", roots: ["/srv/project"], trusted: true };
  const question = { tool: "Bash", input: { command }, ...place, mode: "default" as const };
  return explain({ ...question, rules: given, readOnlyAuto }, await grammar.parse(command));
}

test("the corpus of commands is here", () => {
  expect(commands.length).toBeGreaterThan(400);
});

describe("the commands of the corpus", () => {
  const judged: { row: CommandRow; verdict: Explanation }[] = [];
  beforeAll(async () => {
    for (const row of commands) judged.push({ row, verdict: await explained(row.command, noRules, true) });
  });
  const of = (autoApprove: CommandRow["autoApprove"]) =>
    judged.filter(({ row }) => row.autoApprove === autoApprove);
  const ids = (found: readonly { row: { id: string } }[]): string[] => found.map(({ row }) => row.id);

  test("never run without a question where they must not", () => {
    verifies("G23");
    expect(of("mustNot").length).toBeGreaterThan(300);
    expect(ids(of("mustNot").filter(({ verdict }) => verdict.verdict === "allow"))).toEqual([]);
  });

  test("run without a question where they must", () => {
    verifies("G24");
    const asked = of("must").filter(({ verdict }) => verdict.verdict !== "allow");
    expect(asked.length / of("must").length, ids(asked).join(" ")).toBeLessThanOrEqual(0.02);
  });

  test("are taken apart into the programs that they are made of", () => {
    verifies("G25");
    const differs = judged.filter(({ row, verdict }) => !isSame(row.simpleCommands, verdict.programs));
    expect(differs.length / judged.length, ids(differs).join(" ")).toBeLessThanOrEqual(0.01);
    expect(ids(differs.filter(({ verdict }) => verdict.verdict === "allow"))).toEqual([]);
  });

  test("show the programs that they would start in turn", () => {
    const differs = judged.filter(({ row, verdict }) => !isSame(row.wrapped, verdict.wrapped));
    expect(differs.length / judged.length, ids(differs).join(" ")).toBeLessThanOrEqual(0.02);
  });

  test.each(["readOnly", "writesOutsideCwd", "network", "destructive"] as const)(
    "are told apart by %s",
    (flag) => {
      const missed = judged.filter(({ row, verdict }) => row[flag] && !verdict.flags[flag]);
      const all = judged.filter(({ row }) => row[flag]);
      expect(missed.length / all.length, ids(missed).join(" ")).toBeLessThanOrEqual(0.02);
      // Only of ordinary rows is it said what they are not.
      const plain = judged.filter(({ row }) => /^benign-|^build-test$|^write-cwd$/.test(row.class));
      expect(ids(plain.filter(({ row, verdict }) => !row[flag] && verdict.flags[flag]))).toEqual([]);
    },
  );
});

describe("the rules of the corpus", () => {
  test("mean what their rows say", async () => {
    verifies("G26");
    const wrong: string[] = [];
    for (const { id, rule, kind, command, mustMatch, askOk } of rules) {
      const parsed = parseRule(rule, "user");
      const given: Rules = { ...noRules, [kind]: parsed ? [parsed] : [] };
      const { verdict } = await explained(command, given, false);
      if ((verdict === kind) !== mustMatch && !(askOk && verdict === "ask")) wrong.push(`${id}: ${verdict}`);
    }
    expect(wrong).toEqual([]);
  });
});

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  JSON.stringify([...left].sort()) === JSON.stringify([...right].sort());
