/** What a command is. The table of them is in `command-table.ts`. */
import type { WritableSource } from "../../app/maintenance/settings-files.ts";
import { type CliOptions, type OptionValues, usage } from "./arguments.ts";
import type { Context } from "./context.ts";

/** Options that many commands have. */
export const yes = { yes: { kind: "flag", says: "Without a question" } } as const satisfies CliOptions;
export const json = { json: { kind: "flag", says: "As JSON" } } as const satisfies CliOptions;

export type CliCommand = {
  /** As it is typed: `sessions list`. The empty name is `keel` itself. */
  readonly name: string;
  readonly usage: string;
  readonly says: string;
  /** Those of a session come late: a start that needs none of them does not load their table. */
  options(): Promise<CliOptions>;
  /** What it does after it has told is finished also when nobody reads any more. Left out: it ends soon then. */
  readonly unheard?: "goes-on" | undefined;
  /** Returns the exit code, or throws a fault that has one. */
  start(given: readonly string[], context: Context): Promise<number>;
};

/** What a command does with what it was given. Returns the exit code, nothing where it ended well, or throws a fault. */
export type CommandRun<Values = object> =
  | ((given: GivenArguments<Values>, context: Context) => Promise<number>)
  | ((given: GivenArguments<Values>, context: Context) => Promise<void>);

type GivenArguments<Values> = { readonly values: Values; readonly positionals: readonly string[] };

/**
 * A row of the table. Its usage says its name and whether it takes words: one word too many is wrong use, and not passed
 * over. What it does is loaded when it is called.
 */
export type CommandRow<T extends CliOptions> = Pick<CliCommand, "usage" | "says" | "unheard"> & {
  readonly options?: T | (() => Promise<T>);
  /** It also knows the flags of `foreign-flags.ts`. */
  readonly foreign?: "passed over";
  load(): Promise<CommandRun<OptionValues<T>>>;
};

export type Define = <const T extends CliOptions>(row: CommandRow<T>) => CliCommand;

/** Which file is written; the person's own when none is named. */
export const targetOptions = {
  user: { kind: "flag", says: "In your own settings (the default)" },
  project: { kind: "flag", says: "In the settings that the project shares" },
  local: { kind: "flag", says: "In your own settings for this project" },
} as const satisfies CliOptions;

export type TargetValues = { readonly [Name in keyof typeof targetOptions]: boolean };

export function targetOf(values: TargetValues): WritableSource {
  const named = (["user", "project", "local"] as const).filter((name) => values[name]);
  if (named.length > 1) throw usage("Name one of --user, --project and --local.");
  return named[0] ?? "user";
}
