/** `keel import`: shows what another agent has set up, asks, and copies what Keel does not have yet. */

import { oneOf, usage } from "../../../app/flags/arguments.ts";
import { type ImportRow, otherAgents, planImport } from "../../../app/maintenance/import.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { hasPerson } from "../terminal/answer-asks.ts";
import { confirms } from "../terminal/terminal.ts";

export const importFrom: CommandRun<{ yes: boolean; json: boolean }> = async (
  { values, positionals },
  context,
) => {
  const [name, ...more] = positionals;
  const agent = oneOf("import", name, otherAgents);
  if (agent === undefined || more.length > 0) throw usage(`Give one of ${otherAgents.join(", ")}.`);
  const plan = await planImport(context, agent);
  if (values.json) context.out.line(toLine(plan.rows));
  else for (const row of plan.rows) context.out.line(visible(sayRow(row)));
  const count = plan.rows.filter(({ state }) => state === "new").length;
  if (count === 0) {
    context.err.line("There is nothing to copy.");
    return exitCodes.ended;
  }
  if (!values.yes && !(await isWanted(context, count))) return exitCodes.ended;
  const failures = await plan.copy();
  for (const failure of failures) context.err.line(`keel: ${visible(failure)}`);
  context.err.line(`Copied: ${count - failures.length} of ${count}.`);
  return failures.length > 0 ? exitCodes.turnFailed : exitCodes.ended;
};

/** Without somebody to ask it only shows. */
async function isWanted(context: Context, count: number): Promise<boolean> {
  if (!hasPerson(context)) {
    context.err.line("Nothing was copied; --yes copies what is new.");
    return false;
  }
  return confirms(context, `Copy ${count}? [no] > `);
}

const sayRow = ({ kind, what, from, state, why }: ImportRow): string =>
  `${state.padEnd(8)} ${kind.padEnd(12)} ${what}  (${from}${why === undefined ? "" : `; ${why}`})`;
