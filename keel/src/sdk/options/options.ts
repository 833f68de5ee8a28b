/** The options of `query()`: names and meanings of the interface that Keel is a drop-in for, in types of our own. */
import type { PermissionMode } from "../../protocol/settings.ts";
import type { ProcessOptions } from "../process/options.ts";
import type { SessionStore } from "../stored/session-store.ts";
import type { OnElicitation } from "../tools/elicitation.ts";
import type { McpServerConfig } from "../tools/mcp-server.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { CanUseTool } from "./callbacks.ts";
import type { HookMap } from "./hooks.ts";
import type { AcceptedOptions } from "./options-accepted.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";

export type Options = FurtherOptions & {
  abortController?: AbortController;
  /** Further folders to work in. */
  additionalDirectories?: string[];
  /** The main conversation works as this kind of agent. */
  agent?: string;
  /** Kinds of agents for this session, by name. */
  agents?: Record<string, AgentDefinition>;
  /** Rules for what runs without a question; no filter of tools. */
  allowedTools?: string[];
  allowDangerouslySkipPermissions?: boolean;
  canUseTool?: CanUseTool;
  continue?: boolean;
  cwd?: string;
  /** Rules for what never runs; a bare tool is not offered. */
  disallowedTools?: string[];
  effort?: "low" | "medium" | "high" | "xhigh" | "max";
  enableFileCheckpointing?: boolean;
  /** The whole environment of the session, in place of the process's own. */
  env?: Record<string, string | undefined>;
  extraArgs?: Record<string, string | null>;
  /** One model, or several separated by commas. */
  fallbackModel?: string;
  /** Also tells what sub-agents say and think. */
  forwardSubagentText?: boolean;
  forkSession?: boolean;
  /** Callbacks by the name of the point: `PreToolUse`, `Stop` … */
  hooks?: HookMap;
  /** Also tells when hooks run that are commands or addresses. */
  includeHookEvents?: boolean;
  includePartialMessages?: boolean;
  /** Keeps the session open after its prompt, until `close()`. */
  keepOpen?: boolean;
  /** Milliseconds for `sessionStore.load`; none when left out. */
  loadTimeoutMs?: number;
  /** What the host forbids: rules that deny or ask, and bypassing. Nothing in it allows anything. */
  managedSettings?: Record<string, unknown>;
  maxBudgetUsd?: number;
  maxThinkingTokens?: number;
  maxTurns?: number;
  mcpServers?: Record<string, McpServerConfig>;
  model?: string;
  /** Answers what servers ask the person; without it they are told no. */
  onElicitation?: OnElicitation;
  outputFormat?: { type: "json_schema"; schema: Record<string, unknown> };
  /** Left out, the settings decide. */
  permissionMode?: PermissionMode;
  /** A tool of `mcpServers` that answers what would be asked. */
  permissionPromptToolName?: string;
  /** `none`: whatever would be asked is refused. */
  permissionPrompts?: "host" | "none";
  persistSession?: boolean;
  /** Plugins by the path of their folder; naming one is trusting it. */
  plugins?: SdkPluginConfig[];
  /** The folder whose project settings count, in place of `cwd`. */
  projectConfigRoot?: string;
  resume?: string;
  /** Goes on from an earlier message, in a copy: a log never shrinks. */
  resumeSessionAt?: string;
  sandbox?: SandboxSettings;
  sessionId?: string;
  /** Receives a copy of the session as it grows, and can bring it back. */
  sessionStore?: SessionStore;
  sessionStoreFlush?: "batched" | "eager";
  /** Settings for this session alone: an object, or the path of a file. */
  settings?: string | Record<string, unknown>;
  settingSources?: SettingSource[];
  /** The skills that the model is offered, by name; all when left out. */
  skills?: string[] | "all";
  /** Hears what a person should know. */
  stderr?: (data: string) => void;
  /** Only `mcpServers`: servers of settings are left out. */
  strictMcpConfig?: boolean;
  systemPrompt?:
    | string
    | string[]
    | SystemPromptPreset
    | { type: "custom"; prompt: string | string[]; snapshot?: unknown };
  thinking?: ThinkingConfig;
  title?: string;
  /** A call of the one name runs the tool of the other. */
  toolAliases?: Record<string, string>;
  /** The built-in tools that are offered; none for an empty list. */
  tools?: string[] | { type: "preset"; preset: string };
  /** Messages are words and nothing else: a slash calls no command, an `@` names no file. */
  verbatimPrompts?: boolean;
};

/** Those that have files of their own. */
type FurtherOptions = AcceptedOptions & ProcessOptions;

export type SystemPromptPreset = {
  type: "preset";
  preset: string;
  append?: string;
  excludeDynamicSections?: boolean;
  snapshot?: unknown;
};

export type SettingSource = "user" | "project" | "local";

/** `display`: whether thinking is shown is the host's own choice. */
export type ThinkingConfig =
  | { type: "adaptive"; display?: string }
  | { type: "enabled"; budgetTokens?: number; display?: string }
  | { type: "disabled" };

export type SdkPluginConfig = { type: "local"; path: string; skipMcpDiscovery?: boolean };
