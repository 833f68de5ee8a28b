/**
 * The options of `keel --input-format stream-json`, where Keel is the executable of an SDK: those of `keel -p`, and those
 * that SDKs pass beside them. What is not in the table is passed over and told, since SDKs grow faster than executables.
 */
import { type CliOptions, namesOf, type OptionValues, parseArguments } from "../cli/arguments.ts";
import { printOptions } from "../cli/print/root.ts";
import { type FlagValues, flagsOf } from "../cli/session-flags.ts";

const own = {
  "replay-user-messages": { kind: "flag", says: "Echo prompts as messages" },
  "await-initialize": { kind: "flag", says: "Open nothing before the SDK has introduced itself" },
  "session-mirror": { kind: "flag", says: "Also send the session as lines, for a store of the program" },
  "plugin-dir-no-mcp": { kind: "list", value: "FOLDER", says: "A plugin without its servers" },
} as const satisfies CliOptions;

const wireOptions: typeof own & CliOptions = { ...printOptions, ...flagsOf("executable"), ...own };

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

export type WireValues = OptionValues<typeof own> & FlagValues;

export type WireArguments = {
  readonly values: WireValues;
  /** Options that have no effect here, as they were given. */
  readonly passedOver: readonly string[];
};

/** Throws a usage fault for a known option without its value. */
export function readWireArguments(given: readonly string[]): WireArguments {
  const names = namesOf(wireOptions);
  const known: string[] = [];
  const passedOver: string[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? "";
    const [, spelling = word, inline] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const name = names.get(spelling);
    if (name !== undefined) {
      known.push(word);
      const value = given[at + 1];
      if (wireOptions[name]?.kind === "flag" || inline !== undefined || value === undefined) continue;
      known.push(value);
      at += 1;
      continue;
    }
    const kind = kindWithoutEffect(spelling);
    const next = given[at + 1];
    const takesNext =
      inline === undefined &&
      next !== undefined &&
      (kind === "text" || (kind === undefined && word.startsWith("-") && !next.startsWith("-")));
    if (takesNext) at += 1;
    if (kind === undefined || missed.includes(spelling.slice(2))) passedOver.push(spelling);
  }
  return { values: parseArguments(known, wireOptions).values, passedOver };
}

function kindWithoutEffect(spelling: string): "flag" | "text" | undefined {
  const name = spelling.slice(2);
  return Object.hasOwn(withoutEffect, name) ? withoutEffect[name as keyof typeof withoutEffect] : undefined;
}
