/** The tools of a program's servers as tools of a session. */
import { type OwnTool, ownTool } from "../../app/compose/own-tools.ts";
import { callTool } from "./call-tool.ts";
import { type McpSdkServerConfig, type ServerConfigs, toolName } from "./mcp-server.ts";
import type { AnyToolDefinition } from "./tool.ts";
import { toolInputOf } from "./tool-schema.ts";

/** The tools of all servers in this process, under the names that the model sees. */
export function ownToolsOf(servers: ServerConfigs = {}): OwnTool[] {
  return Object.entries(servers).flatMap(([server, config]) =>
    config.type === "sdk" ? config.instance.tools.map((one) => toolOf(one, { server, config })) : [],
  );
}

function toolOf(
  definition: AnyToolDefinition,
  { server, config }: { server: string; config: McpSdkServerConfig },
): OwnTool {
  return ownTool({
    name: toolName(server, definition.name),
    description: definition.description,
    ...toolInputOf(definition.inputSchema),
    readOnly: definition.annotations?.readOnlyHint === true,
    timeoutMs: config.timeout,
    run: (input, call) => callTool(definition, input, call),
  });
}
