/** What a program can ask of a running query beside its turns: servers, settings, files. */
import { fault } from "../../kernel/fault.ts";
import type { McpServerConfig, McpServerStatus } from "../tools/mcp-server.ts";
import type { McpSetServersResult } from "../tools/servers.ts";
import type { Conversation } from "./conversation.ts";

export interface QueryControls {
  mcpServerStatus(): Promise<McpServerStatus[]>;
  /** All servers of the program, in place of those that it had. */
  setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult>;
  toggleMcpServer(serverName: string, enabled: boolean): Promise<void>;
  reconnectMcpServer(serverName: string): Promise<void>;
  /** Settings for this session: the model and permissions. Rejects what only a new session can take in. */
  applyFlagSettings(settings: Record<string, unknown>): Promise<void>;
  /** Settings into a file; permissions also hold at once. */
  updateSettings(
    destination: "localSettings" | "userSettings",
    settings: Record<string, unknown>,
  ): Promise<void>;
  /** Null for a file that cannot be read, or that the model may not read unasked. */
  readFile(path: string, options?: ReadFileOptions): Promise<ReadFileResult | null>;
}

export type ReadFileOptions = { maxBytes?: number; encoding?: "utf8" | "utf-8" | "base64" };

export type ReadFileResult = {
  contents: string;
  absPath: string;
  /** Some bytes were no text. */
  lossy: boolean;
  requested_path: string;
};

export function controlsOf(conversation: Conversation): QueryControls {
  return {
    mcpServerStatus: async () => (await conversation.servers()).states(),
    setMcpServers: async (servers) => (await conversation.servers()).set(servers),
    toggleMcpServer: async (name, enabled) => (await conversation.servers()).toggle(name, enabled),
    reconnectMcpServer: async (name) => (await conversation.servers()).reconnect(name),
    applyFlagSettings: async (settings) => (await conversation.open()).updateSettings("flags", settings),
    async updateSettings(destination, settings) {
      const to = destinations[destination];
      if (!to) throw fault("usage", { reason: `Settings are not written to ${destination}.` });
      await (await conversation.open()).updateSettings(to, settings);
    },
    async readFile(name, { maxBytes = maxFileBytes, encoding = "utf8" } = {}) {
      const read = await (await conversation.open()).readFile(name, { maxBytes });
      if (!read) return null;
      const bytes = Buffer.from(read.bytes);
      const contents = bytes.toString(encoding === "base64" ? "base64" : "utf8");
      const lossy = encoding !== "base64" && !bytes.equals(Buffer.from(contents));
      return { contents, absPath: read.path, lossy, requested_path: name };
    },
  };
}

const maxFileBytes = 10_000_000;

const destinations: Readonly<Record<string, "local" | "user" | undefined>> = {
  localSettings: "local",
  userSettings: "user",
};
