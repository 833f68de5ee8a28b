/** `createSdkMcpServer()`: tools of the program, offered under the name of a server and run in this process. */
import { fault } from "../../kernel/fault.ts";
import { isObject, present } from "../../kernel/json.ts";
import type { McpServerOptions, McpServerState as OutsideStatus } from "../../protocol/mcp.ts";
import { channelTo, type McpServerLike } from "./in-memory.ts";
import { SdkMcpServer } from "./sdk-server.ts";
import type { AnyToolDefinition, ToolAnnotations } from "./tool.ts";

export type McpSdkServerConfig<Instance = SdkMcpServer> = {
  type: "sdk";
  name: string;
  /** The server itself: one of `createSdkMcpServer`, or one that the program made with the MCP SDK. */
  instance: Instance;
  /** Milliseconds for a call; none when left out. */
  timeout?: number;
  tools?: McpServerToolPolicy[];
  alwaysLoad?: boolean;
};

export type McpStdioServerConfig = {
  type?: "stdio";
  command: string;
  args?: string[];
  env?: Record<string, string>;
  timeout?: number;
  alwaysLoad?: boolean;
};
type RemoteServerConfig<Type extends string> = {
  type: Type;
  url: string;
  headers?: Record<string, string>;
  tools?: McpServerToolPolicy[];
  timeout?: number;
  alwaysLoad?: boolean;
};
export type McpHttpServerConfig = RemoteServerConfig<"http">;
export type McpSSEServerConfig = RemoteServerConfig<"sse">;
type OutsideConfig = McpStdioServerConfig | McpSSEServerConfig | McpHttpServerConfig;
export type McpSdkServerConfigWithInstance = McpSdkServerConfig<SdkMcpServer | McpServerLike>;
export type McpServerConfig = McpSdkServerConfigWithInstance | OutsideConfig;

/** What a server's owner wants of one tool; here rules decide. */
export type McpServerToolPolicy = {
  name: string;
  permission_policy?: "always_allow" | "always_ask" | "always_deny";
  org_max_permission?: "allow" | "ask" | "blocked";
};

/** A server of the program without the server itself, as it is told over a wire. */
export type ToldSdkServerConfig = Omit<McpSdkServerConfig, "alwaysLoad" | "instance">;
export type McpServerConfigForProcessTransport = OutsideConfig | ToldSdkServerConfig;
/** A server that a service of the vendor reaches; there is none here. */
export type McpClaudeAIProxyServerConfig = {
  type: "claudeai-proxy";
  url: string;
  id: string;
  timeout?: number;
};
export type McpServerStatusConfig = McpServerConfigForProcessTransport | McpClaudeAIProxyServerConfig;
export type McpServerProvenance = { name: string; source: string };

export type McpServerStatus = {
  name: string;
  status: "connected" | "failed" | "needs-auth" | "pending" | "disabled";
  serverInfo?: { name: string; version: string };
  error?: string;
  /** Where it was named: by the program, or in a file. */
  scope?: string;
  transport?: string;
  /** How it was written; Keel does not tell what may hold a secret. */
  config?: McpServerStatusConfig;
  source?: string;
  tools?: {
    name: string;
    description?: string;
    annotations?: { readOnly?: boolean; destructive?: boolean; openWorld?: boolean };
    _meta?: Record<string, unknown>;
  }[];
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
  return {
    type: "sdk",
    name,
    instance: new SdkMcpServer({ name, version, instructions, tools }),
    ...present({ alwaysLoad, timeout }),
  };
}

type OutsideTool = Extract<OutsideStatus, { status: "connected" }>["tools"][number];
export type ServerConfigs = Readonly<Record<string, McpServerConfig>>;

/** Those that are made of tools of this program. */
export const ownServers = (servers: ServerConfigs = {}): [string, McpSdkServerConfig][] =>
  Object.entries(servers).flatMap(([name, config]): [string, McpSdkServerConfig][] =>
    isOwn(config) ? [[name, config]] : [],
  );

/** One that was made with another library is reached by messages, wherever it runs. */
export const isOwn = (config: McpServerConfig | undefined): config is McpSdkServerConfig =>
  config?.type === "sdk" && config.instance instanceof SdkMcpServer;

/** A tool by the name that the model sees. */
export function definitionNamed(servers: ServerConfigs = {}, name: string): AnyToolDefinition | undefined {
  for (const [server, { instance }] of ownServers(servers)) {
    const found = instance.tools.find((one) => toolName(server, one.name) === name);
    if (found) return found;
  }
  return undefined;
}

/** What the model calls a tool of a server. */
export const toolName = (server: string, name: string): string => `mcp__${plain(server)}__${plain(name)}`;
/** A rule that is about all of its tools. */
export const serverRule = (server: string): string => `mcp__${plain(server)}`;
const plain = (name: string): string => name.replace(/[^\w-]/g, "_");

/** Servers of this process, which are always there. */
export const serverStates = (servers: ServerConfigs = {}): McpServerStatus[] =>
  ownServers(servers).map(([name, { instance }]) => ({
    name,
    status: "connected",
    serverInfo: { name: instance.name, version: instance.version },
    scope: "host",
    transport: "sdk",
    tools: instance.tools.map(toldTool),
  }));

const toldTool = ({
  name,
  description,
  annotations,
}: Pick<OutsideTool, "name" | "description" | "annotations">) => ({
  name,
  ...present({ description, annotations: annotations && hintsOf(annotations) }),
});

const hintsOf = (hints: ToolAnnotations) =>
  present({
    readOnly: hints.readOnlyHint,
    destructive: hints.destructiveHint,
    openWorld: hints.openWorldHint,
  });

/** A server outside of this process, as programs see it. */
export function outsideState(server: OutsideStatus): McpServerStatus {
  const { name, scope, transport, status } = server;
  const about = { name, status, scope, transport: transport === "channel" ? "sdk" : transport };
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
      if (isOwn(config)) return [];
      if (config.type === "sdk") return [[name, carried(config)]];
      return [[name, "command" in config ? { ...config, type: "stdio" } : config]];
    }),
  );
}

/** Throws `usage` for a server that is none. */
function carried({ name, instance, timeout, alwaysLoad }: McpSdkServerConfig<unknown>): McpServerOptions {
  if (!isServerLike(instance))
    throw fault("usage", { reason: `The server ${name} has no instance that could be connected.` });
  return { type: "channel", channel: channelTo(instance), ...present({ timeout, alwaysLoad }) };
}

const isServerLike = (instance: unknown): instance is McpServerLike =>
  isObject(instance) && typeof instance["connect"] === "function";
