/** `keel mcp`: servers listed, added, removed, tried and logged in to, outside of any session. */
import {
  type ConfiguredServer,
  mcpServersOf,
  parseServer,
  readServer,
} from "../../config/definitions/mcp-servers.ts";
import { pathsOf } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject } from "../../kernel/json.ts";
import type { McpServerOptions, McpServerSpec, McpServerState } from "../../protocol/mcp.ts";
import { commandEnvironment } from "../../workspace/processes/environment.ts";
import { homeResources } from "../compose/home-resources.ts";
import { sessionMcp } from "../compose/mcp.ts";
import { readSettings } from "../compose/settings.ts";
import {
  type SettingsLocation,
  type WritableSource,
  type WrittenSetting,
  writeValue,
} from "./settings-files.ts";

export type ListedServers = {
  readonly servers: readonly ConfiguredServer[];
  readonly problems: readonly string[];
  /** Servers of the project that wait for trust, by name. */
  readonly waiting: readonly string[];
};

/** Nothing is started. */
export async function listServers(place: SettingsLocation): Promise<ListedServers> {
  const { entries, commandEnv, trust } = await readSettings(place);
  const { servers, problems } = mcpServersOf({ entries, env: commandEnvironment(commandEnv) });
  const waiting = trust.waiting.filter(({ path: [group] }) => group === "mcpServers");
  return { servers, problems, waiting: waiting.map(({ path: [, name = ""] }) => name) };
}

const nameRule = /^[\w.-]{1,64}$/;

/** Throws `usage` for a name or a server that is none, and `settings_unwritable`. */
export async function addServer(
  place: SettingsLocation,
  { name, server, to }: { name: string; server: Record<string, unknown>; to: WritableSource },
): Promise<WrittenSetting> {
  if (!nameRule.test(name))
    throw fault("usage", {
      reason: "A server's name is made of letters, digits, dots, dashes and underscores.",
    });
  const read = parseServer(server);
  if (!read.ok) throw fault("usage", { reason: `That is no server: ${read.error}.` });
  return writeValue(place, to, { path: ["mcpServers", name], value: server });
}

/** Says from which files it went. Throws `usage` when there was none. */
export async function removeServer(
  place: SettingsLocation,
  { name, from }: { name: string; from: readonly WritableSource[] },
): Promise<WrittenSetting[]> {
  const { entries } = await readSettings(place);
  const holders = from.filter((source) =>
    entries.some(
      (entry) => entry.source === source && entry.path[0] === "mcpServers" && entry.path[1] === name,
    ),
  );
  if (holders.length === 0)
    throw fault("usage", { reason: `No settings of yours or of this project have the server ${name}.` });
  const written: WrittenSetting[] = [];
  for (const source of holders)
    written.push(await writeValue(place, source, { path: ["mcpServers", name], value: undefined }));
  return written;
}

/** Starts every server, looks, and ends them. */
export async function tryServers(place: SettingsLocation & { version: string }): Promise<{
  readonly status: readonly McpServerState[];
  readonly problems: readonly string[];
}> {
  const inForce = await readSettings(place);
  const { settings, env } = inForce;
  const home = homeResources(pathsOf(place).home);
  const mcp = sessionMcp({
    // Nobody waits to begin a turn: each server has its whole time.
    inForce: { ...inForce, settings: { ...settings, mcp: { ...settings.mcp, startMs: patienceMs } } },
    guard: home.guard(env, settings),
    links: home.links,
    clock: home.clock,
    ids: home.ids,
    workspace: { cwd: place.cwd, roots: [place.cwd] },
    home: home.path,
    version: place.version,
  });
  try {
    mcp.start();
    await mcp.toolbox.ready(new AbortController().signal);
    return { status: mcp.control.status(), problems: mcp.problems };
  } finally {
    await mcp.close();
    await home.close();
  }
}

const patienceMs = 60_000;

/** Throws `usage` for a server that has no login, and `mcp_failed`. */
export async function logIn(
  place: SettingsLocation & { version: string },
  { name, openPage }: { name: string; openPage: (url: URL) => void },
  signal: AbortSignal,
): Promise<"already" | "logged-in"> {
  const { config, allowHosts } = await remoteNamed(place, name);
  const [{ login }, { authFileOf }, { whyNotOutward }] = await Promise.all([
    import("../../mcp/login.ts"),
    import("../../mcp/routes.ts"),
    import("../../workspace/web/url-guard.ts"),
  ]);
  return login(
    {
      name,
      config,
      openPage,
      version: place.version,
      file: authFileOf(pathsOf(place).home, config),
      whyNot: (url, home) => whyNotOutward(url, { home, allowHosts }),
    },
    signal,
  );
}

/** Forgets tokens. Throws `usage` for a server that has no login. */
export async function logOut(place: SettingsLocation, name: string): Promise<void> {
  const { config } = await remoteNamed(place, name);
  const { authFileOf } = await import("../../mcp/routes.ts");
  await authFileOf(pathsOf(place).home, config).forget();
}

async function remoteNamed(place: SettingsLocation, name: string) {
  const { servers } = await listServers(place);
  const found = servers.find((server) => server.name === name);
  if (!found) throw fault("usage", { reason: `There is no MCP server called ${JSON.stringify(name)}.` });
  const { config } = found;
  if (config.type === "stdio")
    throw fault("usage", { reason: `${name} is a program: it has no login here.` });
  const { settings } = await readSettings(place);
  return { config, allowHosts: settings.web?.allowHosts ?? [] };
}

/**
 * Servers that a host names: a map of them, or the same under `mcpServers`. Throws `usage` for what is no server.
 * Variables are put in from `env`, without what is Keel's own.
 */
export function namedServers(
  given: unknown,
  { env, what }: { env: SettingsLocation["env"]; what: string },
): Record<string, McpServerOptions> {
  const inner = isObject(given) && isObject(given["mcpServers"]) ? given["mcpServers"] : given;
  if (!isObject(inner)) throw fault("usage", { reason: `${what} is no object of MCP servers.` });
  return Object.fromEntries(
    Object.entries(inner).map(([name, value]): [string, McpServerSpec] => {
      const read = readServer(value, commandEnvironment(env));
      if (!read.ok) throw fault("usage", { reason: `${what}: the server ${name} is none: ${read.error}.` });
      return [name, read.value];
    }),
  );
}
