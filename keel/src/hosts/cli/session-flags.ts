/** The options of a session as flags: what the parser and the help know of them, and what their values mean. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isObject, parseJson } from "../../kernel/json.ts";
import {
  type FlagDoor,
  flagAt,
  fromPlain,
  type OptionRow,
  type SpelledFlag,
  type ValueKind,
} from "../../protocol/option-row.ts";
import { rowsOf, type SessionOptions } from "../../protocol/options.ts";
import {
  amount,
  type CliOption,
  type CliOptions,
  oneOf,
  splitList,
  usage,
  wholeNumber,
} from "./arguments.ts";

/** What the parser found, by the names of flags. */
export type FlagValues = Readonly<Record<string, boolean | string | readonly string[] | undefined>>;

const listed: readonly ValueKind[] = ["rules", "names", "joined", "folders", "servers", "tools", "plugins"];

export const flagsOf = (door: FlagDoor): CliOptions =>
  Object.fromEntries(
    rowsOf().flatMap(([, row]): [string, CliOption][] => {
      const flag = flagAt(door, row);
      return flag === undefined ? [] : [[flag.name, cliOption(row, flag)]];
    }),
  );

function cliOption({ form: { kind }, says }: OptionRow, { aliases, short, value }: SpelledFlag): CliOption {
  const isFlag = kind === "flag" || kind === "off";
  return {
    kind: isFlag ? "flag" : listed.includes(kind) ? "list" : "text",
    says,
    ...(value === undefined ? {} : { value }),
    ...(short === undefined ? {} : { short }),
    aliases,
  };
}

/** Throws a usage fault that names the flag, for a value that is none. */
export async function readFlags(door: FlagDoor, values: FlagValues, cwd: string): Promise<SessionOptions> {
  const read = rowsOf().map(async ([name, row]) => {
    const flag = flagAt(door, row)?.name;
    if (flag === undefined) return [];
    const plain = await readFlag(values[flag], row, { door, flag, cwd });
    return plain === undefined ? [] : [[name, fromPlain(row.form, plain)] as const];
  });
  // Each value is of the kind that its row says.
  return Object.fromEntries((await Promise.all(read)).flat()) as SessionOptions;
}

type Flag = { readonly door: FlagDoor; readonly flag: string; readonly cwd: string };

async function readFlag(given: FlagValues[string], { form }: OptionRow, at: Flag): Promise<unknown> {
  if (typeof given === "boolean") return given;
  if (typeof given !== "string") return readList(given ?? [], form, at);
  switch (form.kind) {
    case "count":
      return wholeNumber(at.flag, given, form.min ?? 0);
    case "amount":
      return amount(at.flag, given);
    case "choice":
    case "thinking":
      return oneOf(at.flag, given, form.choices ?? []);
    case "object":
      return objectIn(given, at);
    case "settings":
      return settingsIn(given, at);
    case "schema":
      return objectIn(await inlineOrFile(given, at), at);
    default:
      return given;
  }
}

async function readList(
  given: readonly string[],
  { kind, choices }: OptionRow["form"],
  at: Flag,
): Promise<unknown> {
  if (kind === "rules") return splitList(given);
  if (kind === "folders") return [...given];
  if (given.length === 0) return undefined;
  switch (kind) {
    case "joined":
      return splitList(given).join(",") || undefined;
    case "servers":
      return Object.assign({}, ...(await Promise.all(given.map((one) => serversIn(one, at)))));
    case "names":
      return splitList(given).map((name) => (choices ? oneOf(at.flag, name, choices) : name));
    case "tools":
      return splitList(given);
    default:
      return [...given];
  }
}

async function settingsIn(given: string, { flag, cwd }: Flag): Promise<string | Record<string, unknown>> {
  if (!isInline(given)) return path.resolve(cwd, given);
  const { readInlineSettings } = await import("../../app/maintenance/configure.ts");
  const read = await readInlineSettings(given);
  if (read.ok) return read.value;
  throw usage(`--${flag} is not JSON: ${read.error}.`);
}

/** With or without the name around them, as people write them; SDKs write it. */
async function serversIn(given: string, at: Flag): Promise<Record<string, unknown>> {
  const found = objectIn(await inlineOrFile(given, at), at);
  if (isObject(found["mcpServers"])) return found["mcpServers"];
  if (at.door === "executable") throw usage(`--${at.flag} has no "mcpServers".`);
  return found;
}

const isInline = (text: string): boolean => text.trimStart().startsWith("{");

/** Far more than a prompt or a schema has. */
const maxFileBytes = 4 * 1024 * 1024;

/** Inline when it starts as an object does, otherwise the name of a file. */
async function inlineOrFile(given: string, { flag, cwd }: Flag): Promise<string> {
  return isInline(given) ? given : readTextFile(flag, path.resolve(cwd, given));
}

export async function readTextFile(flag: string, file: string): Promise<string> {
  const content = await readFile(file).catch(() => undefined);
  if (content === undefined) throw usage(`--${flag}: the file ${file} cannot be read.`);
  if (content.length > maxFileBytes) throw usage(`--${flag}: ${file} is too long.`);
  return content.toString("utf8");
}

function objectIn(text: string, { flag }: Flag): Record<string, unknown> {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw usage(value === undefined ? `--${flag} is not JSON.` : `--${flag} takes an object in JSON.`);
}
