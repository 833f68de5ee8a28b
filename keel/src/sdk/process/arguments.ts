/** The options of a query as an executable takes them: arguments, environment, and its introduction. Pure. */
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/present.ts";
import type { wireHooks } from "../control/local-callbacks.ts";
import type { Options, SystemPromptPreset } from "../options/options.ts";

type ArgumentsEnvironment = Record<string, string | undefined>;

const base = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];

export function argumentsOf(options: Options): string[] {
  const { canUseTool, permissionPromptToolName: asker, tools, outputFormat } = options;
  return [
    ...base,
    ...list("allowedTools", options.allowedTools),
    ...list("disallowedTools", options.disallowedTools),
    ...(Array.isArray(tools) ? [`--tools=${tools.join(",")}`] : tools ? ["--tools=default"] : []),
    ...text("permission-prompt-tool", canUseTool ? "stdio" : asker),
    ...text("permission-prompts", options.permissionPrompts),
    ...text("permission-mode", options.permissionMode),
    ...flag("allow-dangerously-skip-permissions", options.allowDangerouslySkipPermissions),
    ...(options.additionalDirectories ?? []).map((folder) => `--add-dir=${folder}`),
    ...flag("continue", options.continue),
    ...text("resume", options.resume),
    ...flag("fork-session", options.forkSession),
    ...text("resume-session-at", options.resumeSessionAt),
    ...text("session-id", options.sessionId),
    ...flag("no-session-persistence", options.persistSession === false),
    ...flag("session-mirror", options.sessionStore !== undefined),
    ...text("model", options.model),
    ...text("fallback-model", options.fallbackModel),
    ...text("effort", options.effort),
    ...list("betas", options.betas),
    ...thinking(options),
    ...text("max-turns", options.maxTurns),
    ...text("max-budget-usd", options.maxBudgetUsd),
    ...servers(options),
    ...flag("strict-mcp-config", options.strictMcpConfig),
    ...text("agent", options.agent),
    ...(options.plugins ?? []).map(({ path, skipMcpDiscovery }) =>
      skipMcpDiscovery ? `--plugin-dir-no-mcp=${path}` : `--plugin-dir=${path}`,
    ),
    ...text("project-config-root", options.projectConfigRoot),
    ...(options.managedSettings ? ["--managed-settings", JSON.stringify(options.managedSettings)] : []),
    ...(outputFormat ? [`--json-schema=${JSON.stringify(outputFormat.schema)}`] : []),
    ...settings(options),
    ...(options.settingSources ? [`--setting-sources=${options.settingSources.join(",")}`] : []),
    ...flag("include-partial-messages", options.includePartialMessages),
    ...flag("include-hook-events", options.includeHookEvents),
    ...Object.entries(options.extraArgs ?? {}).flatMap(([name, value]) =>
      value === null ? [`--${name}`] : [`--${name}`, value],
    ),
  ];
}

/** Undefined values are left out: a child gets texts only. */
export function environmentFor(
  { env, enableFileCheckpointing }: Options,
  processEnv: ArgumentsEnvironment,
): ArgumentsEnvironment {
  return {
    ...(env ?? processEnv),
    CLAUDE_CODE_SDK_READS_SESSION_STATE: "1",
    ...(enableFileCheckpointing ? { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" } : {}),
  };
}

/** What is too large or too private for arguments. */
export function introductionOf(
  options: Options,
  hooks: ReturnType<typeof wireHooks>["named"],
): { subtype: "initialize" } & Record<string, unknown> {
  const sdkServers = Object.entries(options.mcpServers ?? {}).filter(([, { type }]) => type === "sdk");
  const timeouts = sdkServers.flatMap(([name, { timeout }]) =>
    timeout === undefined ? [] : [[name, { timeout }] as const],
  );
  return {
    subtype: "initialize",
    ...(Object.keys(hooks).length > 0 ? { hooks } : {}),
    ...(sdkServers.length > 0 ? { sdkMcpServers: sdkServers.map(([name]) => name) } : {}),
    ...(timeouts.length > 0 ? { sdkMcpServerConfigs: Object.fromEntries(timeouts) } : {}),
    ...(options.outputFormat ? { jsonSchema: options.outputFormat.schema } : {}),
    ...present({
      skills: options.skills,
      agents: options.agents,
      toolAliases: options.toolAliases,
      forwardSubagentText: options.forwardSubagentText,
    }),
    ...(options.title === undefined ? {} : { title: options.title }),
    ...prompt(options),
  };
}

/** Whether the executable may ask something of the program: then its end of the wire stays open for the answers. */
export const hasCallbacks = ({ canUseTool, onElicitation, hooks = {}, mcpServers = {} }: Options): boolean =>
  (canUseTool ?? onElicitation) !== undefined ||
  Object.keys(hooks).length > 0 ||
  Object.values(mcpServers).some(({ type }) => type === "sdk");

const text = (name: string, value: string | number | undefined): string[] =>
  value === undefined ? [] : [`--${name}=${value}`];
const list = (name: string, values: readonly string[] | undefined): string[] =>
  values && values.length > 0 ? [`--${name}=${values.join(",")}`] : [];
const flag = (name: string, isWanted: boolean | undefined): string[] => (isWanted ? [`--${name}`] : []);

function thinking({ thinking: mode, maxThinkingTokens }: Options): string[] {
  switch (mode?.type) {
    case "adaptive":
    case "disabled":
      return [`--thinking=${mode.type}`];
    case "enabled":
      return text("max-thinking-tokens", mode.budgetTokens ?? defaultThinkingTokens);
    case undefined:
      return text("max-thinking-tokens", maxThinkingTokens);
  }
}
const defaultThinkingTokens = 10_000;

/** Those outside of the program; its own are named in the introduction. */
function servers({ mcpServers = {} }: Options): string[] {
  const outside = Object.entries(mcpServers).filter(([, { type }]) => type !== "sdk");
  if (outside.length === 0) return [];
  return ["--mcp-config", JSON.stringify({ mcpServers: Object.fromEntries(outside) })];
}

/** The sandbox is a setting; beside a file of settings it has no place in the arguments. */
function settings({ settings: given, sandbox }: Options): string[] {
  if (typeof given === "string") {
    if (sandbox)
      throw fault("usage", { reason: "Give the sandbox in the file of settings, or both inline." });
    return ["--settings", given];
  }
  if (given === undefined && sandbox === undefined) return [];
  return [
    "--settings",
    JSON.stringify({
      ...given,
      ...(sandbox ? { sandbox: { failIfUnavailable: true, ...sandbox } } : {}),
    }),
  ];
}

function prompt({ systemPrompt }: Options): Record<string, unknown> {
  if (systemPrompt === undefined) return {};
  if (typeof systemPrompt === "string" || Array.isArray(systemPrompt))
    return { systemPrompt: [systemPrompt].flat() };
  if ("prompt" in systemPrompt) return { systemPrompt: [systemPrompt.prompt].flat() };
  const { append, excludeDynamicSections } = systemPrompt as SystemPromptPreset;
  return present({ appendSystemPrompt: append, excludeDynamicSections });
}
