/** What Keel opens for the options of a program. */
import type { OpenOptions } from "../../app/options.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import type { ThinkingMode } from "../../protocol/settings.ts";
import { SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from "../names.ts";
import { type McpServerConfig, outsideServers } from "../tools/mcp-server.ts";
import { ownToolsOf } from "../tools/server-tools.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { hooksOf } from "./callbacks.ts";
import { environmentOf, isOn, type SdkEnvironment } from "./environment.ts";
import type { Options, SystemPromptPreset } from "./options.ts";

const defaultThinkingTokens = 10_000;

/** Throws `usage` for what contradicts itself. */
export function openOptionsOf(
  options: Options,
  { version, processEnv }: { version: string; processEnv: SdkEnvironment },
): OpenOptions {
  const env = environmentOf(options, processEnv);
  const checkpoints = options.enableFileCheckpointing ?? isOn(env["KEEL_FILE_CHECKPOINTING"]);
  return {
    version,
    env,
    cwd: options.cwd ?? process.cwd(),
    which: whichOf(options),
    unfinished: "lost",
    persist: options.persistSession === false ? "memory" : "disk",
    forbidden: options.managedSettings,
    projectRoot: options.projectConfigRoot,
    settings: options.settings,
    settingSources: options.settingSources,
    model: options.model,
    fallbackModels: options.fallbackModel
      ?.split(",")
      .map((name) => name.trim())
      .filter(Boolean),
    thinking: thinkingOf(options),
    effort: options.effort,
    title: options.title,
    permissionMode: options.permissionMode,
    bypass: options.allowDangerouslySkipPermissions ? "allowed" : "refused",
    allowedTools: options.allowedTools,
    disallowedTools: options.disallowedTools,
    tools: Array.isArray(options.tools) ? options.tools : undefined,
    asks: canAnswer(options) ? "answered" : "refused",
    ownTools: ownToolsOf(options.mcpServers),
    mcpServers: outsideServers(options.mcpServers),
    strictMcpConfig: options.strictMcpConfig,
    toolAliases: options.toolAliases,
    hooks: hooksOf(options.hooks),
    // Nobody wants to do without it who does not say so.
    sandbox: options.sandbox && { failIfUnavailable: true, ...options.sandbox },
    addDirs: options.additionalDirectories,
    checkpoints: checkpoints ? "on" : "off",
    jsonSchema: schemaOf(options),
    maxTurns: options.maxTurns,
    maxBudgetUsd: options.maxBudgetUsd,
    agents: agentsOf(options),
    agent: options.agent,
    plugins: options.plugins?.map(({ path }) => path),
    skills: options.skills,
    ...promptOf(options),
  };
}

export const canAnswer = ({ permissionPrompts, canUseTool, permissionPromptToolName }: Options): boolean =>
  permissionPrompts !== "none" && (canUseTool ?? permissionPromptToolName) !== undefined;

function agentsOf({ agents = {} }: Options): OpenOptions["agents"] {
  return Object.entries(agents).map(([name, agent]) => ({
    name,
    description: agent.description,
    prompt: agent.prompt,
    from: "program" as const,
    tools: agent.tools,
    disallowedTools: agent.disallowedTools,
    model: agent.model,
    effort: agent.effort,
    permissionMode: agent.permissionMode,
    maxTurns: agent.maxTurns,
    background: agent.background,
    skills: agent.skills,
    ...agentServersOf(agent.mcpServers),
  }));
}

/** Names of servers of the session, and others of its own. Throws `usage` for one that is a part of the program. */
function agentServersOf(given: AgentDefinition["mcpServers"]) {
  if (given === undefined) return {};
  const own = Object.assign({}, ...given.filter((server) => typeof server !== "string"));
  const inside = Object.entries<McpServerConfig>(own).find(([, { type }]) => type === "sdk");
  if (inside)
    throw fault("usage", {
      reason: `The server ${inside[0]} is a part of the program: name it in mcpServers, and here by its name.`,
    });
  return {
    mcpServers: given.filter((server) => typeof server === "string"),
    servers: outsideServers(own),
  };
}

function whichOf({ resume, continue: newest, forkSession, sessionId }: Options): OpenOptions["which"] {
  if (resume !== undefined && newest) throw fault("usage", { reason: "Give resume or continue, not both." });
  const from = resume !== undefined ? { session: resume } : newest ? ("newest" as const) : undefined;
  if (from === undefined) return { kind: "new", id: sessionId };
  return forkSession ? { kind: "fork", from, id: sessionId } : { kind: "resume", from };
}

function thinkingOf({ thinking, maxThinkingTokens }: Options): ThinkingMode | undefined {
  switch (thinking?.type) {
    case "adaptive":
      return { kind: "adaptive" };
    case "enabled":
      return { kind: "budget", tokens: thinking.budgetTokens ?? defaultThinkingTokens };
    case "disabled":
      return { kind: "off" };
    case undefined:
      if (maxThinkingTokens === undefined) return undefined;
      return maxThinkingTokens > 0 ? { kind: "budget", tokens: maxThinkingTokens } : { kind: "off" };
  }
}

function promptOf({
  systemPrompt,
}: Options): Pick<OpenOptions, "systemPrompt" | "appendSystemPrompt" | "placeInPrompt"> {
  if (systemPrompt === undefined) return {};
  if (typeof systemPrompt === "string" || Array.isArray(systemPrompt))
    return { systemPrompt: joined([systemPrompt].flat()) };
  if (systemPrompt.type === "custom") {
    const { prompt } = systemPrompt as { prompt: string | string[] };
    return { systemPrompt: joined([prompt].flat()) };
  }
  const { append, excludeDynamicSections } = systemPrompt as SystemPromptPreset;
  return {
    ...(append === undefined ? {} : { appendSystemPrompt: append }),
    ...(excludeDynamicSections ? { placeInPrompt: "no" as const } : {}),
  };
}

function schemaOf({ outputFormat }: Options): JsonObject | undefined {
  if (outputFormat === undefined) return undefined;
  if (!isObject(outputFormat.schema))
    throw fault("usage", { reason: "outputFormat.schema must be a JSON Schema." });
  return outputFormat.schema as JsonObject;
}

const joined = (parts: readonly string[]): string =>
  parts.filter((part) => part !== SYSTEM_PROMPT_DYNAMIC_BOUNDARY).join("\n\n");
