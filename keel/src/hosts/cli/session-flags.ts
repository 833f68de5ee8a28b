/** The options of a session as flags: what the parser and the help know of them, and what their values mean. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isObject, parseJson } from "../../kernel/json.ts";
import {
  type FlagDoor,
  fileFlagAt,
  flagAt,
  fromPlain,
  type OptionRow,
  type SpelledFlag,
  type ValueKind,
} from "../../protocol/option-row.ts";
import { rowsOf, type SessionOptions } from "../../protocol/options.ts";
import { toolNames } from "../../protocol/tool-families.ts";
import {
  amount,
  type CliOption,
  type CliOptions,
  type OptionValues,
  oneOf,
  splitList,
  usage,
  wholeNumber,
} from "./arguments.ts";

/** What the parser found, by the names of flags. */
export type FlagValues = Readonly<Record<string, boolean | string | readonly string[] | undefined>>;

/** Beside the table of options, and known wherever a prompt or an SDK is heard. */
export const besideOptions = {
  "dangerously-skip-permissions": { kind: "flag", says: "The same as --permission-mode bypassPermissions" },
  bare: { kind: "flag", says: "No settings, instructions, skills or notes but those that are named here" },
  "disable-slash-commands": { kind: "flag", says: "No skills, and a slash at the start means nothing" },
  "exclude-dynamic-system-prompt-sections": {
    kind: "flag",
    says: "The prompt is the same in every folder",
  },
  "plugin-dir-no-mcp": { kind: "list", value: "FOLDER", says: "A plugin without its servers" },
  "replay-user-messages": { kind: "flag", says: "With stream-json: echo prompts as messages" },
  debug: {
    kind: "flag",
    short: "d",
    aliases: ["debug-to-stderr", "mcp-debug"],
    // What is shown is not chosen by name here.
    more: /^!?[a-z][\w:]*(?:,!?[a-z][\w:]*)*$/,
    says: "Say more on standard error",
  },
} as const satisfies CliOptions;

type BesideValues = OptionValues<typeof besideOptions>;

/** What people and SDKs say by flags, their words beside the table included. Throws as `readFlags` does. */
export async function readUserFlags(
  door: "cli" | "executable",
  values: FlagValues & BesideValues,
  cwd: string,
): Promise<SessionOptions> {
  // The interface has one more name for the mode in which everything is asked.
  const mode = values["permission-mode"] === "manual" ? "default" : values["permission-mode"];
  const given = await readFlags(door, { ...values, "permission-mode": mode }, cwd);
  const quiet = values["plugin-dir-no-mcp"].map((path) => ({
    type: "local" as const,
    path,
    skipMcpDiscovery: true,
  }));
  const place = values["exclude-dynamic-system-prompt-sections"]
    ? { type: "preset" as const, preset: "claude_code" as const, excludeDynamicSections: true }
    : undefined;
  return {
    ...(values.bare ? { settingSources: [] } : {}),
    ...(place ? { systemPrompt: place } : {}),
    ...given,
    ...(quiet.length > 0 ? { plugins: [...(given.plugins ?? []), ...quiet] } : {}),
    ...(values["disable-slash-commands"] ? { skills: [] } : {}),
    ...bypassOf(given, values),
  };
}

/** What stands on the command line is the word of whoever typed it. */
function bypassOf(given: SessionOptions, values: BesideValues): SessionOptions {
  const wanted = values["dangerously-skip-permissions"] || given.permissionMode === "bypassPermissions";
  return wanted ? { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true } : {};
}

const listed: readonly ValueKind[] = ["rules", "names", "joined", "folders", "servers", "tools", "plugins"];

const rule = String.raw`(?:mcp__\S+|[A-Z]\w*\(.*\)|${toolNames.join("|")}|Task|KillShell|BashOutput|LS)`;
const rules = new RegExp(`^${rule}(?:[,\\s]+${rule})*$`, "s");
/** Several values behind one flag, as other programs write them, where none of them could be a prompt. */
const moreOf: Partial<Record<ValueKind, RegExp>> = {
  rules,
  tools: rules,
  servers: /^\{|^\S+\.json$/,
  folders: /^(?:\.{1,2}\/|~\/|\/[^\s/]+\/)\S*$/,
};

export const flagsOf = (door: FlagDoor): CliOptions =>
  Object.fromEntries(
    rowsOf().flatMap(([, row]): [string, CliOption][] => {
      const flag = flagAt(door, row);
      const file = fileFlagAt(door, row);
      const says = `--${flag?.name}, from a file`;
      return [
        ...(flag === undefined ? [] : [[flag.name, cliOption(row, flag)] as [string, CliOption]]),
        ...(file === undefined ? [] : [[file, { kind: "text", value: "FILE", says }] as [string, CliOption]]),
      ];
    }),
  );

function cliOption({ form: { kind }, says }: OptionRow, { aliases, short, value }: SpelledFlag): CliOption {
  const isFlag = kind === "flag" || kind === "off";
  return {
    kind: isFlag ? "flag" : listed.includes(kind) ? "list" : "text",
    says,
    ...(value === undefined ? {} : { value }),
    ...(short === undefined ? {} : { short }),
    ...(moreOf[kind] ? { more: moreOf[kind] } : {}),
    aliases,
  };
}

/** Throws a usage fault that names the flag, for a value that is none. */
export async function readFlags(door: FlagDoor, values: FlagValues, cwd: string): Promise<SessionOptions> {
  const read = rowsOf().map(async ([name, row]) => {
    const flag = flagAt(door, row)?.name;
    if (flag === undefined) return [];
    const plain = await readFlag(await givenFor(values, row, { door, flag, cwd }), row, { door, flag, cwd });
    return plain === undefined ? [] : [[name, fromPlain(row.form, plain)] as const];
  });
  // Each value is of the kind that its row says.
  return Object.fromEntries((await Promise.all(read)).flat()) as SessionOptions;
}

/** The value of a flag, or of the file that its other spelling names. */
async function givenFor(values: FlagValues, row: OptionRow, { door, flag, cwd }: Flag) {
  const other = fileFlagAt(door, row);
  const file = other === undefined ? undefined : values[other];
  if (other === undefined || typeof file !== "string") return values[flag];
  if (values[flag] !== undefined) throw usage(`--${flag} and --${other} say the same: give one of them.`);
  return readTextFile(other, path.resolve(cwd, file));
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
