/**
 * The options of `query()`: names and meanings of the interface that Keel is a drop-in for, in types of our own. What is
 * plain data stands in the table of `protocol/options.ts`; here is what only a program can give.
 */

import type { Readable, Writable } from "node:stream";
import type { SessionOptions } from "../../protocol/options.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { EffortLevel } from "../messages/messages.ts";
import type { SessionStore, SessionStoreFlush } from "../stored/session-store.ts";
import type { McpServerConfig, McpServerConfigForProcessTransport } from "../tools/mcp-server.ts";
import type { CanUseTool, OnElicitation } from "./callbacks.ts";
import type { HookMap } from "./hooks.ts";
import type { SandboxSettings } from "./sandbox.ts";
import type { Settings } from "./settings.ts";

/** What was given, is given: an option is there with a value, or not there. */
type TableOptions = {
  [Name in keyof SessionOptions as Name extends keyof ProgramOptions ? never : Name]?: Exclude<
    SessionOptions[Name],
    undefined
  >;
};

export type Options = TableOptions & ProgramOptions & AcceptedOptions & ProcessOptions;

/** No plain data, or about the program rather than the session. */
type ProgramOptions = {
  abortController?: AbortController;
  /** Kinds of agents for this session, by name. */
  agents?: Record<string, AgentDefinition>;
  canUseTool?: CanUseTool;
  cwd?: string;
  /** The whole environment of the session, in place of the process's own. */
  env?: Record<string, string | undefined>;
  extraArgs?: Record<string, string | null>;
  /** Callbacks by the name of the point: `PreToolUse`, `Stop` … */
  hooks?: HookMap;
  /** Keeps the session open after its prompt, until `close()`. */
  keepOpen?: boolean;
  /** Milliseconds for `sessionStore.load`; none when left out. */
  loadTimeoutMs?: number;
  mcpServers?: Record<string, McpServerConfig>;
  /** Answers what servers ask the person; without it they are told no. */
  onElicitation?: OnElicitation;
  sandbox?: SandboxSettings;
  /** Receives a copy of the session as it grows, and can bring it back. */
  sessionStore?: SessionStore;
  sessionStoreFlush?: SessionStoreFlush;
  settings?: string | Settings;
  managedSettings?: Settings;
  /** Hears what a person should know. */
  stderr?: (data: string) => void;
  /** Messages are words and nothing else: a slash calls no command, an `@` names no file. */
  verbatimPrompts?: boolean;
};

export type OutputFormatType = "json_schema";
export type BaseOutputFormat = { type: OutputFormatType };

/** A server by its name, or written out. */
export type AgentMcpServerSpec = string | Record<string, McpServerConfigForProcessTransport>;

/** A kind of agent as programs define it. */
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
  mcpServers?: AgentMcpServerSpec[];
  skills?: string[];
  initialPrompt?: string;
  maxTurns?: number;
  background?: boolean;
  memory?: "user" | "project" | "local";
  /** A number is the tokens that it may think. */
  effort?: EffortLevel | number;
  /** A wish: it never goes further than the session's own mode. */
  permissionMode?: PermissionMode;
  omitClaudeMd?: boolean;
  autoCompactWindow?: number;
  observer?: string;
  observerMessage?: string;
  criticalSystemReminder_EXPERIMENTAL?: string;
};

/** About the process that the session runs in. */
type ProcessOptions = {
  /** `process`: the session runs in a process of its own, driven over a wire. */
  isolation?: "none" | "process";
  /** An executable that the session runs in, in place of Keel's own: implies `isolation: "process"`. */
  pathToClaudeCodeExecutable?: string;
  /** What a script of `pathToClaudeCodeExecutable` runs on; Node when left out. */
  executable?: "bun" | "deno" | "node";
  /** Arguments for what it runs on. */
  executableArgs?: string[];
  /** Starts the executable in the program's own way: in a container, on another machine. */
  spawnClaudeCodeProcess?: (options: SpawnOptions) => SpawnedProcess;
};

export type SpawnOptions = {
  command: string;
  args: string[];
  cwd?: string;
  env: Record<string, string | undefined>;
  /** Fires when the query is over. */
  signal: AbortSignal;
};

/** What is needed of a process; one of `node:child_process` has it. */
export type SpawnedProcess = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr?: Readable | null;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode?: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
  on: Listening;
  once: Listening;
  off: Listening;
};
type Listening = {
  (event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  (event: "error", listener: (error: Error) => void): unknown;
};

/**
 * Options that programs written for the interface may pass and that change nothing here, each with the reason. They are
 * accepted so that such programs compile and run; `docs/guide/migrating.md` lists them.
 */
export type AcceptedOptions = {
  /** Summaries of what sub-agents do, written by a model: `task_progress` tells their last tool instead. */
  agentProgressSummaries?: boolean;
  /** What a person should know goes to `stderr` and into `informational` messages. */
  debug?: boolean;
  debugFile?: string;
  /** There are no dialogs beside the questions that `canUseTool` gets. */
  onUserDialog?: OnUserDialog;
  supportedDialogKinds?: string[];
  /** An interrupt never ends work in the background; `stopTask()` does. */
  perTaskStopAffordance?: boolean;
  /** Plan mode is described by Keel's own words. */
  planModeInstructions?: string;
  /** Plugins are read where they stand. */
  pluginDelivery?: "argv" | "initialize";
  /** No model is asked for what nobody said. */
  promptSuggestions?: boolean;
  /** `resumeSessionAt` leaves what came after in the log: nothing is lost that would have to be guarded. */
  resumeDropsTurn?: string;
  /** A budget that one provider keeps; `maxBudgetUsd` holds with every provider. */
  taskBudget?: { total: number };
  /** A preview is shown as it was given. */
  toolConfig?: ToolConfig;
};

export type SdkBeta = "context-1m-2025-08-07";
export type ToolConfig = { askUserQuestion?: { previewFormat?: "markdown" | "html" } };

/** A dialog that a host would show; Keel opens none. */
export type UserDialogRequest = { dialogKind: string; payload: Record<string, unknown>; toolUseID?: string };
export type UserDialogResult = { behavior: "completed"; result: unknown } | { behavior: "cancelled" };
export type OnUserDialog = (
  request: UserDialogRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<UserDialogResult | null>;
