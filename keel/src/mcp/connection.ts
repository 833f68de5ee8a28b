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
import { listMs, mostCallMs, mostPrompts, mostResources } from "./limits.ts";
import { answerRequests, capabilitiesOf, type RequestWorld } from "./requests.ts";

export type Offer = {
  readonly tools: readonly ServerTool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
};

export type Connection = {
  readonly info: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly client: Client;
  offer(): Promise<Offer>;
  call(wish: CallWish, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
};

export type CallWish = {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly callId: string;
  readonly timeoutMs: number;
  progress(words: string): void;
};

export type ConnectWish = {
  readonly transport: Transport;
  readonly version: string;
  /** `legacy`: the older wire, which knows nothing of the newest revision. */
  readonly revision: "newest" | "legacy";
  readonly world: RequestWorld;
  /** How long a server may be silent when it is asked for the newest revision. */
  readonly probeMs: number;
  readonly connectMs: number;
  /** The server says that what it offers has changed. */
  changed(): void;
  closed(): void;
};

/** Rejects with what the library or the transport says; then nothing is left open. */
export async function connect(wish: ConnectWish, signal: AbortSignal): Promise<Connection> {
  const { Client: McpClient } = await import("@modelcontextprotocol/client");
  const listChanged = { autoRefresh: false, debounceMs: 200, onChanged: () => wish.changed() };
  const client = new McpClient(
    { name: "keel", version: wish.version },
    {
      capabilities: capabilitiesOf(wish.world),
      versionNegotiation:
        wish.revision === "legacy"
          ? { mode: "legacy" }
          : { mode: "auto", probe: { timeoutMs: Math.min(wish.probeMs, wish.connectMs) } },
      listChanged: { tools: listChanged, prompts: listChanged, resources: listChanged },
      // What a server returns is data for the model, whether or not it fits a schema of the server's own.
      jsonSchemaValidator: { getValidator: takeAnything },
    },
  );
  answerRequests(client, wish.world);
  client.onerror = () => undefined; // What matters fails a request or closes the connection.
  client.onclose = () => wish.closed();
  try {
    await client.connect(wish.transport, { timeout: wish.connectMs, signal });
  } catch (thrown) {
    await client.close().catch(() => undefined);
    await wish.transport.close().catch(() => undefined);
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
async function offerOf(client: Client, signal: AbortSignal): Promise<Offer> {
  const has = client.getServerCapabilities() ?? {};
  const options = { timeout: listMs, signal, cacheMode: "refresh" } as const;
  const [tools, prompts, resources] = await Promise.all([
    has.tools ? client.listTools(undefined, options).then((list) => list.tools) : [],
    has.prompts
      ? client.listPrompts(undefined, options).then(
          (list) => list.prompts.slice(0, mostPrompts),
          () => [],
        )
      : [],
    has.resources
      ? client.listResources(undefined, options).then(
          (list) => list.resources.slice(0, mostResources),
          () => [],
        )
      : [],
  ]);
  return { tools, prompts, resources };
}

async function callTool(
  client: Client,
  { tool, input, callId, timeoutMs, progress }: CallWish,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return client.callTool(
    { name: tool, arguments: input, _meta: { "claudecode/toolUseId": callId } },
    {
      signal,
      timeout: timeoutMs,
      maxTotalTimeout: Math.max(timeoutMs, mostCallMs),
      resetTimeoutOnProgress: true,
      onprogress: ({ progress: done, total, message }) => {
        const count = total === undefined ? `${done}` : `${done}/${total}`;
        progress([count, message].filter(Boolean).join(" "));
      },
    },
  );
}
