/** What Keel opens for the options of a program. */
import { type HostOptions, type OpenOptions, openOptionsOf as sessionOptionsOf } from "../../app/options.ts";
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import { rowsOf } from "../../protocol/options.ts";
import { SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from "../names.ts";
import { type McpServerConfig, outsideServers } from "../tools/mcp-server.ts";
import { ownToolsOf } from "../tools/servers.ts";
import { hooksOf } from "./callbacks.ts";
import { environmentOf, isOn, type SdkEnvironment } from "./environment.ts";
import type { AgentDefinition, Options } from "./options.ts";

/** Throws `usage` for what contradicts itself. */
export function openOptionsOf(
  options: Options,
  { version, processEnv }: { version: string; processEnv: SdkEnvironment },
): OpenOptions {
  const env = environmentOf(options, processEnv);
  const checkpoints = options.enableFileCheckpointing ?? isOn(env["KEEL_FILE_CHECKPOINTING"]);
  const given = present(Object.fromEntries(rowsOf().map(([name]) => [name, options[name]])));
  return sessionOptionsOf(
    { ...given, ...promptOf(options) },
    {
      version,
      env,
      cwd: options.cwd ?? process.cwd(),
      unfinished: "lost",
      asks: canAnswer(options) ? "answered" : "refused",
      ownTools: ownToolsOf(options.mcpServers),
      mcpServers: outsideServers(options.mcpServers),
      hooks: hooksOf(options.hooks),
      // Nobody wants to do without it who does not say so.
      sandbox: options.sandbox && { failIfUnavailable: true, ...options.sandbox },
      checkpoints: checkpoints ? "on" : "off",
      agents: agentsOf(options),
    },
  );
}

export const canAnswer = ({ permissionPrompts, canUseTool, permissionPromptToolName }: Options): boolean =>
  permissionPrompts !== "none" && (canUseTool ?? permissionPromptToolName) !== undefined;

export function agentsOf({ agents = {} }: Options): HostOptions["agents"] {
  return Object.entries(agents).map(([name, agent]) => ({
    name,
    description: agent.description,
    prompt: agent.prompt,
    from: "program" as const,
    tools: agent.tools,
    disallowedTools: agent.disallowedTools,
    model: agent.model,
    // A number has no level here.
    effort: typeof agent.effort === "number" ? undefined : agent.effort,
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

/** Marks where a list of prompts begins to change; it is not sent. */
function promptOf({ systemPrompt: given }: Options): Pick<Options, "systemPrompt"> {
  const parts = typeof given === "object" && "prompt" in given ? given.prompt : given;
  if (!Array.isArray(parts)) return {};
  return { systemPrompt: parts.filter((part) => part !== SYSTEM_PROMPT_DYNAMIC_BOUNDARY) };
}
