/** The SDK: what `import "keel"` gives. Every export is listed by name. */

export type {
  HookEvent,
  HookInput,
  HookMoment,
  HookMomentOf,
  HookOutput,
  HookSpecificOutput,
} from "../protocol/hook.ts";
export { hookEvents as HOOK_EVENTS } from "../protocol/hook.ts";
export type { PermissionMode } from "../protocol/settings.ts";
export { AbortError } from "./abort-error.ts";
export type { AgentDefinition } from "./agent-definition.ts";
export type { CanUseTool, PermissionResult } from "./callbacks.ts";
export type { UserMessage } from "./content.ts";
export type { QueryControls, ReadFileOptions, ReadFileResult } from "./controls.ts";
export type { Prompt } from "./conversation.ts";
export type { ElicitationRequest, ElicitResult, OnElicitation } from "./elicitation.ts";
export type * from "./hook-inputs.ts";
export type {
  HookCallback,
  HookCallbackMatcher,
  HookInputOf,
  HookJSONOutput,
  HookMap,
} from "./hooks.ts";
export type { QueryInquiries, ReloadedPlugins, ResourceContents, SessionUsage } from "./inquiries.ts";
export type {
  AccountInfo,
  AgentInfo,
  ContextUsage,
  InitializationResult,
  ModelInfo,
  SlashCommand,
} from "./introspection.ts";
export {
  createSdkMcpServer,
  type McpHttpServerConfig,
  type McpSdkServerConfig,
  type McpServerConfig,
  type McpServerStatus,
  type McpStdioServerConfig,
  type SdkMcpServer,
} from "./mcp-server.ts";
export type * from "./messages.ts";
export type * from "./messages-content.ts";
export type * from "./messages-system.ts";
export type * from "./messages-tasks.ts";
export {
  BUILTIN_TOOL_NAMES,
  EXIT_REASONS,
  type ExitReason,
  LEGACY_TOOL_NAME_ALIASES,
  SYSTEM_PROMPT_DYNAMIC_BOUNDARY,
} from "./names.ts";
export type {
  Options,
  SdkPluginConfig,
  SettingSource,
  SystemPromptPreset,
  ThinkingConfig,
} from "./options.ts";
export type { AcceptedOptions } from "./options-accepted.ts";
export type {
  PermissionBehavior,
  PermissionRuleValue,
  PermissionUpdate,
  PermissionUpdateDestination,
} from "./permission-updates.ts";
export type { SpawnedProcess, SpawnOptions } from "./process/options.ts";
export { type Query, query } from "./query.ts";
export {
  type ResolvedSettings,
  type ResolvedSource,
  type ResolveSettingsOptions,
  resolveSettings,
  type Settings,
} from "./resolve-settings.ts";
export type { RewindFilesResult } from "./rewind-result.ts";
export type { SandboxFilesystemConfig, SandboxNetworkConfig, SandboxSettings } from "./sandbox-settings.ts";
export type { McpSetServersResult } from "./servers.ts";
export { createSession, resumeSession, type SDKSession } from "./session.ts";
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
} from "./session-functions.ts";
export {
  InMemorySessionStore,
  type SessionKey,
  type SessionStore,
  type SessionStoreEntry,
} from "./session-store.ts";
export { type ClaimOptions, prewarm, type SpareProcess, startup, type WarmQuery } from "./startup.ts";
export {
  type AnyToolDefinition,
  type CallToolResult,
  type SdkMcpToolDefinition,
  type ToolAnnotations,
  type ToolContent,
  type ToolExtra,
  type ToolExtras,
  tool,
} from "./tool.ts";
export type { OutputOf, Shape, StandardSchema } from "./tool-schema.ts";
