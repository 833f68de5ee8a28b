/** What methods and the control protocol answer, under the names by which programs import it. Types only. */
import type { PermissionMode } from "../../protocol/settings.ts";
import type { EffortLevel, FastModeDisabledReason, FastModeState } from "../messages/messages.ts";
import type { SDKContextKind } from "../messages/reports.ts";
import type { SlashCommand } from "../messages/system.ts";
import type { PermissionBehavior } from "../options/permission-updates.ts";
import type { McpServerStatus } from "../tools/mcp-server.ts";

export type OfferedModel = {
  value: string;
  /** What an alias stands for. */
  resolvedModel?: string;
  displayName: string;
  description: string;
  supportsEffort?: boolean;
  supportedEffortLevels?: EffortLevel[];
  supportsAdaptiveThinking?: boolean;
  supportsFastMode?: boolean;
  supportsAutoMode?: boolean;
};
export type AgentInfo = { name: string; description: string; model?: string };
export type AccountInfo = {
  apiKeySource?: string;
  /** `firstParty`: the vendor of the interface; `gateway`: anybody else, whom `provider` names. */
  apiProvider?:
    | "anthropicAws"
    | "anthropicGoogleCloud"
    | "bedrock"
    | "firstParty"
    | "foundry"
    | "gateway"
    | "mantle"
    | "vertex";
  provider?: string;
  email?: string;
  organization?: string;
  subscriptionType?: string;
  tokenSource?: string;
};

export type SDKControlInterruptResponse = { still_queued: string[]; cancelled?: string[] };
export type SDKControlReloadSkillsResponse = { skills: SlashCommand[] };
export type SDKControlReloadOutputStylesResponse = { available_output_styles: string[] };
export type SDKControlReloadPluginsResponse = {
  commands: SlashCommand[];
  agents: AgentInfo[];
  plugins: { name: string; path: string; source?: string; version?: string }[];
  mcpServers: McpServerStatus[];
  error_count: number;
  held?: boolean;
  cache_impact?: {
    mcp_servers_added: string[];
    mcp_servers_removed: string[];
    lsp_tool_change: "adds" | "may-add" | "may-remove" | "removes" | null;
  };
};

export type SDKControlReadFileResponse = {
  contents: string;
  absPath: string;
  truncated?: boolean;
  encoding?: "base64";
  /** Some bytes were no text. */
  lossy?: boolean;
};

export type SDKControlMcpReadResourceResponse = {
  contents: {
    uri: string;
    mimeType?: string;
    text?: string;
    blob?: string;
    _meta?: Record<string, unknown>;
  }[];
};

export type SDKControlInitializeResponse = {
  commands: SlashCommand[];
  agents: AgentInfo[];
  models: OfferedModel[];
  account: AccountInfo;
  output_style: string;
  available_output_styles: string[];
  hooks_applied?: boolean;
  hook_on_failure_supported?: boolean;
  plugins_applied?: boolean;
  sdk_mcp_manifests_parked?: Record<
    string,
    "already_connected" | "malformed" | "not_honoured" | "parked" | "protocol_version_mismatch"
  >;
  claude_code_version?: string;
  current_permission_mode?: PermissionMode;
  fast_mode_state?: FastModeState;
  fast_mode_disabled_reason?: FastModeDisabledReason;
};

type CountedName = { name: string; tokens: number };
type FromPlugin = { pluginId?: string; path?: string };

/** What fills the window. What Keel does not count one by one is empty, or shared out evenly (`memoryFiles`), or 0. */
export type SDKControlGetContextUsageResponse = {
  categories: (CountedName & {
    id?:
      | "autocompact_buffer"
      | "compact_buffer"
      | "custom_agents"
      | "free_space"
      | "mcp_instructions"
      | "mcp_tools"
      | "mcp_tools_deferred"
      | "memory_files"
      | "messages"
      | "skills"
      | "system_prompt"
      | "system_tools"
      | "system_tools_deferred";
    color: string;
    isDeferred?: boolean;
    kind: SDKContextKind;
  })[];
  totalTokens: number;
  maxTokens: number;
  rawMaxTokens: number;
  percentage: number;
  gridRows: {
    color: string;
    isFilled: boolean;
    categoryName: string;
    tokens: number;
    percentage: number;
    squareFullness: number;
  }[][];
  model: string;
  memoryFiles: { path: string; type: string; tokens: number }[];
  mcpTools: (CountedName & { serverName: string; isLoaded?: boolean })[];
  mcpInstructions?: { serverName: string; tokens: number }[];
  deferredBuiltinTools?: (CountedName & { isLoaded: boolean })[];
  systemTools?: CountedName[];
  systemPromptSections?: CountedName[];
  agents: ({ agentType: string; source: string; tokens: number } & FromPlugin)[];
  slashCommands?: { totalCommands: number; includedCommands: number; tokens: number };
  skills?: {
    totalSkills: number;
    includedSkills: number;
    tokens: number;
    skillFrontmatter: (CountedName & FromPlugin & { source: string; pluginName?: string })[];
  };
  /** From this size on the conversation is shortened by itself. */
  autoCompactThreshold?: number;
  isAutoCompactEnabled: boolean;
  messageBreakdown?: {
    toolCallTokens: number;
    toolResultTokens: number;
    attachmentTokens: number;
    assistantMessageTokens: number;
    userMessageTokens: number;
    redirectedContextTokens: number;
    unattributedTokens: number;
    toolCallsByType: { name: string; callTokens: number; resultTokens: number }[];
    attachmentsByType: CountedName[];
  };
  apiUsage: Record<
    "cache_creation_input_tokens" | "cache_read_input_tokens" | "input_tokens" | "output_tokens",
    number
  > | null;
};

export type SDKPermissionRuleDescription = { prefix: string; emphasis?: string; suffix?: string };
export type SDKPermissionRuleEntry = {
  behavior: PermissionBehavior;
  source:
    | "cliArg"
    | "command"
    | "flagSettings"
    | "hostCredential"
    | "localSettings"
    | "mcpMount"
    | "mcpServerPolicy"
    | "policySettings"
    | "projectSettings"
    | "session"
    | "toolsNarrowing"
    | "userSettings";
  rule: string;
  description?: SDKPermissionRuleDescription;
  editability: "persistent" | "readonly" | "session";
  notInEffect?: boolean;
};
export type SDKPermissionWorkspaceDirectory = { path: string; source: string };
export type SDKControlPermissionRulesState = {
  rules: SDKPermissionRuleEntry[];
  workspaceDirectories: SDKPermissionWorkspaceDirectory[];
  originalCwd: string;
  managedOnly: boolean;
  errors?: SDKSettingsParseError[];
  withheld?: boolean;
};
export type SDKControlListPermissionRulesResponse = { state: SDKControlPermissionRulesState };
export type SDKSettingsParseError = { file?: string; path: string; message: string };

/** Frames of the control protocol; which requests there are, only the two ends need to know. */
export type SDKControlRequest = {
  type: "control_request";
  request_id: string;
  request: { subtype: string };
};
export type SDKControlResponse = {
  type: "control_response";
  response:
    | { subtype: "success"; request_id: string; response?: Record<string, unknown> }
    | { subtype: "error"; request_id: string; error: string };
};

/** A wire to an executable, as its SDK sees it; here a program gives a process: `spawnClaudeCodeProcess`. */
export type Transport = {
  write(data: string): void | Promise<void>;
  close(): void;
  isReady(): boolean;
  readMessages(): AsyncGenerator<unknown, void, unknown>;
  endInput(): void;
  expectControlResponse?(requestId: string): void;
  markDelivered?(message: object): void;
  waitForExit?(): Promise<void>;
  [Symbol.dispose]?(): void;
};
