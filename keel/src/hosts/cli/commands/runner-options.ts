/** The options of `keel runner`, as data. A host may say the same in a first line: see `--start-from-input`. */
import type { CliOptions, OptionValues } from "../arguments.ts";
import { type FlagValues, flagsOf } from "../session-flags.ts";

const own = {
  cwd: { kind: "text", value: "DIR", says: "The folder to work in" },
  "conversation-id": { kind: "text", value: "ID", says: "Stands on every event; default when left out" },
  "linear-issue": { kind: "text", value: "ID", says: "The issue that the work is about" },
  "target-branch": { kind: "text", value: "BRANCH", says: "The branch that the work will join" },
  "instructions-file": { kind: "text", value: "FILE", says: "A text that is added to the system prompt" },
  "sdk-debug": { kind: "flag", says: "Repeat every event on standard error" },
  "sdk-debug-file": { kind: "text", value: "FILE", says: "Repeat every event in a file" },
  "start-from-input": {
    kind: "flag",
    says: "The first line says how to start: nothing secret stands in the arguments",
  },
  schema: { kind: "flag", says: "Print the JSON Schema of every line, and end" },
} as const satisfies CliOptions;

export const runnerOptions: typeof own & CliOptions = { ...own, ...flagsOf("runner") };
export type RunnerValues = OptionValues<typeof own> & FlagValues;
