/**
 * The servers of a session: given with its options, and others later. Those of this process are run here; any other is
 * the session's own affair.
 */

import { type OwnTool, ownTool } from "../../app/compose/own-tools.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { own } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";
import { callTool } from "./call-tool.ts";
import {
  isOwn,
  type McpSdkServerConfig,
  type McpServerStatus,
  outsideServers,
  outsideState,
  ownServers,
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

export class SessionServers {
  readonly #session: OpenSession;
  readonly #changed: () => void;
  readonly #disabled = new Set<string>();
  #servers: ServerConfigs;

  constructor(
    session: OpenSession,
    { given, changed }: { given: ServerConfigs | undefined; changed: () => void },
  ) {
    this.#session = session;
    this.#servers = given ?? {};
    this.#changed = changed;
  }

  /** Those that the program named, in its order, then those of files. */
  states(): McpServerStatus[] {
    const inside = serverStates(this.#servers).map((state) =>
      this.#disabled.has(state.name) ? { name: state.name, status: "disabled" as const } : state,
    );
    const names = Object.keys(this.#servers);
    const placeOf = ({ name }: McpServerStatus): number =>
      names.includes(name) ? names.indexOf(name) : names.length;
    return [...inside, ...this.#session.mcp.status().map(outsideState)].toSorted(
      (left, right) => placeOf(left) - placeOf(right),
    );
  }

  /** `sdk` for those of the program itself, whether its messages are carried or not. */
  sourceOf(name: string): string {
    if (this.#isOwn(name) || own(this.#servers, name)?.type === "sdk") return "sdk";
    return this.#session.mcp.status().find((server) => server.name === name)?.scope ?? "";
  }

  /** All that the program has, in place of what it had. */
  async set(servers: ServerConfigs): Promise<McpSetServersResult> {
    const before = this.#servers;
    this.#servers = { ...servers };
    for (const name of this.#disabled) if (!Object.hasOwn(servers, name)) this.#disabled.delete(name);
    const { errors } = await this.#session.mcp.set(outsideServers(servers));
    this.#apply();
    return {
      added: Object.keys(servers).filter((name) => servers[name] !== before[name] && !(name in errors)),
      removed: Object.keys(before).filter((name) => !Object.hasOwn(servers, name)),
      errors,
    };
  }

  /** Throws `usage` for a server that nobody named. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    if (!this.#isOwn(name)) await this.#session.mcp.toggle(name, enabled ? "on" : "off");
    else if (enabled) this.#disabled.delete(name);
    else this.#disabled.add(name);
    this.#apply();
  }

  /** One of this process is always connected. Throws `usage` for a server that nobody named, and `mcp_failed`. */
  async reconnect(name: string): Promise<void> {
    if (!this.#isOwn(name)) await this.#session.mcp.reconnect(name);
    this.#changed();
  }

  #isOwn(name: string): boolean {
    return isOwn(own(this.#servers, name));
  }

  #apply(): void {
    const enabled = Object.entries(this.#servers).filter(([name]) => !this.#disabled.has(name));
    this.#session.setOwnTools(ownToolsOf(Object.fromEntries(enabled)));
    this.#changed();
  }
}

/** The tools of all servers in this process, under the names that the model sees. */
export function ownToolsOf(servers: ServerConfigs = {}): OwnTool[] {
  return ownServers(servers).flatMap(([server, config]) =>
    config.instance.tools.map((one) => toolOf(one, { server, config })),
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
    server: wordsOf(server, config),
    timeoutMs: config.timeout,
    run: (input, call) => callTool(definition, input, call),
  });
}

/** What a server may say about its use. */
const maxInstructionCharacters = 2_048;

function wordsOf(server: string, { instance }: McpSdkServerConfig): OwnTool["server"] {
  const words = instance.instructions?.trim();
  return words
    ? { server, prefix: toolName(server, ""), words: shorten(words, maxInstructionCharacters) }
    : undefined;
}
