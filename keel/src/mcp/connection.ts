/** One connection to a server, from its first word to its end, and what it offers. The library is loaded here. */
import type {
  CallToolResult,
  Client,
  JsonSchemaType,
  JsonSchemaValidator,
  Prompt,
  Resource,
  Tool as ServerTool,
  Transport,
} from "@modelcontextprotocol/client";
import { present } from "../kernel/json.ts";
import { listMs, maxCallMs, maxPrompts, maxResources } from "./limits.ts";
import { answerRequests, capabilitiesOf, type ServerRequestContext } from "./requests.ts";

export type ServerOffer = {
  readonly tools: readonly ServerTool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
};

export type Connection = {
  readonly info: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly client: Client;
  offer(): Promise<ServerOffer>;
  call(request: McpCallRequest, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
};

export type McpCallRequest = {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly callId: string;
  /** Where it belongs in a trace, as W3C's `traceparent` writes it. */
  readonly trace?: string | undefined;
  readonly timeoutMs: number;
  progress(words: string): void;
};

export type ConnectOptions = {
  readonly transport: Transport;
  readonly version: string;
  /** `legacy`: the older wire, which knows nothing of the newest revision. */
  readonly revision: "newest" | "legacy";
  readonly requestContext: ServerRequestContext;
  /** How long a server may be silent when it is asked for the newest revision. */
  readonly probeMs: number;
  readonly connectMs: number;
  /** The server says that what it offers has changed. */
  changed(): void;
  closed(): void;
};

/** Rejects with what the library or the transport says; then nothing is left open. */
export async function connect(options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  const { Client: McpClient } = await import("@modelcontextprotocol/client");
  const listChanged = { autoRefresh: false, debounceMs: 200, onChanged: () => options.changed() };
  const client = new McpClient(
    { name: "keel", version: options.version },
    {
      capabilities: capabilitiesOf(options.requestContext),
      versionNegotiation:
        options.revision === "legacy"
          ? { mode: "legacy" }
          : { mode: "auto", probe: { timeoutMs: Math.min(options.probeMs, options.connectMs) } },
      listChanged: { tools: listChanged, prompts: listChanged, resources: listChanged },
      // What a server returns is data for the model, whether or not it fits a schema of the server's own.
      jsonSchemaValidator: { getValidator: takeAnything },
    },
  );
  answerRequests(client, options.requestContext);
  client.onerror = () => undefined; // What matters fails a request or closes the connection.
  client.onclose = () => options.closed();
  try {
    await client.connect(options.transport, { timeout: options.connectMs, signal });
  } catch (thrown) {
    await client.close().catch(() => undefined);
    await options.transport.close().catch(() => undefined);
    throw thrown;
  }
  const { name = "", version = "" } = client.getServerVersion() ?? {};
  return {
    info: { name, version },
    instructions: client.getInstructions(),
    client,
    offer: () => offerOf(client, signal),
    call: (call, stop) => callTool(client, call, stop),
    close: () => client.close(),
  };
}

const takeAnything =
  <T>(_: JsonSchemaType): JsonSchemaValidator<T> =>
  (input) => ({ valid: true, data: input as T, errorMessage: undefined });

/** A list that a server does not have is empty; one that fails is empty too, unless it is that of its tools. */
async function offerOf(client: Client, signal: AbortSignal): Promise<ServerOffer> {
  const has = client.getServerCapabilities() ?? {};
  const options = { timeout: listMs, signal, cacheMode: "refresh" } as const;
  const [tools, prompts, resources] = await Promise.all([
    has.tools ? client.listTools(undefined, options).then((list) => list.tools) : [],
    has.prompts ? client.listPrompts(undefined, options).catch(() => undefined) : undefined,
    has.resources ? client.listResources(undefined, options).catch(() => undefined) : undefined,
  ]);
  return {
    tools,
    prompts: prompts?.prompts.slice(0, maxPrompts) ?? [],
    resources: resources?.resources.slice(0, maxResources) ?? [],
  };
}

async function callTool(
  client: Client,
  { tool, input, callId, trace, timeoutMs, progress }: McpCallRequest,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return client.callTool(
    {
      name: tool,
      arguments: input,
      _meta: { "claudecode/toolUseId": callId, ...present({ traceparent: trace }) },
    },
    {
      signal,
      timeout: timeoutMs,
      maxTotalTimeout: Math.max(timeoutMs, maxCallMs),
      resetTimeoutOnProgress: true,
      onprogress: ({ progress: done, total, message }) => {
        const count = total === undefined ? `${done}` : `${done}/${total}`;
        progress([count, message].filter(Boolean).join(" "));
      },
    },
  );
}
