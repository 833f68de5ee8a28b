/** What a query is: an iterator of messages with the methods of the interface. */
import type { PermissionMode } from "../../protocol/settings.ts";
import type { EffortLevel, SDKMessage } from "../messages/messages.ts";
import type { UserMessage } from "../messages/read-content.ts";
import type { SlashCommand } from "../messages/system.ts";
import type { Settings } from "../options/settings.ts";
import type { McpServerConfig, McpServerStatus } from "../tools/mcp-server.ts";
import type { McpSetServersResult } from "../tools/servers.ts";
import type { QueryInquiries, SDKControlGetSettingsResponse } from "./inquiries.ts";
import type {
  AccountInfo,
  AgentInfo,
  OfferedModel,
  SDKControlGetContextUsageResponse,
  SDKControlInitializeResponse,
  SDKControlInterruptResponse,
  SDKControlReadFileResponse,
} from "./responses.ts";

export interface Query extends AsyncGenerator<SDKMessage, void>, QueryControls, QueryInquiries {
  /** Ends the running turn; the session stays usable. `cancelQueued`: what waits is dropped too. */
  interrupt(options?: { cancelQueued?: boolean }): Promise<SDKControlInterruptResponse>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Without a name, the model that the query began with. */
  setModel(model?: string): Promise<void>;
  /** How thinking is shown is the provider's affair. */
  setMaxThinkingTokens(
    tokens: number | null,
    thinkingDisplay?: "highlights" | "omitted" | "summarized" | null,
  ): Promise<void>;
  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<RewindFilesResult>;
  streamInput(messages: AsyncIterable<UserMessage>): Promise<void>;
  initializationResult(): Promise<SDKControlInitializeResponse>;
  /** Looks once more, as the session is now. */
  reinitialize(): Promise<SDKControlInitializeResponse>;
  supportedCommands(): Promise<SlashCommand[]>;
  supportedModels(): Promise<OfferedModel[]>;
  supportedAgents(): Promise<AgentInfo[]>;
  accountInfo(): Promise<AccountInfo>;
  getContextUsage(options?: { detail?: "full" | "summary" }): Promise<SDKControlGetContextUsageResponse>;
  stopTask(taskId: string): Promise<void>;
  /** Sends what runs to the background; false when nothing could go. */
  backgroundTasks(toolUseId?: string): Promise<boolean>;
  /** Ends the session; the iterator ends after its last message. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What can be asked of a session, beside its messages. */
export type QueryMethods = Omit<Query, keyof AsyncGenerator<SDKMessage, void>>;

/** What a program can ask of a running query beside its turns: servers, settings, files. */
export interface QueryControls {
  mcpServerStatus(): Promise<McpServerStatus[]>;
  /** All servers of the program, in place of those that it had. */
  setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult>;
  /**
   * `default`: every call of the server's tools is asked about, whatever would let it through. Otherwise rules and the
   * mode decide, as they do without it: nothing is ever allowed by this.
   */
  setMcpPermissionModeOverride(
    serverName: string,
    mode: "auto" | "default" | null,
  ): Promise<{ warning?: string }>;
  toggleMcpServer(serverName: string, enabled: boolean): Promise<void>;
  reconnectMcpServer(serverName: string): Promise<void>;
  /** Settings for this session: the model and permissions. Rejects what only a new session can take in. */
  applyFlagSettings(
    settings: {
      [name in keyof Settings]?: name extends "effortLevel" ? EffortLevel | null : Settings[name] | null;
    },
  ): Promise<void>;
  /** A title for the session. */
  renameSession(title: string): Promise<void>;
  /** A title made of the first words of a text; no model is asked for it. `persist`: the session has it from now on. */
  generateSessionTitle(description: string, options?: { persist?: boolean }): Promise<string | null>;
  /** What is in force, and who said it. */
  getSettings(): Promise<SDKControlGetSettingsResponse>;
  /** Settings into a file; permissions also hold at once. */
  updateSettings(
    destination: "localSettings" | "userSettings",
    settings: Record<string, unknown>,
  ): Promise<void>;
  /** Null for a file that cannot be read, or that the model may not read unasked. */
  readFile(path: string, options?: ReadFileOptions): Promise<ReadFileResult | null>;
}

export type ReadFileOptions = { maxBytes?: number; encoding?: "utf8" | "utf-8" | "base64" };

export type ReadFileResult = SDKControlReadFileResponse & { requested_path?: string };

/** What became of files that were to be put back. */
export type RewindFilesResult = {
  canRewind: boolean;
  error?: string;
  filesChanged?: string[];
  insertions?: number;
  deletions?: number;
  skippedLinks?: number;
};
