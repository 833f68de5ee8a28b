/** `createSdkMcpServer()`: tools of the program, offered under the name of a server and run in this process. */
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/present.ts";
import type { McpServerOptions, McpServerState as OutsideStatus } from "../../protocol/mcp.ts";
import type { AnyToolDefinition } from "./tool.ts";

export type McpSdkServerConfig = {
  type: "sdk";
  name: string;
  /** The server itself. */
  instance: SdkMcpServer;
  /** Milliseconds for a call; none when left out. */
  timeout?: number;
  alwaysLoad?: boolean;
};

export type SdkMcpServer = {
  readonly name: string;
  readonly version: string;
  readonly instructions?: string | undefined;
  readonly tools: readonly AnyToolDefinition[];
};

export type McpStdioServerConfig = {
  type?: "stdio";
  command: string;
  args?: string[];
  env?: Record<string, string>;
  timeout?: number;
  alwaysLoad?: boolean;
};
export type McpHttpServerConfig = {
  type: "http" | "sse" | "ws";
  url: string;
  headers?: Record<string, string>;
  timeout?: number;
  alwaysLoad?: boolean;
};
export type McpServerConfig = McpSdkServerConfig | McpStdioServerConfig | McpHttpServerConfig;

export type McpServerStatus = {
  name: string;
  status: "connected" | "failed" | "needs-auth" | "pending" | "disabled";
  serverInfo?: { name: string; version: string };
  error?: string;
  /** Where it was named: by the program, or in a file. */
  scope?: string;
  transport?: string;
  tools?: { name: string; description?: string; annotations?: AnyToolDefinition["annotations"] }[];
};

/** Throws `usage` for two tools of one name. */
export function createSdkMcpServer({
  name,
  version = "1.0.0",
  instructions,
  tools = [],
  alwaysLoad,
  timeout,
}: {
  name: string;
  version?: string;
  instructions?: string;
  tools?: AnyToolDefinition[];
  alwaysLoad?: boolean;
  timeout?: number;
}): McpSdkServerConfig {
  const double = tools.find((one, index) => tools.findIndex((other) => other.name === one.name) < index);
  if (double) throw fault("usage", { reason: `The server ${name} has two tools called ${double.name}.` });
  return {
    type: "sdk",
    name,
    instance: { name, version, instructions, tools: [...tools] },
    ...present({ alwaysLoad, timeout }),
  };
}

type OutsideTool = Extract<OutsideStatus, { status: "connected" }>["tools"][number];
export type ServerConfigs = Readonly<Record<string, McpServerConfig>>;

/** A tool by the name that the model sees. */
export function definitionNamed(servers: ServerConfigs = {}, name: string): AnyToolDefinition | undefined {
  for (const [server, config] of Object.entries(servers)) {
    if (config.type !== "sdk") continue;
    const found = config.instance.tools.find((one) => toolName(server, one.name) === name);
    if (found) return found;
  }
  return undefined;
}

/** What the model calls a tool of a server. */
export const toolName = (server: string, name: string): string => `mcp__${plain(server)}__${plain(name)}`;
const plain = (name: string): string => name.replace(/[^\w-]/g, "_");

/** Servers of this process, which are always there. */
export function serverStates(servers: ServerConfigs = {}): McpServerStatus[] {
  return Object.entries(servers).flatMap(([name, config]): McpServerStatus[] => {
    if (config.type !== "sdk") return [];
    const { instance } = config;
    return [
      {
        name,
        status: "connected",
        serverInfo: { name: instance.name, version: instance.version },
        scope: "host",
        transport: "sdk",
        tools: instance.tools.map(toldTool),
      },
    ];
  });
}

const toldTool = ({
  name,
  description,
  annotations,
}: Pick<OutsideTool, "name" | "description" | "annotations">) => ({
  name,
  ...present({ description, annotations }),
});

/** A server outside of this process, as programs see it. */
export function outsideState(server: OutsideStatus): McpServerStatus {
  const { name, scope, transport, status } = server;
  const about = { name, status, scope, transport };
  if (server.status !== "connected")
    return "error" in server && server.error !== undefined ? { ...about, error: server.error } : about;
  return {
    ...about,
    serverInfo: { ...server.serverInfo },
    tools: server.tools.map(toldTool),
  };
}

/** Those that are not of this process, in the form in which the session takes them. */
export function outsideServers(servers: ServerConfigs = {}): Record<string, McpServerOptions> {
  return Object.fromEntries(
    Object.entries(servers).flatMap(([name, config]): [string, McpServerOptions][] => {
      if (config.type === "sdk") return [];
      return [[name, "command" in config ? { ...config, type: "stdio" } : config]];
    }),
  );
}
