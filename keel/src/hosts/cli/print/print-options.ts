/** The options of `keel -p`, as data: the parser and the help both read this table. */
import type { CliOptions, OptionValues } from "../arguments.ts";
import { type FlagValues, flagsOf } from "../session-flags.ts";

const own = {
  print: { kind: "flag", short: "p", says: "Answer the prompt, print the result and end" },
  "output-format": { kind: "text", value: "FORMAT", says: "text (the default), json or stream-json" },
  "input-format": {
    kind: "text",
    value: "FORMAT",
    says: "text (the default), or stream-json, for an SDK that sends lines",
  },
  verbose: { kind: "flag", says: "Say more on standard error" },
} as const satisfies CliOptions;

export const printOptions: typeof own & CliOptions = { ...own, ...flagsOf("cli") };
export type PrintValues = OptionValues<typeof own> & FlagValues;

const version = { version: { kind: "flag", short: "V", says: "Show the version" } } as const;
export const rootOptions: typeof printOptions & typeof version = { ...printOptions, ...version };
