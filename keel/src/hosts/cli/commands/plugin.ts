/** `keel plugin`: adds a plugin after showing what it brings, lists those that were added, and removes them. */

import {
  listPlugins,
  offerPlugin,
  type PluginReport,
  removePlugin,
} from "../../../app/maintenance/plugins.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { usage } from "../arguments.ts";
import type { Context } from "../context.ts";
import { hasPerson } from "../terminal/answer-asks.ts";
import { askLine } from "../terminal/terminal.ts";

type PluginArguments<V> = { readonly values: V; readonly positionals: readonly string[] };

export async function add(
  { values, positionals }: PluginArguments<{ yes: boolean }>,
  context: Context,
): Promise<number> {
  const [given, ...more] = positionals;
  if (given === undefined || more.length > 0) throw usage("Give one plugin: a folder, git+URL or npm:NAME.");
  const stop = new AbortController();
  const release = context.signals.take(() => stop.abort());
  try {
    const { report, accept, refuse } = await offerPlugin(context, given, stop.signal);
    context.out.write(sayReport(report));
    if (!values.yes && hasPerson(context)) {
      const line = await askLine(context, "Add this plugin? [no] > ", stop.signal);
      if (!["y", "yes"].includes(line?.trim().toLowerCase() ?? "")) {
        await refuse();
        context.err.line("Not added.");
        return exitCodes.turnFailed;
      }
    }
    await accept();
    context.err.line(`Added: ${visible(report.name)}`);
    return exitCodes.ended;
  } finally {
    release();
  }
}

export async function list(
  { values }: PluginArguments<{ json: boolean }>,
  context: Context,
): Promise<number> {
  const plugins = await listPlugins(context);
  if (values.json) context.out.line(toLine(plugins));
  else if (plugins.length === 0) context.err.line("No plugin was added.");
  else
    for (const plugin of plugins)
      context.out.write(
        "why" in plugin ? `${visible(plugin.name)}: left out. ${visible(plugin.why)}\n` : sayReport(plugin),
      );
  return exitCodes.ended;
}

export async function remove({ positionals }: PluginArguments<object>, context: Context): Promise<number> {
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw usage("Give the name of one plugin.");
  if (await removePlugin(context, name)) {
    context.err.line(`Removed: ${visible(name)}`);
    return exitCodes.ended;
  }
  context.err.line(`keel: no plugin called ${visible(name)} was added.`);
  return exitCodes.turnFailed;
}

function sayReport(report: PluginReport): string {
  const rows: [string, readonly string[]][] = [
    ["commands", report.commands.map((name) => `/${name}`)],
    ["skills", report.skills],
    ["agents", report.agents],
    ["output styles", report.styles],
    ["hooks, which run programs", report.hooks],
    ["MCP servers, which run programs", report.servers],
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
