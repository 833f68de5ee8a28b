/**
 * The options of `keel --input-format stream-json`, where Keel is the executable of an SDK: those of `keel -p`, and those
 * that SDKs pass beside them. What is not in the table is passed over and told, since SDKs grow faster than executables.
 */
import { own } from "../../kernel/own.ts";
import { type CliOptions, type OptionValues, parseArguments } from "../cli/arguments.ts";
import { printOptions } from "../cli/print/root.ts";
import { type FlagValues, flagsOf } from "../cli/session-flags.ts";

const ownOptions = {
  "replay-user-messages": { kind: "flag", says: "Echo prompts as messages" },
  "await-initialize": { kind: "flag", says: "Open nothing before the SDK has introduced itself" },
  "session-mirror": { kind: "flag", says: "Also send the session as lines, for a store of the program" },
  "plugin-dir-no-mcp": { kind: "list", value: "FOLDER", says: "A plugin without its servers" },
} as const satisfies CliOptions;

const wireOptions: typeof ownOptions & CliOptions = {
  ...printOptions,
  ...flagsOf("executable"),
  ...ownOptions,
};

/** Known to SDKs and harmless to leave out: what they ask for is on anyway, or belongs to somebody else's services. */
const withoutEffect = {
  debug: "flag",
  "debug-to-stderr": "flag",
  "debug-file": "text",
  "thinking-display": "text",
  "task-budget": "text",
  "resume-drops-turn": "text",
} as const satisfies Readonly<Record<string, "flag" | "text">>;

/** Only for these is a word said: somebody who sets them relies on them. */
const missed = ["task-budget"];

export type WireValues = OptionValues<typeof ownOptions> & FlagValues;

type WireArguments = {
  readonly values: WireValues;
  /** Options that have no effect here, as they were given. */
  readonly passedOver: readonly string[];
};

/** Throws a usage fault for a known option without its value. */
export function readWireArguments(given: readonly string[]): WireArguments {
  const passedOver: string[] = [];
  const { values } = parseArguments(given, wireOptions, ({ spelling, inline, next }) => {
    const name = spelling.slice(2);
    const kind = own<"flag" | "text">(withoutEffect, name);
    if (kind === undefined || missed.includes(name)) passedOver.push(spelling);
    if (inline !== undefined || next === undefined) return 0;
    return kind === "text" || (kind === undefined && spelling.startsWith("-") && !next.startsWith("-"))
      ? 1
      : 0;
  });
  return { values, passedOver };
}
