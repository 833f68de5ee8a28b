/** What a command is. The table of them is in `commands.ts`. */
import type { Options } from "./arguments.ts";
import type { Context } from "./context.ts";

export type Command = {
  /** As it is typed: `sessions list`. The empty name is `keel` itself. */
  readonly name: string;
  readonly usage: string;
  readonly says: string;
  readonly options: Options;
  /** Returns the exit code, or throws a fault that has one. */
  start(given: readonly string[], context: Context): Promise<number>;
};
