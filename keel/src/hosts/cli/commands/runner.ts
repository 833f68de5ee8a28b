/** `keel runner`: from its options to the runner, which is loaded only now. */
import { exitCodes } from "../../../kernel/faults.ts";
import { type Arguments, amount, oneOf, splitList, usage, wholeNumber } from "../arguments.ts";
import type { Context } from "../context.ts";
import type { RunnerValues, runnerOptions } from "./runner-options.ts";

const modes = ["default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"] as const;
const presets = ["full", "read-only", "no-bash", "safe-edit"] as const;
const sources = ["user", "project", "local"] as const;

export async function startRunner(
  { values, positionals }: Arguments<typeof runnerOptions>,
  context: Context,
): Promise<number> {
  if (positionals.length > 0) throw usage("keel runner takes no words: messages come on standard input.");
  if (values.schema) {
    const { runnerSchema } = await import("../../runner/schema.ts");
    context.out.line(JSON.stringify(runnerSchema(), null, 2));
    return exitCodes.ended;
  }
  const { run } = await import("../../runner/main.ts");
  return run(
    {
      start: startOf(values),
      files: { instructionsFile: values["instructions-file"], mcpServersFile: values["mcp-servers-file"] },
      fromInput: values["start-from-input"],
    },
    context,
  );
}

function startOf(values: RunnerValues) {
  const given = splitList(values["setting-sources"]);
  return {
    cwd: values.cwd,
    conversationId: values["conversation-id"],
    resume: values.resume,
    fork: values.fork,
    linearIssue: values["linear-issue"],
    targetBranch: values["target-branch"],
    toolPreset: oneOf("tool-preset", values["tool-preset"], presets),
    enableCheckpointing: values["enable-checkpointing"],
    structuredOutput: schemaIn(values["structured-output"]),
    maxBudgetUsd: amount("max-budget-usd", values["max-budget-usd"]),
    maxTurns: wholeNumber("max-turns", values["max-turns"], 1),
    maxThinkingTokens: wholeNumber("max-thinking-tokens", values["max-thinking-tokens"], 0),
    permissionMode: oneOf("permission-mode", values["permission-mode"], modes),
    allowDangerouslySkipPermissions: values["allow-dangerously-skip-permissions"],
    settingSources:
      values["setting-sources"].length === 0
        ? undefined
        : given.flatMap((name) => oneOf("setting-sources", name, sources) ?? []),
    betas: splitList(values.betas),
    model: values.model,
    fallbackModel: values["fallback-model"],
    allowedTools: splitList(values["allowed-tools"]),
    disallowedTools: splitList(values["disallowed-tools"]),
    debug: values["sdk-debug"],
    debugFile: values["sdk-debug-file"],
  };
}

function schemaIn(words: string | undefined) {
  if (words === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(words);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Said below.
  }
  throw usage("--structured-output is not a JSON Schema.");
}
