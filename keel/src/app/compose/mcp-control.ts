/** The servers of an open session, as hosts see them. */

import type { ToolOutcome } from "../../ports/tool.ts";
import type { McpPrompt, McpResource, McpServerOptions, McpServerState } from "../../protocol/mcp.ts";
import type { InputBlock } from "../../protocol/message.ts";

export type McpControl = {
  /** How each server stands now, in the order in which they were named. */
  status(): readonly McpServerState[];
  /** The tools that can be called now, by the names that the model knows. */
  tools(): readonly string[];
  /** Tries again. Throws `usage` for a name that is none, and `mcp_failed` when it did not come back. */
  reconnect(name: string): Promise<void>;
  /** Off: its process ends and its tools cannot be called. Throws `usage`. */
  toggle(name: string, to: "on" | "off"): Promise<void>;
  /** Replaces the servers that the host itself named; those of files stay. Resolves when the new ones have settled. */
  set(servers: Readonly<Record<string, McpServerOptions>>): Promise<{
    readonly added: string[];
    readonly removed: string[];
    readonly errors: Record<string, string>;
  }>;
  /** What servers say about their use, as they stand now. */
  instructions(): readonly { readonly server: string; readonly words: string }[];
  /** Prompts, which people call as commands. */
  prompts(): readonly McpPrompt[];
  /** What a prompt says. Throws `usage` for a command that is none, and `mcp_failed`. */
  prompt(command: string, values: Readonly<Record<string, string>>): Promise<InputBlock[]>;
  /** What can be mentioned. */
  resources(): readonly McpResource[];
  /** What a resource holds. Throws `usage` for a server that is none, and `mcp_failed`. */
  resource(server: string, uri: string): Promise<InputBlock[]>;
  /** Calls a tool by the name that the model knows. Throws `usage`. Whoever calls has looked at the rules. */
  call(
    request: { readonly tool: string; readonly input: unknown; readonly callId: string },
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
  /** Called when a server, a tool, a prompt or a resource came, changed or went. */
  onChange(listener: () => void): () => void;
};
