/** The way to a server, by how it is configured. */
import { createHash } from "node:crypto";
import { chmod, mkdir, open } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { fault } from "../kernel/fault.ts";
import { canonicalJson, type JsonObject } from "../kernel/json.ts";
import { shownUrl } from "../kernel/shown-url.ts";
import type { McpChannel, McpServerOptions } from "../protocol/mcp.ts";
import { AuthFile } from "./auth-file.ts";
import { maxStderrBytes, stderrTailCharacters } from "./limits.ts";
import type { ServerRoute } from "./link.ts";
import { sessionAuth } from "./oauth.ts";
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
      return { transport: channelTransport(config.channel), lastWords: () => "" };
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
  if (!url) throw fault("mcp_unanswered", { reason: `${JSON.stringify(shownUrl(given))} is no address.` });
  if (url.username !== "" || url.password !== "")
    throw fault("mcp_unanswered", {
      reason: "The address must not hold a user name or a password; a header can.",
    });
  return url;
}

/** A server that a host carries messages to: its own process, or another one that it talks with. */
function channelTransport(channel: McpChannel): Transport {
  const transport: Transport = {
    start: () =>
      channel.open({
        message: (message) => transport.onmessage?.(message as unknown as JSONRPCMessage),
        closed: () => transport.onclose?.(),
      }),
    send: (message) => channel.send(message as unknown as JsonObject),
    async close() {
      await channel.close();
      transport.onclose?.();
    },
  };
  return transport;
}

/** What a server says on stderr: a bounded private file for people, and its last words for the reason of a failure. */
type StderrLog = { /** The last words, in one piece. */ tail(): string };

/** Reads to the end, whatever becomes of the file: a full pipe would stop the server. */
function keepStderr(stderr: Readable, file: string | undefined): StderrLog {
  let tail = "";
  let written = 0;
  const handle = file === undefined ? Promise.resolve(undefined) : openLog(file);
  let writing: Promise<unknown> = handle;
  stderr.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-stderrTailCharacters);
    const room = maxStderrBytes - written;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    written += part.length;
    const rest = written >= maxStderrBytes ? "\n(what came after this was left out)\n" : "";
    writing = writing.then(async () => {
      await (await handle)?.appendFile(Buffer.concat([part, Buffer.from(rest)]));
    });
    writing.catch(() => undefined); // A log that cannot be written must not end the server.
  });
  stderr.on("error", () => undefined); // What came before it counts.
  stderr.once("close", () => {
    void writing.then(async () => (await handle)?.close()).catch(() => undefined);
  });
  return { tail: () => tail.trim() };
}

/** Starts anew with each connection: what an earlier one said is old news. */
async function openLog(file: string) {
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(file, "w", 0o600);
    await chmod(file, 0o600);
    return handle;
  } catch {
    return undefined; // As above: no log is no reason to have no server.
  }
}
