/** What a row of the table of options is made of: the form of its value, and how each door spells it. */
import * as z from "zod/mini";
import { jsonSchema } from "./message.ts";

/** How a value is written: each door reads and writes a kind in its own way. */
export type ValueKind =
  | "flag"
  /** A flag that says no: `--no-session-persistence`. */
  | "off"
  | "text"
  | "count"
  | "amount"
  | "choice"
  /** Names apart by commas or blanks: none when left out. */
  | "rules"
  /** The same, where none is something else than left out. */
  | "names"
  /** Names as one text, with commas. */
  | "joined"
  | "folders"
  | "object"
  /** Settings as an object, or the path of a file. */
  | "settings"
  | "servers"
  | "tools"
  | "thinking"
  | "plugins"
  | "schema";

/** `Value` is what the SDK takes; the schema is that of the value in a first line. */
export type OptionForm<Value> = {
  readonly kind: ValueKind;
  /** Made when it is needed: no flag and no help waits for it. */
  readonly schema: () => z.ZodMiniType;
  readonly choices?: readonly string[];
  readonly min?: number;
  /** Never there: it carries the type. */
  readonly of?: Value;
};

export type FlagDoor = "cli" | "executable" | "runner";

export type OptionRow<Value = unknown> = {
  readonly form: OptionForm<Value>;
  /** As a help shows it: `-m --model NAME`. The first name is ours, a second one that of the interface. */
  readonly spelled: string;
  readonly says: string;
  /** A second flag, of the command line and the executable, whose value is a file with the text. */
  readonly file?: string;
  /** Where the runner's flag is another one. */
  readonly runner?: string;
  /** The doors that have it beside the SDK; all when left out. */
  readonly at?: readonly FlagDoor[];
  /** In a first line, where it is another name than that of the runner's flag. */
  readonly field?: string;
  /** An SDK tells its executable in its introduction, not in an argument, or in both. */
  readonly introduced?: "only" | "also";
  /** The setting that it stands for. */
  readonly setting?: string;
};

export const row = <Value>(
  form: OptionForm<Value>,
  spelled: string,
  says: string,
  more: Omit<OptionRow, "form" | "spelled" | "says"> = {},
): OptionRow<Value> => ({ form, spelled, says, ...more });

const formOf = <Value>(
  kind: ValueKind,
  schema: OptionForm<Value>["schema"],
  more: Pick<OptionForm<Value>, "choices" | "min"> = {},
): OptionForm<Value> => ({ kind, schema, ...more });

const word = () => z.string().check(z.minLength(1));
const words = () => z.array(word());
const object = () => z.record(z.string(), jsonSchema);
const whole = (min: number) => () => z.int().check(z.minimum(min), z.maximum(1_000_000_000));
const thinkingModes = ["adaptive", "disabled"] as const;

/** Whether thinking is shown is the host's own choice. */
type ThinkingDisplay = { display?: "omitted" | "summarized" };
export type ThinkingAdaptive = { type: "adaptive" } & ThinkingDisplay;
export type ThinkingEnabled = { type: "enabled"; budgetTokens?: number } & ThinkingDisplay;
export type ThinkingDisabled = { type: "disabled" };
export type ThinkingConfig = ThinkingAdaptive | ThinkingEnabled | ThinkingDisabled;
export type SystemPromptPreset = {
  type: "preset";
  preset: "claude_code";
  append?: string;
  excludeDynamicSections?: boolean;
  snapshot?: boolean;
};
export type SystemPrompt =
  | string
  | string[]
  | SystemPromptPreset
  | { type: "custom"; prompt: string | string[]; snapshot?: boolean };
export type PluginConfig = { type: "local"; path: string; skipMcpDiscovery?: boolean };
export type OutputFormat = { type: "json_schema"; schema: Record<string, unknown> };

export const form = {
  flag: formOf<boolean>("flag", () => z.boolean()),
  off: formOf<boolean>("off", () => z.boolean()),
  text: formOf<string>("text", word),
  count: (min: number) => formOf<number>("count", whole(min), { min }),
  amount: formOf<number>("amount", () => z.number().check(z.positive())),
  choice: <T extends string>(choices: readonly T[]) =>
    formOf<T>("choice", () => z.enum(choices), { choices }),
  names: <T extends string>(choices: readonly T[]) =>
    formOf<T[]>("names", () => z.array(z.enum(choices)), { choices }),
  namesOrAll: formOf<string[] | "all">("names", words),
  rules: formOf<string[]>("rules", words),
  joined: formOf<string>("joined", word),
  folders: formOf<string[]>("folders", words),
  object: formOf<Record<string, unknown>>("object", object),
  aliases: formOf<Record<string, string>>("object", () => z.record(z.string(), z.string())),
  settings: formOf<string | Record<string, unknown>>("settings", () => z.union([word(), object()])),
  servers: formOf<Record<string, unknown>>("servers", () => z.record(z.string(), object())),
  tools: formOf<string[] | { type: "preset"; preset: string }>("tools", words),
  thinking: formOf<ThinkingConfig>("thinking", () => z.enum(thinkingModes), { choices: thinkingModes }),
  prompt: formOf<SystemPrompt>("text", word),
  plugins: formOf<PluginConfig[]>("plugins", words),
  schema: formOf<OutputFormat>("schema", object),
} as const;

/** A flag without its dashes. */
export type SpelledFlag = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly short: string | undefined;
  /** What stands for its value in a help. */
  readonly value: string | undefined;
};

/** How the flag is spelled at a door; undefined where there is none. */
export function flagAt(door: FlagDoor, { at, spelled, runner }: OptionRow): SpelledFlag | undefined {
  if (at && !at.includes(door)) return undefined;
  const words = (door === "runner" ? (runner ?? spelled) : spelled).split(" ");
  const [name = "", ...aliases] = words.flatMap((word) => (word.startsWith("--") ? [word.slice(2)] : []));
  return {
    name,
    aliases,
    short: words.find((word) => /^-\w$/.test(word))?.slice(1),
    value: words.find((word) => !word.startsWith("-")),
  };
}

/** The flag that names a file with the value, without its dashes. */
export const fileFlagAt = (door: FlagDoor, { file }: OptionRow): string | undefined =>
  door === "runner" ? undefined : file?.slice(2);

/** What it is called in a first line: as the runner's flag, in one word. */
export function fieldOf(row: OptionRow): string | undefined {
  const flag = flagAt("runner", row);
  return flag && (row.field ?? flag.name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));
}

/** The value of a first line, or of a flag that was read, as the SDK takes it. */
export function fromPlain({ kind }: OptionForm<unknown>, plain: unknown): unknown {
  switch (kind) {
    case "off":
      return plain !== true;
    case "thinking":
      return { type: plain };
    case "plugins":
      return (plain as string[]).map((path): PluginConfig => ({ type: "local", path }));
    case "schema":
      return { type: "json_schema", schema: plain };
    case "tools":
      return Array.isArray(plain) && plain.length === 1 && plain[0] === "default"
        ? { type: "preset", preset: "claude_code" }
        : plain;
    default:
      return plain;
  }
}
