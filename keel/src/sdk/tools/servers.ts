/**
 * The servers of a session: given with its options, and others later. Those of this process are run here; any other is
 * the session's own affair, which is looked at through `Outside`.
 */

import { type OwnTool, ownTool } from "../../app/compose/own-tools.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { callTool } from "./call-tool.ts";
import {
  type McpSdkServerConfig,
  type McpServerConfig,
  type McpServerStatus,
  outsideServers,
  outsideState,
  type ServerConfigs,
  serverStates,
  toolName,
} from "./mcp-server.ts";
import type { AnyToolDefinition } from "./tool.ts";
import { toolInputOf } from "./tool-schema.ts";

/** What became of `setMcpServers`. */
export type McpSetServersResult = {
  added: string[];
  removed: string[];
  /** By the name of the server. */
  errors: Record<string, string>;
};

/** Servers outside of this process. */
export type Outside = {
  /** In place of those before; says which could not be reached, and why. Their tools reach the session by themselves. */
  set(servers: ServerConfigs): Promise<Record<string, string>>;
  states(): readonly McpServerStatus[];
  reconnect(name: string): Promise<void>;
  toggle(name: string, enabled: boolean): Promise<void>;
};

export const outsideOf = ({ mcp }: Pick<OpenSession, "mcp">): Outside => ({
  set: async (servers) => (await mcp.set(outsideServers(servers))).errors,
  states: () => mcp.status().map(outsideState),
  reconnect: (name) => mcp.reconnect(name),
  toggle: (name, enabled) => mcp.toggle(name, enabled ? "on" : "off"),
});

export class SessionServers {
  readonly #session: OpenSession;
  readonly #changed: () => void;
  readonly #outside: Outside;
  readonly #disabled = new Set<string>();
  #servers: ServerConfigs;

  constructor(
    session: OpenSession,
    { given, changed, outside }: { given: ServerConfigs | undefined; changed: () => void; outside: Outside },
  ) {
    this.#session = session;
    this.#servers = given ?? {};
    this.#changed = changed;
    this.#outside = outside;
  }

  /** Those that the program named, in its order, then those of files. */
  states(): McpServerStatus[] {
    const own = serverStates(this.#servers).map((state) =>
      this.#disabled.has(state.name) ? { name: state.name, status: "disabled" as const } : state,
    );
    const names = Object.keys(this.#servers);
    const placeOf = ({ name }: McpServerStatus): number =>
      names.includes(name) ? names.indexOf(name) : names.length;
    return [...own, ...this.#outside.states()].toSorted((left, right) => placeOf(left) - placeOf(right));
  }

  /** All that the program has, in place of what it had. */
  async set(servers: ServerConfigs): Promise<McpSetServersResult> {
    const before = this.#servers;
    this.#servers = { ...servers };
    for (const name of this.#disabled) if (!Object.hasOwn(servers, name)) this.#disabled.delete(name);
    const errors = await this.#outside.set(servers);
    this.#apply();
    return {
      added: Object.keys(servers).filter((name) => servers[name] !== before[name] && !(name in errors)),
      removed: Object.keys(before).filter((name) => !Object.hasOwn(servers, name)),
      errors,
    };
  }

  /** Throws `usage` for a server that nobody named. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    if (!this.#isOwn(name)) await this.#outside.toggle(name, enabled);
    else if (enabled) this.#disabled.delete(name);
    else this.#disabled.add(name);
    this.#apply();
  }

  /** One of this process is always connected. Throws `usage` for a server that nobody named, and `mcp_failed`. */
  async reconnect(name: string): Promise<void> {
    if (!this.#isOwn(name)) await this.#outside.reconnect(name);
    this.#changed();
  }

  #isOwn(name: string): boolean {
    const config = Object.hasOwn(this.#servers, name) ? this.#servers[name] : undefined;
    return config !== undefined && isOwn(config);
  }

  #apply(): void {
    const enabled = Object.entries(this.#servers).filter(([name]) => !this.#disabled.has(name));
    this.#session.setOwnTools(ownToolsOf(Object.fromEntries(enabled)));
    this.#changed();
  }
}

const isOwn = (config: McpServerConfig): boolean => config.type === "sdk";

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
