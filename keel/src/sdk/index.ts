/** The SDK: what `import "keel"` gives. Every export is listed by name. */

export type { UUID } from "../kernel/uuid.ts";
export type {
  HookEvent,
  HookInput,
  HookMoment,
  HookMomentOf,
  HookOutput,
  HookSpecificOutput,
} from "../protocol/hook.ts";
export { hookEvents as HOOK_EVENTS } from "../protocol/hook.ts";
export type {
  PluginConfig as SdkPluginConfig,
  SystemPromptPreset,
  ThinkingConfig,
} from "../protocol/option-row.ts";
export type { SettingSource } from "../protocol/options.ts";
export type { PermissionMode } from "../protocol/settings.ts";
export type * from "./messages/content.ts";
export type * from "./messages/messages.ts";
export type { UserMessage } from "./messages/read-content.ts";
export type * from "./messages/system.ts";
export {
  BUILTIN_TOOL_NAMES,
  EXIT_REASONS,
  type ExitReason,
  LEGACY_TOOL_NAME_ALIASES,
  SYSTEM_PROMPT_DYNAMIC_BOUNDARY,
} from "./names.ts";
export type {
  CanUseTool,
  ElicitationRequest,
  ElicitResult,
  OnElicitation,
  PermissionResult,
} from "./options/callbacks.ts";
export type * from "./options/hooks.ts";
export type * from "./options/options.ts";
export type {
  PermissionBehavior,
  PermissionRuleValue,
  PermissionUpdate,
  PermissionUpdateDestination,
} from "./options/permission-updates.ts";
export {
  type ResolvedSettings,
  type ResolvedSource,
  type ResolveSettingsOptions,
  resolveSettings,
  type Settings,
} from "./options/resolve-settings.ts";
export { AbortError, type Prompt } from "./query/conversation.ts";
export type { QueryInquiries, ReloadedPlugins, ResourceContents, SessionUsage } from "./query/inquiries.ts";
export type {
  AccountInfo,
  AgentInfo,
  ContextUsage,
  InitializationResult,
  OfferedModel as ModelInfo,
} from "./query/introspection.ts";
export { query } from "./query/query.ts";
export type {
  Query,
  QueryControls,
  ReadFileOptions,
  ReadFileResult,
  RewindFilesResult,
} from "./query/query-methods.ts";
export { createSession, resumeSession, type SDKSession } from "./query/session.ts";
export { type ClaimOptions, prewarm, type SpareProcess, startup, type WarmQuery } from "./query/startup.ts";
export {
  archiveSession,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  importSessionToStore,
  type ListSessionsOptions,
  listSessions,
  listSubagents,
  renameSession,
  type SDKSessionInfo,
  type SessionMessage,
  type SessionPlace,
  tagSession,
  unarchiveSession,
} from "./stored/session-functions.ts";
export {
  InMemorySessionStore,
  type SessionKey,
  type SessionStore,
  type SessionStoreEntry,
} from "./stored/session-store.ts";
export {
  createSdkMcpServer,
  type McpHttpServerConfig,
  type McpSdkServerConfig,
  type McpServerConfig,
  type McpServerStatus,
  type McpStdioServerConfig,
} from "./tools/mcp-server.ts";
export type { RegisteredTool, SdkMcpServer } from "./tools/sdk-server.ts";
export type { McpSetServersResult } from "./tools/servers.ts";
export {
  type AnyToolDefinition,
  type CallToolResult,
  type SdkMcpToolDefinition,
  type ToolAnnotations,
  type ToolContent,
  type ToolExtra,
  type ToolExtras,
  tool,
} from "./tools/tool.ts";
export type { OutputOf, Shape, StandardSchema } from "./tools/tool-schema.ts";
