/** `keel permissions`: rules with their sources, and what they mean for a command. Nothing is run. */

import path from "node:path";
import { oneWord, usage } from "../../../app/flags/arguments.ts";
import { type Explained, openExplainer } from "../../../app/maintenance/explain.ts";
import {
  addPermission,
  listRules,
  removePermission,
  type SettingsRuleRow,
} from "../../../app/maintenance/permissions.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { lineReader } from "../../../transport/lines.ts";
import { type CommandRun, type TargetValues, targetOf } from "../command.ts";
import type { Context } from "../context.ts";
import { sayWritten } from "../print/outcome.ts";

export const list: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const { rows, notices } = await listRules(context);
  for (const { text } of notices) context.err.line(`keel: ${oneLine(text)}`);
  if (values.json) context.out.line(toLine(rows));
  else for (const row of rows) context.out.line(sayRow(row));
};

export const add: CommandRun<TargetValues & { deny: boolean; ask: boolean }> = async (
  { values, positionals },
  context,
) => {
  if (values.deny && values.ask) throw usage("Name one of --deny and --ask.");
  const effect = values.deny ? "deny" : values.ask ? "ask" : "allow";
  const rule = oneRule(positionals);
  const written = await addPermission(context, { rule, list: effect, to: targetOf(values) });
  sayWritten(written, context);
  if (written.danger !== undefined) context.err.line(`keel: mind that ${oneLine(written.danger)}.`);
};

export const remove: CommandRun<TargetValues> = async ({ values, positionals }, context) => {
  const isNamed = values.user || values.project || values.local;
  const from = isNamed ? [targetOf(values)] : (["user", "project", "local"] as const);
  const rule = oneRule(positionals);
  const removed = await removePermission(context, { rule, from });
  if (removed.length === 0) throw usage(`No settings of yours or of this project have the rule ${rule}.`);
  for (const { file, lists } of removed)
    context.err.line(`Removed from ${lists.join(" and ")} in ${oneLine(file)}.`);
};

/** Ends with 1 when a verdict is not the expected one. */
export const test: CommandRun<{ json: boolean }> = async ({ values, positionals }, context) => {
  const { testRules } = await import("../../../app/maintenance/rule-tests.ts");
  const [file, ...others] = positionals;
  if (others.length > 0) throw usage("Give one file with the expected verdicts.");
  const named = file === undefined ? undefined : path.resolve(context.cwd, file);
  const { tests, problems } = await testRules(context, named);
  for (const problem of problems) context.err.line(`keel: ${oneLine(problem)}`);
  const wrong = tests.filter(({ isMet }) => !isMet);
  if (values.json) context.out.line(toLine(tests));
  else {
    for (const { what, line, expected, found, because } of wrong) {
      const place = line === undefined ? "" : `line ${line}: `;
      const words = `${oneLine(what)}: expected ${expected}, is ${found}, because ${oneLine(because)}`;
      context.out.line(`${place}${words}`);
    }
    context.out.line(`${tests.length - wrong.length} of ${tests.length} as expected.`);
  }
  // A rule that is none would pass for one that holds.
  return wrong.length + problems.length === 0 ? exitCodes.ended : exitCodes.turnFailed;
};

export const explain: CommandRun<{
  json: boolean;
  batch: boolean;
  "with-settings": boolean;
  session: string | undefined;
}> = async ({ values, positionals }, context) => {
  if (values.session !== undefined) {
    if (values.batch || values["with-settings"]) throw usage("--session is about what was decided then.");
    return (await import("./decisions.ts")).explainDecisions(
      { session: values.session, calls: positionals, json: values.json },
      context,
    );
  }
  const from = values["with-settings"] ? "settings" : "nothing";
  if (values.batch) {
    if (positionals.length > 0) throw usage("--batch reads its questions on standard input.");
    return explainBatch(context, from);
  }
  const command = positionals.join(" ");
  if (command.trim() === "") throw usage("Give the command after --.");
  const explainer = await openExplainer(context, from);
  for (const problem of explainer.problems) context.err.line(`keel: ${oneLine(problem)}`);
  const explained = await explainer.explain({ input: { command } });
  context.out.line(values.json ? toLine(withoutProblems(explained)) : sayExplained(explained));
  return exitCodes.ended;
};

/** More than any command that a model sends. */
const maxLineBytes = 16 * 1024 * 1024;
/** A reader that lags is waited for: answers must not fill the memory. */
const maxWaitingBytes = 1024 * 1024;

async function explainBatch(context: Context, from: "nothing" | "settings"): Promise<number> {
  const explainer = await openExplainer(context, from);
  for (const problem of explainer.problems) context.err.line(`keel: ${oneLine(problem)}`);
  const reader = lineReader({ maxBytes: maxLineBytes });
  const answerAll = async (reads: ReturnType<typeof reader.push>): Promise<void> => {
    for (const read of reads) {
      if (read.ok && read.line.trim() === "") continue;
      const { line, problems } = read.ok
        ? await explainer.answer(read.line)
        : { line: { id: null, error: read.fault.message }, problems: [] };
      for (const problem of problems) context.err.line(`keel: ${oneLine(problem)}`);
      context.out.line(toLine(line));
      if (context.out.waitingBytes > maxWaitingBytes) await context.out.drained();
    }
  };
  for await (const chunk of context.input) {
    await answerAll(reader.push(chunk));
    if (context.out.isClosed) return exitCodes.outputClosed;
  }
  await answerAll(reader.end());
  return exitCodes.ended;
}

const oneRule = (positionals: readonly string[]): string =>
  oneWord(positionals, "Give one rule, in quotes where it has blanks.");

function sayRow({ list: effect, rule, source, file, state, why, danger }: SettingsRuleRow): string {
  const from = file === undefined ? source : `${source}: ${file}`;
  const left = state === "counts" ? "" : `, left out: ${why ?? "it is not a rule"}`;
  const mind = danger === undefined ? "" : `; mind that ${oneLine(danger)}`;
  return `${effect.padEnd(5)}  ${oneLine(rule)}  (${oneLine(from)}${left}${mind})`;
}

function sayExplained({ verdict, because, programs, wrapped, flags }: Explained): string {
  const effects = [
    flags.readOnly ? "only reads" : "",
    flags.writesOutsideCwd ? "writes outside the folder" : "",
    flags.network ? "uses the network" : "",
    flags.destructive ? "destroys" : "",
  ].filter(Boolean);
  return [
    `${verdict}: ${oneLine(because)}`,
    `programs: ${oneLine(programs.join(", ") || "none")}`,
    ...(wrapped.length > 0 ? [`started by those: ${oneLine(wrapped.join(", "))}`] : []),
    ...(effects.length > 0 ? [`it ${effects.join(", ")}`] : []),
  ].join("\n");
}

const withoutProblems = ({ problems: _, ...explained }: Explained): Omit<Explained, "problems"> => explained;
const oneLine = (text: string): string => visible(text).replaceAll("\n", "⟨line break⟩");
