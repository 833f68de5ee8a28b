/** The MCP servers of a session as hosts see them; the workspace's own is always there. */
import type { OpenSession } from "../../app/open-session.ts";

export type ServerRow = { name: string; status: string; error?: string };

export function serversOf(_session: OpenSession): ServerRow[] {
  return [{ name: "workspace", status: "connected" }];
}
