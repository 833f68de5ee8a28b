/** `keel plugin`: adds a plugin after showing what it brings, lists those that were added, and removes them. */

import { oneWord } from "../../../app/flags/arguments.ts";
import {
  listPlugins,
  offerPlugin,
  type PluginReport,
  removePlugin,
} from "../../../app/maintenance/plugins.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { CommandRun } from "../command.ts";
import { hasPerson } from "../terminal/answer-asks.ts";
import { confirms } from "../terminal/terminal.ts";

export const add: CommandRun<{ yes: boolean }> = async ({ values, positionals }, context) => {
  const given = oneWord(positionals, "Give one plugin: a folder, git+URL or npm:NAME.");
  const stop = new AbortController();
  const release = context.signals.take(() => stop.abort());
  try {
    const { report, accept, refuse } = await offerPlugin(context, given, stop.signal);
    context.out.write(sayReport(report));
    const isAsked = !values.yes && hasPerson(context);
    if (isAsked && !(await confirms(context, "Add this plugin? [no] > ", stop.signal))) {
      await refuse();
      context.err.line("Not added.");
      return exitCodes.turnFailed;
    }
    await accept();
    context.err.line(`Added: ${visible(report.name)}`);
    return exitCodes.ended;
  } finally {
    release();
  }
};

export const list: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const plugins = await listPlugins(context);
  if (values.json) context.out.line(toLine(plugins));
  else if (plugins.length === 0) context.err.line("No plugin was added.");
  else
    for (const plugin of plugins)
      context.out.write(
        "why" in plugin ? `${visible(plugin.name)}: left out. ${visible(plugin.why)}\n` : sayReport(plugin),
      );
};

export const remove: CommandRun = async ({ positionals }, context) => {
  const name = oneWord(positionals, "Give the name of one plugin.");
  if (await removePlugin(context, name)) {
    context.err.line(`Removed: ${visible(name)}`);
    return exitCodes.ended;
  }
  context.err.line(`keel: no plugin called ${visible(name)} was added.`);
  return exitCodes.turnFailed;
};

function sayReport(report: PluginReport): string {
  const rows: [string, readonly string[]][] = [
    ["commands", report.commands.map((name) => `/${name}`)],
    ["skills", report.skills],
    ["agents", report.agents],
    ["output styles", report.styles],
    ["hooks, which run programs", report.hooks],
    ["MCP servers, which run programs", report.servers],
    ["tools, commands and panels by a program of its own", report.extension],
    ["problems", report.problems],
  ];
  return [
    `${report.name}${report.version === undefined ? "" : ` ${report.version}`} (${report.from})`,
    ...(report.description === undefined ? [] : [`  ${report.description}`]),
    ...rows.flatMap(([what, all]) =>
      all.length === 0 ? [] : [`  ${what}:`, ...all.map((one) => `    ${one}`)],
    ),
  ]
    .map((line) => `${visible(line)}\n`)
    .join("");
}
