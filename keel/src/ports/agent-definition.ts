/** A kind of agent: what it is for, what it is told, and how far it may go. Data only. */
import type { McpServerOptions } from "../protocol/mcp.ts";
import type { PermissionMode, SessionSettings } from "../protocol/settings.ts";

export type AgentProfile = {
  readonly name: string;
  /** For whoever chooses: when this kind is the right one. */
  readonly description: string;
  /** What it is told before anything else. */
  readonly prompt: string;
  /** The tools it has, of those of its parent; all of them when left out. `Agent(kind, …)` names whom it may start. */
  readonly tools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  /** Another model than its parent's; `inherit` is the same as none. */
  readonly model?: string | undefined;
  readonly effort?: SessionSettings["effort"];
  /** A wish: it never goes further than the mode of its parent. */
  readonly permissionMode?: PermissionMode | undefined;
  readonly maxTurns?: number | undefined;
  /** Whether it runs in the background although the call does not say so. */
  readonly background?: boolean | undefined;
  readonly isolation?: "worktree" | undefined;
  /** `conversation`: it begins with all that its parent knows, and shares its cached requests. */
  readonly inherits?: "conversation" | undefined;
  /** Skills whose texts it is given at its start. */
  readonly skills?: readonly string[] | undefined;
  /** Names of MCP servers of the session that it has beside those of its parent: also one that is off. */
  readonly mcpServers?: readonly string[] | undefined;
  /** MCP servers of its own. */
  readonly servers?: Readonly<Record<string, McpServerOptions>> | undefined;
  readonly from: "built-in" | "program" | "user" | "project" | "plugin";
};
