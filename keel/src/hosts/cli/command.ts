/** What a command is. The table of them is in `command-table.ts`. */
import type { CliOptions, OptionValues } from "./arguments.ts";
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

/** What a command does with what it was given. Returns the exit code, or throws a fault that has one. */
export type CommandRun<Values = object> = (
  given: { readonly values: Values; readonly positionals: readonly string[] },
  context: Context,
) => Promise<number>;

/** A row of the table. Its name stands first in its usage; what it does is loaded when it is called. */
export type CommandRow<T extends CliOptions> = Pick<CliCommand, "usage" | "says" | "unheard"> & {
  /** Left out: nothing but options. What is one word too many is wrong use, and not passed over. */
  readonly takes?: "words";
  readonly options?: T | (() => Promise<T>);
  load(): Promise<CommandRun<OptionValues<T>>>;
};

export type Define = <const T extends CliOptions>(row: CommandRow<T>) => CliCommand;
