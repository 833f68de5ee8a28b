/**
 * The MCP servers of a session, put together: which there are, where they run, and what the engine and hosts see of
 * them. Nothing of MCP is loaded for a session that has no server.
 */
import path from "node:path";
import { mcpServersOf } from "../../config/definitions/mcp-servers.ts";
import type { Plugin } from "../../config/definitions/plugins.ts";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import type { McpBox, NamedServer } from "../../mcp/box.ts";
import { prefixOf } from "../../mcp/names.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { Toolbox } from "../../ports/tool.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { McpServerOptions } from "../../protocol/mcp.ts";
import { commandEnvironment } from "../../workspace/processes/environment.ts";
import type { OpenOptions } from "../options.ts";
import type { HomeResources } from "./home-resources.ts";
import type { LateGuard } from "./late-ports.ts";
import type { SettingsInForce } from "./settings.ts";

export type SessionMcpOptions = {
  readonly inForce: Pick<SettingsInForce, "entries" | "settings" | "commandEnv">;
  /** Servers that the host names. */
  readonly named?: Readonly<Record<string, McpServerOptions>> | undefined;
  /** `only`: those of files are left out. */
  readonly strict?: "only" | undefined;
  /** Whether the model is offered tools of servers; else none is started. It is when left out. */
  readonly isOffered?: boolean | undefined;
  readonly plugins?: readonly Pick<Plugin, "name" | "mcpServers">[] | undefined;
  /** Keel's own folder; undefined where nothing is to be kept. */
  readonly home: string | undefined;
  readonly workspace: Pick<Workspace, "cwd" | "roots">;
  readonly guard: LateGuard;
  /** The connections that sessions share. */
  readonly links: HomeResources["links"];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
};

export type SessionMcp = {
  readonly toolbox: Toolbox;
  readonly control: McpControl;
  readonly problems: readonly string[];
  /** Those of the start, also those that are off. */
  readonly servers: readonly NamedServer[];
  /** Whether there is a server at the start: then tools may come late, and are loaded by name. */
  readonly hasServers: boolean;
  /** Begins to connect. */
  start(): void;
  close(): Promise<void>;
};

/** The servers of an open session, as hosts see them. Whoever calls a tool here has looked at the rules. */
export type McpControl = Omit<McpBox, keyof Toolbox | "close"> & {
  /** The tools that can be called now, by the names that the model knows. */
  tools(): readonly string[];
  /** Begins to connect, where that has not begun. */
  start(): void;
};

export function sessionMcp(options: SessionMcpOptions): SessionMcp {
  const { servers, problems } = serversOf(options);
  let box: McpBox | undefined;
  let loading: Promise<McpBox> | undefined;
  let isClosed = false;
  const listeners = new Set<() => void>();

  const open = (): Promise<McpBox> => {
    if (isClosed) throw fault("session_closed");
    loading ??= load(servers, options).then(async (loaded) => {
      box = loaded;
      loaded.onChange(() => {
        for (const listener of listeners) listener();
      });
      if (isClosed) await loaded.close();
      return loaded;
    });
    return loading;
  };

  const start = (): void => {
    if (servers.length > 0 && (options.isOffered ?? true) && !isClosed) void open();
  };

  return {
    problems,
    servers,
    hasServers: servers.length > 0,
    start,
    toolbox: {
      tools: () => box?.tools() ?? [],
      knows: (name) => box?.knows(name) ?? servers.some((server) => name.startsWith(prefixOf(server.name))),
      async ready(signal) {
        if (loading) await (await loading).ready(signal);
      },
      instructions: () => box?.instructions() ?? [],
    },
    control: {
      start,
      status: () => box?.status() ?? servers.map(notYet),
      tools: () => (box?.tools() ?? []).map(({ name }) => name).toSorted(),
      reconnect: async (name) => (await open()).reconnect(name),
      toggle: async (name, to) => (await open()).toggle(name, to),
      set: async (named) => (await open()).set(named),
      prompts: () => box?.prompts() ?? [],
      prompt: async (command, values) => (await open()).prompt(command, values),
      resources: () => box?.resources() ?? [],
      resource: async (server, uri) => (await open()).resource(server, uri),
      call: async (request, signal) => (await open()).call(request, signal),
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    async close() {
      isClosed = true;
      listeners.clear();
      await (await loading)?.close();
    },
  };
}

/** Host first: of two servers of one name the host's counts. */
function serversOf({ inForce, named = {}, strict, plugins }: SessionMcpOptions): {
  servers: NamedServer[];
  problems: readonly string[];
} {
  const off = new Set(inForce.settings.mcp?.disabled);
  const hosts = Object.entries(named).map(([name, config]): NamedServer => ({ name, scope: "host", config }));
  if (strict === "only") return { servers: hosts, problems: [] };
  const found = mcpServersOf({
    entries: inForce.entries,
    plugins: plugins ?? [],
    // Keel's own keys are no variables for a server: a project could send them anywhere.
    env: commandEnvironment(inForce.commandEnv),
    personEnv: inForce.commandEnv,
  });
  const others = found.servers.filter(({ name }) => !Object.hasOwn(named, name));
  return {
    servers: [...hosts, ...others.map((server) => ({ ...server, isOff: off.has(server.name) }))],
    problems: found.problems,
  };
}

const notYet = ({ name, scope, config, isOff }: NamedServer) => {
  const about = { name, scope, transport: config.type };
  return isOff ? { ...about, status: "disabled" as const } : { ...about, status: "pending" as const };
};

async function load(servers: readonly NamedServer[], options: SessionMcpOptions): Promise<McpBox> {
  const [{ McpBox }, { defaultMcpLimits }, { pipedPrograms }, pool] = await Promise.all([
    import("../../mcp/box.ts"),
    import("../../mcp/limits.ts"),
    import("../../workspace/processes/piped.ts"),
    options.links(),
  ]);
  const { version, clock, ids, workspace, home, guard, inForce } = options;
  const { web, mcp: { startMs, connectMs, callMs, sampling = "ask" } = {} } = inForce.settings;
  return new McpBox(servers, {
    version,
    clock,
    ids,
    environment: {
      cwd: workspace.cwd,
      home,
      start: pipedPrograms({ env: serverEnvironment(inForce.commandEnv), guard: await guard() }),
      async whyNot(url, from) {
        const { whyNotOutward } = await import("../../workspace/web/url-guard.ts");
        return whyNotOutward(url, { home: from, allowHosts: web?.allowHosts ?? [] });
      },
    },
    roots: [...workspace.roots],
    limits: { ...defaultMcpLimits, ...present({ startMs, connectMs, callMs }) },
    pool,
    sampling,
  });
}

/** What a server needs to run at all; whatever else it is to know stands in its configuration. */
const passed = [
  "HOME",
  "LOGNAME",
  "USER",
  "PATH",
  "SHELL",
  "TERM",
  "TZ",
  "LANG",
  "LANGUAGE",
  "TMPDIR",
  "TEMP",
  "TMP",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "DBUS_SESSION_BUS_ADDRESS",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "SYSTEMROOT",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
  "PATHEXT",
  "COMSPEC",
];
const passedStarts = ["LC_", "XDG_"];

function serverEnvironment(env: EnvironmentVariables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (passed.includes(entry[0]) || passedStarts.some((start) => entry[0].startsWith(start))),
    ),
  );
}

/** The plugins whose servers are started. */
export const withServersOf = <P extends Pick<Plugin, "path">>(
  plugins: readonly P[],
  { cwd, pluginsWithoutServers = [] }: Pick<OpenOptions, "cwd" | "pluginsWithoutServers">,
): P[] => {
  const quiet = new Set(pluginsWithoutServers.map((folder) => path.resolve(cwd, folder)));
  return plugins.filter((plugin) => !quiet.has(plugin.path));
};
