/** `keel config`: settings by name, with where each of them comes from. */

import { oneWord, usage } from "../../../app/flags/arguments.ts";
import {
  getSetting,
  listSettings,
  setSetting,
  settingsSchema,
  unsetSetting,
} from "../../../app/maintenance/configure.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { SettingRow } from "../../../protocol/inquiry.ts";
import { type CommandRun, type TargetValues, targetOf } from "../command.ts";
import { sayWritten } from "../print/outcome.ts";

export const get: CommandRun<{ json: boolean }> = async ({ values, positionals }, context) => {
  const name = oneWord(positionals, "Give the name of one setting.");
  const value = await getSetting(context, name);
  if (value === undefined) {
    context.err.line(`keel: nobody says anything about ${name}.`);
    return exitCodes.turnFailed;
  }
  context.out.line(typeof value === "string" && !values.json ? visible(value) : toLine(value));
  return exitCodes.ended;
};

export const set: CommandRun<TargetValues> = async ({ values, positionals }, context) => {
  const [name, text, ...more] = positionals;
  if (name === undefined || text === undefined || more.length > 0)
    throw usage("Give the name of a setting and its value.");
  sayWritten(await setSetting(context, { name, text, to: targetOf(values) }), context);
};

export const unset: CommandRun<TargetValues> = async ({ values, positionals }, context) => {
  const name = oneWord(positionals, "Give the name of one setting.");
  sayWritten(await unsetSetting(context, { name, from: targetOf(values) }), context);
};

export const list: CommandRun<{ json: boolean; origin: boolean }> = async ({ values }, context) => {
  const { rows, notices } = await listSettings(context);
  for (const { text } of notices) context.err.line(`keel: ${visible(text).replaceAll("\n", " ")}`);
  const shown = values.origin ? rows : rows.filter(({ state }) => state === "counts");
  if (values.json) context.out.line(toLine(shown));
  else for (const row of shown) context.out.line(values.origin ? withOrigin(row) : plain(row));
};

export const schema: CommandRun = async (_, context) => {
  context.out.line(JSON.stringify(settingsSchema(), null, 2));
};

const plain = ({ name, value }: SettingRow): string =>
  visible(`${name} = ${toLine(value)}`).replaceAll("\n", " ");

function withOrigin(row: SettingRow): string {
  const from = row.file === undefined ? row.source : `${row.source}: ${row.file}`;
  const state =
    row.state === "counts" ? "" : row.state === "overridden" ? ", overridden" : `, left out: ${row.why}`;
  return `${plain(row)}  (${visible(from)}${state})`;
}
