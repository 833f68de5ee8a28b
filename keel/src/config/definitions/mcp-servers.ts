/**
 * The MCP servers of a start, from every scope: what the host names, then the settings of an administrator, of this
 * folder, of the project, of the person, and of plugins. Of two servers of one name the stronger scope counts, and one
 * that is reached in the same way as a stronger one is not started twice. What waits for trust is not here.
 */
import { canonicalJson, isObject, mapTexts, present } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { type McpScope, type McpServerSpec, mcpScopes, mcpServerSchema } from "../../protocol/mcp.ts";
import type { JudgedEntry } from "../settings/entries.ts";
import type { LayerSource } from "../settings/layers.ts";

export type ConfiguredServer = {
  readonly name: string;
  readonly scope: McpScope;
  readonly config: McpServerSpec;
  readonly file?: string | undefined;
};

export type ServersOptions = {
  /** Settings value by value; those that do not count are passed over. */
  readonly entries: readonly JudgedEntry[];
  readonly plugins?: readonly {
    readonly name: string;
    readonly mcpServers: Readonly<Record<string, unknown>>;
  }[];
  /** What `${NAME}` stands for: the person's variables, without what is Keel's own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The same with keys: a setting of the person may pass one on by its name. */
  readonly personEnv?: Readonly<Record<string, string | undefined>> | undefined;
};

export type ConfiguredServers = {
  readonly servers: readonly ConfiguredServer[];
  /** What was left out, for a person. */
  readonly problems: readonly string[];
};

export function mcpServersOf({
  entries,
  plugins = [],
  env,
  personEnv = env,
}: ServersOptions): ConfiguredServers {
  const written = [...inSettings(entries), ...plugins.flatMap(inPlugin)];
  const problems: string[] = [];
  const found: ConfiguredServer[] = [];
  const ways = new Set<string>();
  for (const { name, scope, value, file } of written) {
    if (found.some((known) => known.name === name)) continue;
    const config = readServer(value, isOfPerson[scope] ? personEnv : env);
    if (!config.ok) {
      problems.push(`The MCP server ${JSON.stringify(name)} is left out: ${config.error}.`);
      continue;
    }
    const way = wayOf(config.value);
    // The same server under a second name would be two processes with the same tools.
    if (ways.has(way)) continue;
    ways.add(way);
    found.push({ name, scope, config: config.value, ...(file === undefined ? {} : { file }) });
  }
  return { servers: found, problems };
}

/** A server as somebody wrote it, with its variables put in. */
export function readServer(value: unknown, env: ServersOptions["env"]): Result<McpServerSpec> {
  const parsed = parseServer(value);
  return parsed.ok ? expandAll(parsed.value, env) : parsed;
}

/** Its form alone. */
export function parseServer(value: unknown): Result<McpServerSpec> {
  if (!isObject(value)) return failed("it is no object");
  const parsed = parseWith(mcpServerSchema, { ...value, type: typeOf(value) });
  return parsed.ok ? parsed : failed(sayIssues(parsed.error));
}

/** The kind may be left out where it is plain. Other names for it are in use. */
function typeOf({ type, command, url }: Record<string, unknown>): unknown {
  if (type === "streamable-http" || type === "streamableHttp") return "http";
  if (type === "websocket") return "ws";
  if (type !== undefined) return type;
  if (typeof command === "string") return "stdio";
  return typeof url === "string" && /^wss?:/i.test(url) ? "ws" : "http";
}

type WrittenServer = Omit<ConfiguredServer, "config"> & { readonly value: unknown };

/** Whose servers a person, or whoever speaks for them, wrote. What is in a project's folder may be somebody else's. */
const isOfPerson: Readonly<Record<McpScope, boolean>> = {
  host: true,
  managed: true,
  user: true,
  local: false,
  project: false,
  plugin: false,
};

const scopeOf: Readonly<Record<LayerSource, McpScope>> = {
  managed: "managed",
  "command-line": "host",
  flags: "host",
  local: "local",
  project: "project",
  user: "user",
};

function inSettings(entries: readonly JudgedEntry[]): WrittenServer[] {
  return entries
    .filter(({ path: [group], state }) => group === "mcpServers" && state.kind === "counts")
    .map(({ path: [, name = ""], value, source, file }) => ({ name, scope: scopeOf[source], value, file }))
    .toSorted((left, right) => mcpScopes.indexOf(left.scope) - mcpScopes.indexOf(right.scope));
}

/** Under the plugin's name: two plugins may call their servers alike. */
const inPlugin = (plugin: NonNullable<ServersOptions["plugins"]>[number]): WrittenServer[] =>
  Object.entries(plugin.mcpServers).map(([name, value]) => ({
    name: `plugin:${plugin.name}:${name}`,
    scope: "plugin",
    value,
  }));

/** What makes one server another; names do not count. */
function wayOf(config: McpServerSpec): string {
  return canonicalJson(
    config.type === "stdio"
      ? [config.command, config.args ?? [], config.env ?? {}]
      : [config.url, config.headers ?? {}],
  );
}

function expandAll(config: McpServerSpec, env: ServersOptions["env"]): Result<McpServerSpec> {
  const missing: string[] = [];
  const written: Partial<McpServerSpec> =
    config.type === "stdio"
      ? present({ command: config.command, args: config.args, env: config.env })
      : present({ url: config.url, headers: config.headers });
  const filled = mapTexts(written, (text) => expand(text, env, missing));
  // The same fields, with other texts in them.
  if (missing.length === 0) return ok({ ...config, ...(filled as typeof config) });
  return failed(`${[...new Set(missing)].join(", ")} ${missing.length === 1 ? "is" : "are"} not set`);
}

/** `${NAME}` and `${NAME:-otherwise}`. What a variable holds is not read again. */
function expand(text: string, env: ServersOptions["env"], missing: string[]): string {
  return text.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (whole, name: string, otherwise?: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && value !== "") return value;
    if (otherwise !== undefined) return otherwise;
    missing.push(name);
    return whole;
  });
}
