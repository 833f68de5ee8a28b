/** The MCP servers of a session as hosts see and name them; the workspace's own is always there. */
import type { OpenSession } from "../../app/open-session.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject } from "../../kernel/json.ts";
import { type McpServerSpec, mcpServerSchema } from "../../protocol/mcp.ts";

export type ServerRow = { name: string; status: string; error?: string };

export const serversOf = ({ mcp }: OpenSession): ServerRow[] => [
  { name: "workspace", status: "connected" },
  ...mcp.status().map((server) => ({
    name: server.name,
    status: server.status,
    ...("error" in server && server.error !== undefined ? { error: server.error } : {}),
  })),
];

/** As hosts write them: a server with a command is one of `stdio`, whether or not it says so. Throws `usage`. */
export function readServers(given: Readonly<Record<string, unknown>>): Record<string, McpServerSpec> {
  return Object.fromEntries(
    Object.entries(given).map(([name, server]) => {
      const plain = isObject(server) ? server : {};
      const type = plain["type"] ?? ("command" in plain ? "stdio" : "http");
      const parsed = mcpServerSchema.safeParse({ ...plain, type });
      if (parsed.success) return [name, parsed.data];
      const issue = parsed.error.issues[0];
      throw fault("usage", {
        reason:
          `The MCP server ${JSON.stringify(name.slice(0, 80))} is wrong: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.slice(
            0,
            300,
          ),
      });
    }),
  );
}
