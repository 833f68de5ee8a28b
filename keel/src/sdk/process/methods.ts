/** The methods of a query whose session runs in a process of its own: each is one request over the wire. */

import type { Inquire } from "../../protocol/inquiry.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { UserMessage } from "../messages/read-content.ts";
import type { SlashCommand } from "../messages/system.ts";
import type { ReadFileOptions, ReadFileResult } from "../query/controls.ts";
import type { ReloadedPlugins, ResourceContents, SessionUsage } from "../query/inquiries.ts";
import type { ContextUsage, InitializationResult } from "../query/introspection.ts";
import type { RewindFilesResult } from "../query/rewind-result.ts";
import type { McpServerConfig, McpServerStatus } from "../tools/mcp-server.ts";
import type { McpSetServersResult } from "../tools/servers.ts";
import type { ProcessSession } from "./process-session.ts";

/** The process may still be starting. What it answers has the form that the interface says. */
export function processMethods(running: Promise<ProcessSession>) {
  const ask = async <T>(subtype: string, fields: Record<string, unknown> = {}): Promise<T> =>
    (await (await running).request({ subtype, ...fields })) as T;
  const introduced = async (): Promise<InitializationResult> => (await running).introduced;
  return {
    interrupt: ({ cancelQueued = false }: { cancelQueued?: boolean } = {}) =>
      ask<{ still_queued: string[]; cancelled?: string[] }>("interrupt", { cancel_queued: cancelQueued }),
    setPermissionMode: (mode: PermissionMode) => ask<void>("set_permission_mode", { mode }).then(nothing),
    setModel: (model?: string) => ask<void>("set_model", model === undefined ? {} : { model }).then(nothing),
    setMaxThinkingTokens: (tokens: number | null) =>
      ask<void>("set_max_thinking_tokens", { max_thinking_tokens: tokens }).then(nothing),
    rewindFiles: (userMessageId: string, { dryRun = false }: { dryRun?: boolean } = {}) =>
      ask<RewindFilesResult>("rewind_files", { user_message_id: userMessageId, dry_run: dryRun }),
    streamInput: async (messages: AsyncIterable<UserMessage>) => (await running).send(messages),
    initializationResult: introduced,
    // Servers bring commands later: who asks is told of those that there are now.
    supportedCommands: async () => (await ask<InitializationResult>("initialize")).commands,
    supportedModels: async () => (await introduced()).models,
    supportedAgents: async () => (await introduced()).agents,
    accountInfo: async () => (await introduced()).account,
    reinitialize: () => ask<InitializationResult>("initialize"),
    setMcpServers: async (servers: Record<string, McpServerConfig>) =>
      ask<McpSetServersResult>("mcp_set_servers", { servers: (await running).serve(servers) }),
    toggleMcpServer: (serverName: string, enabled: boolean) =>
      ask<void>("mcp_toggle", { serverName, enabled }).then(nothing),
    reconnectMcpServer: (serverName: string) => ask<void>("mcp_reconnect", { serverName }).then(nothing),
    applyFlagSettings: (settings: Record<string, unknown>) =>
      ask<void>("apply_flag_settings", { settings }).then(nothing),
    updateSettings: (source: "localSettings" | "userSettings", settings: Record<string, unknown>) =>
      ask<void>("update_settings", { source, settings }).then(nothing),
    readFile: (path: string, { maxBytes, encoding }: ReadFileOptions = {}) =>
      ask<ReadFileResult>("read_file", { path, max_bytes: maxBytes, encoding }).catch(() => null),
    inquire: (async (inquiry, question) =>
      (await ask<{ answer: unknown }>("inquire", { inquiry, question })).answer) as Inquire,
    reloadPlugins: () => ask<ReloadedPlugins>("reload_plugins"),
    reloadSkills: () => ask<{ skills: SlashCommand[] }>("reload_skills"),
    reloadOutputStyles: () => ask<{ available_output_styles: string[] }>("reload_output_styles"),
    seedReadState: (path: string, mtime: number) =>
      ask<void>("seed_read_state", { path, mtime }).then(nothing),
    readMcpResource: (serverName: string, uri: string) =>
      ask<{ contents: ResourceContents[] }>("mcp_read_resource", { serverName, uri }),
    usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET: () => ask<SessionUsage>("get_usage"),
    mcpServerStatus: async () => (await ask<{ mcpServers: McpServerStatus[] }>("mcp_status")).mcpServers,
    getContextUsage: () => ask<ContextUsage>("get_context_usage"),
    stopTask: (taskId: string) => ask<void>("stop_task", { task_id: taskId }).then(nothing),
    async backgroundTasks(toolUseId?: string) {
      await ask("background_tasks", toolUseId === undefined ? {} : { tool_use_id: toolUseId });
      return true;
    },
    close: (): void => void running.then((session) => session.close()).catch(() => undefined),
  };
}

const nothing = (): void => undefined;
