/**
 * The servers of one session: the engine takes tools from it, hosts look at it and change it. Servers connect in the
 * background; the first request waits for them only so long.
 */
import { fault } from "../kernel/fault.ts";
import { sameJson } from "../kernel/json.ts";
import { resultOf } from "../kernel/one-by-one.ts";
import type { Clock, Ids } from "../ports/clock.ts";
import type { BoxTool, ServerWords, Toolbox, ToolOutcome } from "../ports/tool.ts";
import type { McpPrompt, McpResource, McpScope, McpServerOptions, McpServerState } from "../protocol/mcp.ts";
import type { InputBlock } from "../protocol/message.ts";
import { resourceTools } from "./as-tools.ts";
import { McpEntry } from "./entry.ts";
import { type McpLimits, probeMs } from "./limits.ts";
import { type LinkOptions, settledWithin } from "./link.ts";
import { prefixOf } from "./names.ts";
import type { LinkPool } from "./pool.ts";
import { authFileOf, identityOf, type McpEnvironment, pinsFolder, routeTo } from "./routes.ts";

export type NamedServer = {
  readonly name: string;
  readonly scope: McpScope;
  readonly config: McpServerOptions;
  /** Known, but not to be started until somebody says so. */
  readonly isOff?: boolean | undefined;
};

export type McpBoxOptions = {
  readonly environment: McpEnvironment;
  readonly roots: readonly string[];
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "random">;
  readonly limits: McpLimits;
  readonly pool: LinkPool;
  readonly sampling: "ask" | "off";
};

export type SetOutcome = {
  readonly added: string[];
  readonly removed: string[];
  readonly errors: Record<string, string>;
};

export class McpBox implements Toolbox {
  readonly #wish: McpBoxOptions;
  readonly #entries = new Map<string, McpEntry>();
  readonly #seen = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #untilMs: number;
  #first: Promise<unknown>;
  #tools: readonly BoxTool[] = [];
  #isSettled = false;
  #closing: Promise<void> | undefined;

  constructor(servers: readonly NamedServer[], mcpBoxOptions: McpBoxOptions) {
    this.#wish = mcpBoxOptions;
    this.#untilMs = mcpBoxOptions.clock.monotonicMs() + mcpBoxOptions.limits.startMs;
    this.#first = Promise.all(servers.map((server) => this.#add(server)));
    void this.#first.then(() => {
      this.#isSettled = true;
    });
  }

  tools(): readonly BoxTool[] {
    return this.#tools;
  }

  knows(name: string): boolean {
    return (
      this.#seen.has(name) || [...this.#entries.keys()].some((server) => name.startsWith(prefixOf(server)))
    );
  }

  async ready(signal: AbortSignal): Promise<void> {
    const { clock } = this.#wish;
    const leftMs = this.#untilMs - clock.monotonicMs();
    if (this.#isSettled || leftMs <= 0) return;
    await settledWithin(this.#first, { clock, ms: leftMs }, signal);
  }

  /** How each server stands now, in the order in which they were named. */
  status(): readonly McpServerState[] {
    return [...this.#entries.values()].map((entry) => entry.status());
  }

  /** Throws `usage` for a name that is none, and `mcp_failed` when it did not come back. */
  async reconnect(name: string): Promise<void> {
    const entry = this.#named(name);
    await entry.reconnect();
    const status = entry.status();
    if (status.status !== "connected")
      throw fault("mcp_failed", {
        server: name,
        reason: "error" in status ? (status.error ?? "") : "it is off",
      });
  }

  /** Off: its process ends and its tools cannot be called. Throws `usage`. */
  async toggle(name: string, to: "on" | "off"): Promise<void> {
    const entry = this.#named(name);
    await (to === "on" ? entry.turnOn() : entry.turnOff());
  }

  /** Replaces the servers that the host itself named; those of files stay. Resolves when the new ones have settled. */
  async set(servers: Readonly<Record<string, McpServerOptions>>): Promise<SetOutcome> {
    const own = [...this.#entries.values()].filter(({ options }) => options.scope === "host");
    const gone = own.filter(({ name, options }) => !isSame(options.config, servers[name]));
    for (const entry of gone) {
      this.#entries.delete(entry.name);
      await entry.turnOff();
    }
    const added = Object.entries(servers).filter(([name]) => !this.#entries.has(name));
    await Promise.all(added.map(([name, config]) => this.#add({ name, config, scope: "host" })));
    const errors = added.flatMap(([name]) => {
      const status = this.#entries.get(name)?.status();
      return status && "error" in status && status.error !== undefined ? [[name, status.error] as const] : [];
    });
    return {
      added: added.map(([name]) => name).filter((name) => !errors.some(([failed]) => failed === name)),
      removed: gone.map(({ name }) => name).filter((name) => !Object.hasOwn(servers, name)),
      errors: Object.fromEntries(errors),
    };
  }

  /** What servers say about their use, as they stand now. */
  instructions(): readonly ServerWords[] {
    return [...this.#entries.values()].flatMap((entry) => {
      const words = entry.instructions();
      return words === undefined ? [] : [{ server: entry.name, prefix: prefixOf(entry.name), words }];
    });
  }

  /** Prompts, which people call as commands. */
  prompts(): readonly McpPrompt[] {
    return [...this.#entries.values()].flatMap((entry) => entry.prompts());
  }

  /** What can be mentioned. */
  resources(): readonly McpResource[] {
    return [...this.#entries.values()].flatMap((entry) => entry.resources());
  }

  /** The words of a prompt. Throws `usage` for a command that is none, and `mcp_failed`. */
  async prompt(command: string, values: Readonly<Record<string, string>>): Promise<InputBlock[]> {
    const found = this.prompts().find((prompt) => prompt.command === command);
    if (!found) throw fault("usage", { reason: `There is no prompt called ${command}.` });
    return this.#named(found.server).readPrompt(found.name, values);
  }

  /** What a resource holds. Throws `usage` for a server that is none, and `mcp_failed`. */
  async resource(server: string, uri: string): Promise<InputBlock[]> {
    return this.#named(server).readResource(uri);
  }

  /** A call of the host itself. Nobody is asked anything: a tool that has changed is refused. Throws `usage`. */
  async call(
    { tool: name, input, callId }: { tool: string; input: unknown; callId: string },
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const tools = [...this.#entries.values()].flatMap(({ tools }) => tools);
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw fault("usage", { reason: `No MCP server has a tool called ${JSON.stringify(name)}.` });
    const parsed = tool.input.parse(input);
    if (!parsed.ok) throw fault("usage", { reason: `The input of ${name} must be an object.` });
    const running = tool.run(
      parsed.value,
      {
        callId,
        ask: async () => ({
          verdict: "deny",
          reason: "Nobody is asked about a call of the host.",
          by: "no-host",
        }),
      },
      signal,
    );
    return resultOf(running);
  }

  /** Called when a server, a tool, a prompt or a resource came, changed or went. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends every server that no other session uses. A second call joins the first. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#entries.values()].map((entry) => entry.turnOff())).then(
      () => undefined,
    );
    return this.#closing;
  }

  async #add({ name, scope, config, isOff }: NamedServer): Promise<void> {
    const entry = new McpEntry({
      name,
      scope,
      config,
      callMs: this.#wish.limits.callMs,
      lease: () => this.#wish.pool.lease(this.#leaseOf(name, config)),
      changed: () => this.#changed(),
    });
    this.#entries.set(name, entry);
    if (!isOff) await entry.turnOn();
  }

  #leaseOf(name: string, config: McpServerOptions): Parameters<LinkPool["lease"]>[0] {
    const { environment: site, roots, version, clock, ids, limits, sampling } = this.#wish;
    const isOwn = config.type === "channel" || config.share === false;
    const link: LinkOptions = {
      name,
      version,
      clock,
      limits,
      requestContext: { roots, sampling },
      revision: config.type === "sse" ? "legacy" : "newest",
      // A program that does not know the question may say nothing at all; over HTTP silence is a server that is down.
      probeMs: config.type === "stdio" ? probeMs : limits.connectMs,
      draw: () => ids.random(),
      open: () => routeTo(name, config, site),
      wantScope: async (scope) => {
        if (site.home !== undefined) await authFileOf(site.home, config).change({ scope });
      },
    };
    const folder = site.home === undefined ? undefined : pinsFolder(site.home);
    return {
      key: isOwn
        ? undefined
        : { name, config, roots, sampling, cwd: site.cwd, home: site.home, limits: { ...limits } },
      link,
      // What a channel leads to is the host's own; its definitions change as the host's program does.
      pins: {
        folder: config.type === "channel" ? undefined : folder,
        server: name,
        identity: identityOf(config),
      },
    };
  }

  #named(name: string): McpEntry {
    const entry = this.#entries.get(name);
    if (!entry) throw fault("usage", { reason: `There is no MCP server called ${JSON.stringify(name)}.` });
    return entry;
  }

  #changed(): void {
    const entries = [...this.#entries.values()];
    const tools = entries.flatMap((entry) => entry.tools);
    const more = resourceTools({
      resources: () => this.resources(),
      read: (server, uri) => this.resource(server, uri),
    });
    this.#tools = entries.some((entry) => entry.resources().length > 0) ? [...tools, ...more] : tools;
    for (const { name } of this.#tools) this.#seen.add(name);
    for (const listener of this.#listeners) listener();
  }
}

const isSame = (left: McpServerOptions, right: McpServerOptions | undefined): boolean =>
  right !== undefined && left.type === right.type && left.type !== "channel" && sameJson(left, right);
