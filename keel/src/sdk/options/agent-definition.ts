/** A kind of agent as programs define it. */
import type { PermissionMode } from "../../protocol/settings.ts";
import type { McpServerConfig } from "../tools/mcp-server.ts";

export type AgentDefinition = {
  /** For whoever chooses: when this kind is the right one. */
  description: string;
  /** What it is told before anything else. */
  prompt: string;
  /** The tools it has; those of the session when left out. */
  tools?: string[];
  disallowedTools?: string[];
  /** Any model or alias; `inherit` is that of the session. */
  model?: string;
  mcpServers?: (string | Record<string, McpServerConfig>)[];
  skills?: string[];
  initialPrompt?: string;
  maxTurns?: number;
  background?: boolean;
  memory?: "user" | "project" | "local";
  effort?: "low" | "medium" | "high" | "xhigh" | "max";
  /** A wish: it never goes further than the session's own mode. */
  permissionMode?: PermissionMode;
  omitClaudeMd?: boolean;
  autoCompactWindow?: number;
  observer?: boolean;
  observerMessage?: string;
  criticalSystemReminder_EXPERIMENTAL?: string;
};
