/** `keel` without the name of a command: prints an answer, or says how to get one. */

import { type Arguments, type CliOptions, usage } from "../../../app/flags/arguments.ts";
import { besideOptions, flagsOf } from "../../../app/flags/session-flags.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";

/** Of `keel -p`, as data: the parser and the help both read this table. */
const own = {
  print: { kind: "flag", short: "p", says: "Answer the prompt, print the result and end" },
  "output-format": { kind: "text", value: "FORMAT", says: "text (the default), json or stream-json" },
  "input-format": {
    kind: "text",
    value: "FORMAT",
    says: "text (the default), or stream-json, for an SDK that sends lines",
  },
  verbose: { kind: "flag", says: "Say more on standard error" },
  ...besideOptions,
} as const satisfies CliOptions;

export const printOptions: typeof own & CliOptions = { ...own, ...flagsOf("cli") };

const version = {
  version: { kind: "flag", short: "V", says: "Show the version" },
  "stands-in-for": {
    kind: "flag",
    short: "v",
    says: "Show the version of the interface that this version stands in for",
  },
} as const;
export const rootOptions: typeof printOptions & typeof version = { ...printOptions, ...version };

export async function root(parsed: Arguments<typeof rootOptions>, context: Context): Promise<number> {
  const { values, positionals } = parsed;
  if (values.version) {
    context.out.line(context.version);
    return exitCodes.ended;
  }
  if (values["stands-in-for"]) {
    const { interfaceVersion } = await import("../../../sdk/version.ts");
    context.out.line(`${interfaceVersion} (Keel ${context.version})`);
    return exitCodes.ended;
  }
  if (values.print) {
    const { print } = await import("./print.ts");
    return print({ values, positionals }, context);
  }
  if (context.out.isTerminal && context.input.isTTY === true) {
    const { openScreen } = await import("../terminal/screen.ts");
    return openScreen({ values, positionals }, context);
  }
  if (positionals.length > 0) {
    throw usage(
      `There is no command ${JSON.stringify(positionals[0])}. For an answer: keel -p "PROMPT". All commands: keel --help.`,
    );
  }
  throw usage(
    'There is nothing to do without a terminal. For an answer: keel -p "PROMPT". All commands: keel --help.',
  );
}
