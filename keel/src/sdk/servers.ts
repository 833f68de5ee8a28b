/**
 * The servers of a session: given with its options, and others later. Those of this process are run here; for any other
 * there is one seam, `Outside`, behind which an adapter of the protocol stands.
 */
import type { OpenSession } from "../app/open-session.ts";
import { fault } from "../kernel/fault.ts";
import { type McpServerConfig, type McpServerStatus, type Servers, serverStates } from "./mcp-server.ts";
import { ownToolsOf } from "./server-tools.ts";

/** What became of `setMcpServers`. */
export type McpSetServersResult = {
  added: string[];
  removed: string[];
  /** By the name of the server. */
  errors: Record<string, string>;
};

/** Servers outside of this process. Absent: there are none, and their configurations fail. */
export type Outside = {
  /** In place of those before; says which could not be reached, and why. Their tools reach the session by themselves. */
  set(servers: Servers): Promise<Record<string, string>>;
  states(): readonly McpServerStatus[];
  reconnect(name: string): Promise<void>;
  toggle(name: string, enabled: boolean): Promise<void>;
};

export class SessionServers {
  readonly #session: OpenSession;
  readonly #changed: () => void;
  readonly #outside: Outside | undefined;
  readonly #disabled = new Set<string>();
  #servers: Servers;

  constructor(
    session: OpenSession,
    { given, changed, outside }: { given: Servers | undefined; changed: () => void; outside?: Outside },
  ) {
    this.#session = session;
    this.#servers = given ?? {};
    this.#changed = changed;
    this.#outside = outside;
  }

  states(): McpServerStatus[] {
    const own = serverStates(this.#servers).map((state) =>
      this.#disabled.has(state.name) ? { name: state.name, status: "disabled" as const } : state,
    );
    const others = this.#outside?.states() ?? [];
    return [...own.filter(({ name }) => !others.some((other) => other.name === name)), ...others];
  }

  /** All that the program has, in place of what it had. */
  async set(servers: Servers): Promise<McpSetServersResult> {
    const before = this.#servers;
    this.#servers = { ...servers };
    for (const name of this.#disabled) if (!Object.hasOwn(servers, name)) this.#disabled.delete(name);
    const errors = await this.#others(servers);
    this.#apply();
    return {
      added: Object.keys(servers).filter((name) => servers[name] !== before[name] && !(name in errors)),
      removed: Object.keys(before).filter((name) => !Object.hasOwn(servers, name)),
      errors,
    };
  }

  /** Throws `usage` for a server that nobody named. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    if (!isOwn(this.#named(name))) return this.#outside?.toggle(name, enabled);
    if (enabled) this.#disabled.delete(name);
    else this.#disabled.add(name);
    this.#apply();
  }

  /** One of this process is always connected. Throws `usage` for a server that nobody named. */
  async reconnect(name: string): Promise<void> {
    const config = this.#named(name);
    if (isOwn(config)) return;
    if (!this.#outside) throw fault("usage", { reason: `${name} cannot be reached from here.` });
    await this.#outside.reconnect(name);
  }

  #named(name: string): McpServerConfig {
    const config = Object.hasOwn(this.#servers, name) ? this.#servers[name] : undefined;
    if (!config) throw fault("usage", { reason: `No server is called ${JSON.stringify(name)}.` });
    return config;
  }

  async #others(servers: Servers): Promise<Record<string, string>> {
    const others = Object.entries(servers).filter(([, config]) => !isOwn(config));
    if (this.#outside) return this.#outside.set(Object.fromEntries(others));
    const states = new Map(serverStates(servers).map((state) => [state.name, state.error ?? ""]));
    return Object.fromEntries(others.map(([name]) => [name, states.get(name) ?? ""]));
  }

  #apply(): void {
    const enabled = Object.entries(this.#servers).filter(([name]) => !this.#disabled.has(name));
    this.#session.setOwnTools(ownToolsOf(Object.fromEntries(enabled)));
    this.#changed();
  }
}

const isOwn = (config: McpServerConfig): boolean => config.type === "sdk";
