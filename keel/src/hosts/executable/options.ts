/**
 * The options of `keel --input-format stream-json`, where Keel is the executable of an SDK: those of `keel -p`, and those
 * that SDKs pass beside them. What is not in the table is passed over and told, since SDKs grow faster than executables.
 */
import { type CliOptions, type OptionValues, parseArguments } from "../cli/arguments.ts";
import { passingOver } from "../cli/foreign-flags.ts";
import { printOptions } from "../cli/print/root.ts";
import { type besideOptions, type FlagValues, flagsOf } from "../cli/session-flags.ts";

const ownOptions = {
  "await-initialize": { kind: "flag", says: "Open nothing before the SDK has introduced itself" },
  "session-mirror": { kind: "flag", says: "Also send the session as lines, for a store of the program" },
} as const satisfies CliOptions;

const wireOptions: typeof ownOptions & typeof besideOptions & CliOptions = {
  ...printOptions,
  ...flagsOf("executable"),
  ...ownOptions,
};

export type WireValues = OptionValues<typeof ownOptions & typeof besideOptions> & FlagValues;

type WireArguments = {
  readonly values: WireValues;
  /** Options that have no effect here, as they were given. */
  readonly passedOver: readonly string[];
};

/** Throws a usage fault for a known option without its value. */
export function readWireArguments(given: readonly string[]): WireArguments {
  const passedOver: string[] = [];
  const { values } = parseArguments(given, wireOptions, passingOver(passedOver, "passed over"));
  return { values, passedOver };
}
