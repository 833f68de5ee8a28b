/** The options of `query()`: names and meanings of the interface that Keel is a drop-in for, in types of our own. */
import type { PermissionMode } from "../protocol/settings.ts";
import type { CanUseTool } from "./callbacks.ts";
import type { HookMap } from "./hooks.ts";
import type { McpServerConfig } from "./mcp-server.ts";
import type { ProcessOptions } from "./process/options.ts";
import type { SessionStore } from "./session-store.ts";

export type Options = ProcessOptions & {
  abortController?: AbortController;
  /** Further folders to work in. */
  additionalDirectories?: string[];
  /** Rules for what runs without a question; no filter of tools. */
  allowedTools?: string[];
  allowDangerouslySkipPermissions?: boolean;
  betas?: string[];
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
  forkSession?: boolean;
  /** Callbacks by the name of the point: `PreToolUse`, `Stop` … */
  hooks?: HookMap;
  /** Also tells when hooks run that are commands or addresses. */
  includeHookEvents?: boolean;
  includePartialMessages?: boolean;
  /** Keeps the session open after its prompt, until `close()`. */
  keepOpen?: boolean;
  maxBudgetUsd?: number;
  maxThinkingTokens?: number;
  maxTurns?: number;
  mcpServers?: Record<string, McpServerConfig>;
  model?: string;
  outputFormat?: { type: "json_schema"; schema: Record<string, unknown> };
  /** Left out, the settings decide. */
  permissionMode?: PermissionMode;
  /** A tool of `mcpServers` that answers what would be asked. */
  permissionPromptToolName?: string;
  /** `none`: whatever would be asked is refused. */
  permissionPrompts?: "host" | "none";
  persistSession?: boolean;
  /** Plugins by the path of their folder; naming one is trusting it. */
  plugins?: { type: "local"; path: string }[];
  resume?: string;
  /** Goes on from an earlier message, in a copy: a log never shrinks. */
  resumeSessionAt?: string;
  sessionId?: string;
  /** Receives a copy of the session as it grows, and can bring it back. */
  sessionStore?: SessionStore;
  sessionStoreFlush?: "batched" | "eager";
  /** Settings for this session alone: an object, or the path of a file. */
  settings?: string | Record<string, unknown>;
  settingSources?: ("user" | "project" | "local")[];
  /** The skills that the model is offered, by name; all when left out. */
  skills?: string[] | "all";
  /** Hears what a person should know. */
  stderr?: (data: string) => void;
  systemPrompt?: string | string[] | SystemPromptPreset | { type: "custom"; prompt: string | string[] };
  thinking?: { type: "adaptive" } | { type: "enabled"; budgetTokens?: number } | { type: "disabled" };
  title?: string;
  /** The built-in tools that are offered; none for an empty list. */
  tools?: string[] | { type: "preset"; preset: string };
  /** Messages are words and nothing else: a slash calls no command, an `@` names no file. */
  verbatimPrompts?: boolean;
};

export type SystemPromptPreset = {
  type: "preset";
  preset: string;
  append?: string;
  excludeDynamicSections?: boolean;
};
