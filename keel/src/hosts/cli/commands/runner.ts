/** `keel runner`: from its options to the runner, which is loaded only now. */
import path from "node:path";
import { exitCodes } from "../../../kernel/faults.ts";
import { type Arguments, usage } from "../arguments.ts";
import type { Context } from "../context.ts";
import { readFlags, readTextFile } from "../session-flags.ts";
import type { RunnerValues, runnerOptions } from "./runner-options.ts";

export async function startRunner(
  { values, positionals }: Arguments<typeof runnerOptions>,
  context: Context,
): Promise<number> {
  if (positionals.length > 0) throw usage("keel runner takes no words: messages come on standard input.");
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
