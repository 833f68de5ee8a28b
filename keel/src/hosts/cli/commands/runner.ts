/** `keel runner`: from its options to the runner, which is loaded only now. */
import path from "node:path";
import type { Arguments, CliOptions, OptionValues } from "../../../app/flags/arguments.ts";
import { type FlagValues, flagsOf, readFlags, readTextFile } from "../../../app/flags/session-flags.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";

/** A host may say the same in a first line: see `--start-from-input`. */
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
type RunnerValues = OptionValues<typeof own> & FlagValues;

export async function startRunner(
  { values }: Pick<Arguments<typeof runnerOptions>, "values">,
  context: Context,
): Promise<number> {
  if (values.schema) {
    const { runnerSchema } = await import("../../runner/start.ts");
    context.out.line(JSON.stringify(runnerSchema(), null, 2));
    return exitCodes.ended;
  }
  const { run } = await import("../../runner/main.ts");
  const start = await startOf(values, context.cwd);
  return run({ start, fromInput: values["start-from-input"] }, context);
}

async function startOf(values: RunnerValues, cwd: string) {
  const instructions = values["instructions-file"];
  return {
    ...(await readFlags("runner", values, cwd)),
    cwd: values.cwd,
    conversationId: values["conversation-id"],
    linearIssue: values["linear-issue"],
    targetBranch: values["target-branch"],
    ...(instructions === undefined
      ? {}
      : {
          appendSystemPrompt: await readTextFile("instructions-file", path.resolve(cwd, instructions)),
        }),
    debug: values["sdk-debug"],
    debugFile: values["sdk-debug-file"],
  };
}
