/** The way to a server, by how it is configured. */
import { createHash } from "node:crypto";
import path from "node:path";
import { canonicalJson } from "../kernel/json.ts";
import { shownUrl } from "../kernel/shown-url.ts";
import type { McpServerOptions } from "../protocol/mcp.ts";
import { AuthFile } from "./auth-file.ts";
import type { ServerRoute } from "./link.ts";
import { sessionAuth } from "./oauth.ts";
import { keepStderr, type StderrLog } from "./stderr-log.ts";
import { ChannelTransport } from "./transports/channel.ts";
import type { RemoteTransportOptions } from "./transports/remote.ts";
import { type StartProgram, StdioTransport } from "./transports/stdio.ts";

/** Where servers are started from, and where what belongs to them is kept. */
export type McpEnvironment = {
  readonly cwd: string;
  /** Keel's own folder; undefined where nothing is kept. */
  readonly home: string | undefined;
  readonly start: StartProgram;
  readonly whyNot: RemoteTransportOptions["whyNot"];
};

/** Tells servers apart by how they are reached: what was approved and who is logged in belongs to that, not to a name. */
export function identityOf(config: McpServerOptions): string {
  const reached =
    config.type === "stdio"
      ? { command: config.command, args: config.args ?? [] }
      : config.type === "channel"
        ? { channel: true }
        : { url: config.url };
  return createHash("sha256").update(canonicalJson(reached)).digest("hex").slice(0, 32);
}

export const pinsFolder = (home: string): string => path.join(home, "mcp", "pins");

export const authFileOf = (home: string, config: McpServerOptions): AuthFile =>
  new AuthFile({ folder: path.join(home, "mcp", "auth"), identity: identityOf(config) });

export async function routeTo(
  name: string,
  config: McpServerOptions,
  environment: McpEnvironment,
): Promise<ServerRoute> {
  switch (config.type) {
    case "stdio":
      return stdioWay(name, config, environment);
    case "channel":
      return { transport: new ChannelTransport(config.channel), lastWords: () => "" };
    case "ws": {
      const { SocketTransport } = await import("./transports/socket.ts");
      return { transport: new SocketTransport(urlOf(config.url), config), lastWords: () => "" };
    }
    default: {
      const { remoteTransport } = await import("./transports/remote.ts");
      const { type, headers = {}, oauth } = config;
      const url = urlOf(config.url);
      const auth =
        environment.home === undefined
          ? { token: async () => undefined }
          : sessionAuth(authFileOf(environment.home, config), oauth);
      const transport = await remoteTransport({ type, url, headers, auth, whyNot: environment.whyNot });
      return { transport, lastWords: () => "" };
    }
  }
}

function stdioWay(
  name: string,
  { command, args = [], env = {} }: Extract<McpServerOptions, { type: "stdio" }>,
  { cwd, home, start }: McpEnvironment,
): ServerRoute {
  let log: StderrLog | undefined;
  const file = home === undefined ? undefined : path.join(home, "logs", `mcp-${fileName(name)}.log`);
  const open = async () => {
    const program = await start({ file: command, args, cwd, env });
    log = keepStderr(program.stderr, file);
    return program;
  };
  const transport = new StdioTransport(open);
  return { transport, lastWords: () => log?.tail() ?? "", hasEnded: () => transport.hasEnded };
}

const fileName = (name: string): string => name.replace(/[^\w-]/g, "_").slice(0, 80);

/** Says what is wrong without repeating what may be a secret. */
function urlOf(given: string): URL {
  const url = URL.parse(given);
  if (!url) throw new Error(`${JSON.stringify(shownUrl(given))} is no address.`);
  if (url.username !== "" || url.password !== "")
    throw new Error("The address must not hold a user name or a password; a header can.");
  return url;
}
