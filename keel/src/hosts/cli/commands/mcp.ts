/** `keel mcp`: the servers of tools, listed, added, removed, tried and logged in to. */

import { oneWord, usage } from "../../../app/flags/arguments.ts";
import {
  addServer,
  listServers,
  logIn,
  logOut,
  removeServer,
  tryServers,
} from "../../../app/maintenance/mcp-manage.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { isObject, parseJson, toLine } from "../../../kernel/json.ts";
import { shownUrl, withShownUrls } from "../../../kernel/shown-url.ts";
import { visible } from "../../../kernel/text.ts";
import type { McpServerState } from "../../../protocol/mcp.ts";
import { type CommandRun, type TargetValues, targetOf } from "../command.ts";
import { sayWritten } from "../print/outcome.ts";

export const list: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const { servers, problems, waiting } = await listServers(context);
  for (const problem of problems) context.err.line(`keel: ${visible(problem)}`);
  if (waiting.length > 0)
    context.err.line(`keel: ${visible(waiting.join(", "))} of this project wait for trust: \`keel trust\`.`);
  if (values.json) context.out.line(toLine(servers.map(withoutSecrets)));
  else
    for (const { name, scope, config } of servers)
      context.out.line(`${visible(name)}  (${scope}, ${config.type})  ${visible(wayOf(config))}`);
  if (servers.length === 0 && !values.json) context.err.line("No MCP server is set up.");
};

type AddValues = TargetValues & {
  readonly transport: string | undefined;
  readonly env: readonly string[];
  readonly header: readonly string[];
};

export const add: CommandRun<AddValues> = async ({ values, positionals }, context) => {
  const [name, way, ...args] = positionals;
  if (name === undefined || way === undefined) throw usage("Give a name, and a command or an address.");
  const server = serverOf(values, way, args);
  sayWritten(await addServer(context, { name, server, to: targetOf(values) }), context);
};

export const addJson: CommandRun<TargetValues> = async ({ values, positionals }, context) => {
  const [name, json, ...more] = positionals;
  const server = json === undefined ? undefined : parseJson(json);
  if (name === undefined || more.length > 0 || !isObject(server))
    throw usage("Give a name, and the server as an object in JSON.");
  sayWritten(await addServer(context, { name, server, to: targetOf(values) }), context);
};

export const get: CommandRun<{ json: boolean }> = async ({ values, positionals }, context) => {
  const name = oneName(positionals);
  const found = (await listServers(context)).servers.find((server) => server.name === name);
  if (!found)
    throw usage(
      `There is no MCP server called ${JSON.stringify(name)}: \`keel mcp list\` shows those there are.`,
    );
  const shown = withoutSecrets(found);
  if (values.json) context.out.line(toLine(shown));
  else
    for (const [field, value] of Object.entries(shown))
      context.out.line(`${field}: ${visible(Array.isArray(value) ? value.join(" ") : String(value))}`);
};

function serverOf(
  { transport, env, header }: AddValues,
  way: string,
  args: readonly string[],
): Record<string, unknown> {
  const type = transport ?? (/^https?:\/\//.test(way) ? "http" : /^wss?:\/\//.test(way) ? "ws" : "stdio");
  const pairs = (given: readonly string[], between: string, option: string): [string, string][] =>
    given.map((pair) => {
      const at = pair.indexOf(between);
      if (at < 1) throw usage(`--${option} is NAME${between}VALUE.`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    });
  if (type === "stdio") {
    if (header.length > 0) throw usage("A command has no headers.");
    const variables = Object.fromEntries(pairs(env, "=", "env"));
    return { type, command: way, args: [...args], ...(env.length > 0 ? { env: variables } : {}) };
  }
  if (args.length > 0 || env.length > 0) throw usage("An address has no arguments and no variables.");
  return {
    type,
    url: way,
    ...(header.length > 0 ? { headers: Object.fromEntries(pairs(header, ":", "header")) } : {}),
  };
}

export const remove: CommandRun<TargetValues> = async ({ values, positionals }, context) => {
  const isNamed = values.user || values.project || values.local || values.scope !== undefined;
  const from = isNamed ? [targetOf(values)] : (["local", "project", "user"] as const);
  const removed = await removeServer(context, { name: oneName(positionals), from });
  for (const { file } of removed) context.err.line(`Removed from ${visible(file)}.`);
};

/** Ends with 1 when a server that should be there is not. */
export const status: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const tried = await tryServers(context);
  for (const problem of tried.problems) context.err.line(`keel: ${visible(problem)}`);
  if (values.json) context.out.line(toLine(tried.status));
  else for (const server of tried.status) context.out.write(sayStatus(server));
  const isWell = tried.status.every(({ status: now }) => now === "connected" || now === "disabled");
  return isWell ? exitCodes.ended : exitCodes.turnFailed;
};

export const login: CommandRun = async ({ positionals }, context) => {
  const name = oneName(positionals);
  const stop = new AbortController();
  const release = context.signals.take(() => stop.abort());
  const openPage = (url: URL): void => {
    context.err.line(`Open this page of ${url.host} in a browser on this machine:`);
    context.err.line(url.href);
  };
  try {
    const end = await logIn(context, { name, openPage }, stop.signal);
    context.err.line(
      end === "already" ? `${visible(name)} needs no login now.` : `Logged in to ${visible(name)}.`,
    );
    return exitCodes.ended;
  } finally {
    release();
  }
};

export const logout: CommandRun = async ({ positionals }, context) => {
  const name = oneName(positionals);
  await logOut(context, name);
  context.err.line(`What the login to ${visible(name)} left is forgotten.`);
};

const oneName = (positionals: readonly string[]): string =>
  oneWord(positionals, "Give the name of one server.");

type ListedServer = Awaited<ReturnType<typeof listServers>>["servers"][number];

const wayOf = (config: ListedServer["config"]): string =>
  config.type === "stdio" ? [config.command, ...shownArgs(config)].join(" ") : shownUrl(config.url);

const shownArgs = ({ args = [] }: { args?: readonly string[] | undefined }): string[] =>
  args.map(withShownUrls);

/** Variables and headers may hold keys: their names are enough. */
function withoutSecrets({ name, scope, config, file }: ListedServer): Record<string, unknown> {
  const names = (values: Record<string, string> = {}): string[] => Object.keys(values);
  const about = { name, scope, type: config.type, ...(file === undefined ? {} : { file }) };
  return config.type === "stdio"
    ? { ...about, command: config.command, args: shownArgs(config), env: names(config.env) }
    : { ...about, url: shownUrl(config.url), headers: names(config.headers) };
}

function sayStatus(server: McpServerState): string {
  const head = `${visible(server.name)}  (${server.scope}, ${server.transport})  ${server.status}`;
  if (server.status !== "connected") {
    const why = "error" in server && server.error !== undefined ? `: ${visible(server.error)}` : "";
    const next = server.status === "needs-auth" ? `\n  keel mcp login ${visible(server.name)}` : "";
    return `${head}${why}${next}\n`;
  }
  const names = server.tools.map(({ name }) => visible(name)).join(", ");
  return [
    `${head}: ${visible(server.serverInfo.name)} ${visible(server.serverInfo.version)}`,
    `  ${server.tools.length} tools${names ? `: ${names}` : ""}`,
    ...(server.changed.length > 0
      ? [`  changed since you approved them: ${visible(server.changed.join(", "))}`]
      : []),
    ...server.problems.map((problem) => `  ${visible(problem)}`),
    "",
  ].join("\n");
}
