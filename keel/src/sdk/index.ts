/** The SDK: what `import "keel"` gives. Every export is listed by name. */

export type { UUID } from "../kernel/uuid.ts";
export type {
  OutputFormat,
  OutputFormat as JsonSchemaOutputFormat,
  PluginConfig as SdkPluginConfig,
  SystemPromptPreset,
  ThinkingAdaptive,
  ThinkingConfig,
  ThinkingDisabled,
  ThinkingEnabled,
} from "../protocol/option-row.ts";
export type { SettingSource, SettingSource as ConfigScope } from "../protocol/options.ts";
export type { PermissionMode } from "../protocol/settings.ts";
export type * from "./messages/content.ts";
export type * from "./messages/messages.ts";
export type * from "./messages/provider-blocks.ts";
export type { UserMessage } from "./messages/read-content.ts";
export type * from "./messages/reports.ts";
export type * from "./messages/system.ts";
export {
  BUILTIN_TOOL_NAMES,
  EXIT_REASONS,
  type ExitReason,
  HOOK_EVENTS,
  type HookEventName as HookEvent,
  LEGACY_TOOL_NAME_ALIASES,
  SYSTEM_PROMPT_DYNAMIC_BOUNDARY,
} from "./names.ts";
export type {
  CanUseTool,
  ElicitationRequest,
  ElicitationResult,
  ElicitResult,
  OnElicitation,
  PermissionDecisionClassification,
  PermissionResult,
} from "./options/callbacks.ts";
export type * from "./options/hooks.ts";
export type {
  AnyHookInput as HookInput,
  AnyHookSpecificOutput as HookSpecificOutput,
} from "./options/hooks.ts";
export type * from "./options/options.ts";
export type {
  PermissionBehavior,
  PermissionRuleValue,
  PermissionUpdate,
  PermissionUpdateDestination,
} from "./options/permission-updates.ts";
export {
  filterEscalatingDefaultMode,
  type PolicySettingsOrigin,
  type ProvenanceEntry,
  type ResolvedSettingSource,
  type ResolvedSettings,
  type ResolvedSource,
  type ResolveSettingsOptions,
  resolveSettings,
} from "./options/resolve-settings.ts";
export type * from "./options/sandbox.ts";
export type { Settings } from "./options/settings.ts";
export type * from "./options/uncalled-hooks.ts";
export { AbortError, type Prompt } from "./query/conversation.ts";
export type { QueryInquiries } from "./query/inquiries.ts";
export { query } from "./query/query.ts";
export type {
  Query,
  QueryControls,
  ReadFileOptions,
  ReadFileResult,
  RewindFilesResult,
} from "./query/query-methods.ts";
export type * from "./query/responses.ts";
export type { OfferedModel as ModelInfo } from "./query/responses.ts";
export { createSession, resumeSession, type SDKSession } from "./query/session.ts";
export { type ClaimOptions, prewarm, type SpareProcess, startup, type WarmQuery } from "./query/startup.ts";
export {
  CommandMatcher,
  type DeniedModelsMatch,
  DirectConnectError,
  DirectConnectTransport,
  FileIndex,
  matchDeniedModels,
  ORG_POLICY_LIMIT_PREFIXES,
  parseDirectConnectUrl,
  USAGE_LIMIT_ERROR_PREFIXES,
  USAGE_TRANSITION_PREFIXES,
  USAGE_WARNING_PREFIXES,
} from "./stand-ins.ts";
export {
  archiveSession,
  deleteSession,
  type ForkSessionOptions,
  type ForkSessionResult,
  forkSession,
  type GetSessionInfoOptions,
  type GetSessionMessagesOptions,
  type GetSubagentMessagesOptions,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  type ImportSessionToStoreOptions,
  importSessionToStore,
  type ListSessionsOptions,
  type ListSubagentsOptions,
  listSessions,
  listSubagents,
  renameSession,
  type SDKSessionInfo,
  type SessionMessage,
  type SessionMutationOptions,
  type SessionPlace,
  tagSession,
  unarchiveSession,
} from "./stored/session-functions.ts";
export {
  foldSessionSummary,
  InMemorySessionStore,
  type SessionKey,
  type SessionStore,
  type SessionStoreEntry,
  type SessionStoreFlush,
  type SessionSummaryEntry,
} from "./stored/session-store.ts";
export {
  createSdkMcpServer,
  type McpClaudeAIProxyServerConfig,
  type McpHttpServerConfig,
  type McpSdkServerConfigWithInstance,
  type McpServerConfig,
  type McpServerConfigForProcessTransport,
  type McpServerProvenance,
  type McpServerStatus,
  type McpServerStatusConfig,
  type McpServerToolPolicy,
  type McpSSEServerConfig,
  type McpStdioServerConfig,
  type ToldSdkServerConfig as McpSdkServerConfig,
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
export type { AnyZodRawShape, InferShape, OutputOf, Shape, StandardSchema } from "./tools/tool-schema.ts";
