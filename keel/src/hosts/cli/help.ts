/** Help, made from the table of commands and from nothing else. */
import type { CliOption, CliOptions } from "../../app/flags/arguments.ts";
import type { CliCommand } from "./command.ts";

export async function helpFor(command: CliCommand, commands: readonly CliCommand[]): Promise<string> {
  const options = optionRows(await command.options());
  const parts = [`Usage: ${command.usage}`, `${command.says}.`, `Options:\n${options}`];
  const inner = commands.filter(({ name }) => command.name !== "" && name.startsWith(`${command.name} `));
  if (inner.length > 0) parts.push(`Commands:\n${commandRows(inner)}`);
  if (command.name === "") parts.push(`Commands:\n${commandRows(commands)}`, footer);
  return `${parts.join("\n\n")}\n`;
}

/** The commands that start with these words: `keel sessions`. */
export function helpForGroup(name: string, commands: readonly CliCommand[]): string {
  return `Commands:\n${commandRows(commands.filter((command) => command.name.startsWith(`${name} `)))}\n`;
}

const footer = "`keel COMMAND --help` shows the options of a command.";

function commandRows(commands: readonly CliCommand[]): string {
  return table(commands.filter(({ name }) => name !== "").map(({ name, says }) => [`keel ${name}`, says]));
}

function optionRows(options: CliOptions): string {
  return table(Object.entries(options).map(([name, option]) => [spelling(name, option), option.says]));
}

function spelling(name: string, { short, value }: CliOption): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
