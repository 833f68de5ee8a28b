/**
 * Servers of a program that is at the other end of a wire: their tools are listed and called by JSON-RPC messages inside
 * control requests. What the program has said about them beforehand (a manifest) is not asked again.
 */

import * as z from "zod/mini";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { asObject, isObject } from "../../kernel/json.ts";
import { parseWith } from "../../kernel/schema.ts";
import type { McpSdkServerConfig, McpServerConfig } from "../tools/mcp-server.ts";
import { SdkMcpServer } from "../tools/sdk-server.ts";
import type { AnyToolDefinition, CallToolResult, ToolAnnotations, ToolExtra } from "../tools/tool.ts";
import type { StandardSchema } from "../tools/tool-schema.ts";
import type { Channel } from "./channel.ts";
import type { InitializeRequest } from "./host-requests.ts";
import { type JsonRpc, protocolVersion, readMcpAnswer } from "./process-requests.ts";

const opt = z.optional;
const initializeResult = z.looseObject({
  serverInfo: opt(z.looseObject({ name: opt(z.string()), version: opt(z.string()) })),
  instructions: opt(z.string()),
});
const toolSchema = z.looseObject({
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  description: opt(z.string()),
  inputSchema: opt(z.looseObject({})),
  annotations: opt(z.looseObject({})),
});
const toolsListResult = z.looseObject({
  tools: z.array(toolSchema).check(z.maxLength(1_000)),
  nextCursor: opt(z.string()),
});

/** A server that lists page after page without an end is cut off. */
const maxPages = 100;

export class RemoteServers {
  readonly #channel: Pick<Channel, "request">;
  readonly #calls = new Map<string, ToolExtra>();
  readonly #known: Record<string, McpSdkServerConfig> = {};
  #messages = 0;

  constructor(channel: Pick<Channel, "request">) {
    this.#channel = channel;
  }

  /** Servers that did not answer before the signal are left out and named. */
  async connect(
    { sdkMcpServers = [], sdkMcpServerConfigs = {}, sdkMcpServerManifests = {} }: InitializeRequest,
    { signal, failed }: { signal: AbortSignal; failed: (name: string, why: string) => void },
  ): Promise<Record<string, McpSdkServerConfig>> {
    const found = await Promise.all(
      sdkMcpServers.map(async (name): Promise<[string, McpSdkServerConfig][]> => {
        try {
          const instance = await this.#describe(name, sdkMcpServerManifests[name] ?? {}, signal);
          const timeout = sdkMcpServerConfigs[name]?.timeout;
          return [
            [name, { type: "sdk", name, instance, ...(typeof timeout === "number" ? { timeout } : {}) }],
          ];
        } catch (thrown) {
          failed(name, reasonOf(thrown));
          return [];
        }
      }),
    );
    const connected = Object.fromEntries(found.flat());
    Object.assign(this.#known, connected);
    return connected;
  }

  /**
   * The program's own among these as servers here, the others as they are: some SDKs name all of them in one place. One
   * that does not answer, or is of no form at all, is left out and named.
   */
  async among(
    servers: Record<string, unknown>,
    on: Parameters<RemoteServers["connect"]>[1],
  ): Promise<Record<string, McpServerConfig>> {
    const own = Object.entries(servers).filter(([, config]) => asObject(config)["type"] === "sdk");
    const fresh = own.filter(([name]) => !Object.hasOwn(this.#known, name));
    await this.connect(
      {
        subtype: "initialize",
        sdkMcpServers: fresh.map(([name]) => name),
        // A timeout of another form is none.
        sdkMcpServerConfigs: Object.fromEntries(fresh) as InitializeRequest["sdkMcpServerConfigs"],
      },
      on,
    );
    const all = Object.entries(servers).flatMap(([name, config]) => {
      if (!isObject(config)) on.failed(name, "its configuration is no object.");
      const found = asObject(config)["type"] === "sdk" ? this.#known[name] : config;
      return isObject(found) ? [[name, found] as const] : [];
    });
    // Servers outside are looked at when they are connected; one of the wrong form fails alone.
    return Object.fromEntries(all) as Record<string, McpServerConfig>;
  }

  /** A message that a server sends by itself: how far a call is. Others have no reader here. */
  hear({ message }: { message: Record<string, unknown> }): void {
    const { method, params } = message;
    if (method !== "notifications/progress" || !isObject(params)) return;
    const call = this.#calls.get(String(params["progressToken"]));
    void call?.sendNotification({ method, params });
  }

  async #describe(
    server: string,
    manifest: { initializeResult?: unknown; toolsListResult?: unknown },
    signal: AbortSignal,
  ): Promise<SdkMcpServer> {
    const told = manifest.initializeResult ?? (await this.#initialize(server, signal));
    const parsed = parseWith(initializeResult, told);
    const { serverInfo, instructions } = parsed.ok ? parsed.value : {};
    const listed =
      manifest.toolsListResult === undefined
        ? await this.#list(server, signal)
        : toolsIn(manifest.toolsListResult).tools;
    const tools = new Map(listed.map((one) => [one.name, this.#toolOf(server, one)]));
    return new SdkMcpServer({
      name: serverInfo?.name ?? server,
      version: serverInfo?.version ?? "",
      instructions,
      tools: [...tools.values()],
    });
  }

  async #initialize(server: string, signal: AbortSignal): Promise<unknown> {
    const clientInfo = { name: "keel", version: "1" };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const result = await this.#call(server, "initialize", { params, signal });
    await this.#notify(server, "notifications/initialized", {});
    return result;
  }

  async #list(server: string, signal: AbortSignal): Promise<z.infer<typeof toolSchema>[]> {
    const all: z.infer<typeof toolSchema>[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = toolsIn(await this.#call(server, "tools/list", { params, signal }));
      all.push(...tools);
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    return all;
  }

  #toolOf(
    server: string,
    { name, description = "", inputSchema = { type: "object" }, annotations }: z.infer<typeof toolSchema>,
  ): AnyToolDefinition {
    return {
      name,
      description,
      inputSchema: asTold(inputSchema),
      // What a server says of its own tools; a hint of the wrong form is none.
      ...(annotations === undefined ? {} : { annotations: annotations as ToolAnnotations }),
      handler: (args, extra) => this.#run({ server, name, args, extra }),
    };
  }

  async #run(call: {
    server: string;
    name: string;
    args: unknown;
    extra: ToolExtra;
  }): Promise<CallToolResult> {
    const { server, name, args, extra } = call;
    const token = extra.requestId;
    this.#calls.set(token, extra);
    const params = { name, arguments: args, _meta: { ...extra._meta, progressToken: token } };
    try {
      const result: unknown = await this.#call(server, "tools/call", { params, signal: extra.signal });
      if (!isObject(result) || !Array.isArray(result["content"]))
        throw fault("mcp_unanswered", { reason: "The tool returned no content." });
      // Each part is read again where it becomes part of a result.
      return result as CallToolResult;
    } finally {
      this.#calls.delete(token);
    }
  }

  async #call(
    server: string,
    method: string,
    { params, signal }: { params: Record<string, unknown>; signal: AbortSignal },
  ): Promise<unknown> {
    const id = ++this.#messages;
    const stop = (): void =>
      void this.#notify(server, "notifications/cancelled", { requestId: id }).catch(() => undefined);
    signal.addEventListener("abort", stop, { once: true });
    try {
      return readMcpAnswer(await this.#send(server, { jsonrpc: "2.0", id, method, params }, signal));
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async #notify(server: string, method: string, params: Record<string, unknown>): Promise<void> {
    await this.#send(server, { jsonrpc: "2.0", method, params });
  }

  #send(server: string, message: JsonRpc, signal?: AbortSignal): Promise<unknown> {
    return this.#channel.request({ subtype: "mcp_message", server_name: server, message }, signal);
  }
}

function toolsIn(result: unknown): z.infer<typeof toolsListResult> {
  const parsed = parseWith(toolsListResult, result);
  if (!parsed.ok) throw fault("mcp_unanswered", { reason: "its list of tools cannot be read." });
  return parsed.value;
}

/** A schema as the server tells it: the model reads it here, the server itself holds inputs against it. */
const asTold = (json: Record<string, unknown>): StandardSchema => ({
  "~standard": {
    version: 1,
    vendor: "keel",
    validate: (value) => ({ value }),
    jsonSchema: { input: () => json },
  },
});
