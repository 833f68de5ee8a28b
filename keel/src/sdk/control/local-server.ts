/** A server of this program, as it answers over a wire: its tools are listed and called by messages of JSON-RPC. */
import { whenAborted } from "../../kernel/abort.ts";
import { reasonOf } from "../../kernel/fault.ts";
import { asObject, type JsonObject, present } from "../../kernel/json.ts";
import { sayIssues } from "../../kernel/schema.ts";
import { channelTo, type McpServerLike } from "../tools/in-memory.ts";
import type { AnyToolDefinition, CallToolResult, ToolServer } from "../tools/tool.ts";
import { toolInputOf } from "../tools/tool-schema.ts";
import { type JsonRpc, protocolVersion } from "./process-requests.ts";

/** What a server sends by itself, such as how far a call is. */
export type Tell = (message: JsonRpc) => void;

/** The answer to a message; to a notification, one that says nothing. */
export type HeardServer = { hear(message: JsonRpc, signal: AbortSignal): Promise<JsonRpc> };

export class LocalServer implements HeardServer {
  readonly #server: ToolServer;
  readonly #tell: Tell;
  readonly #calls = new Map<string | number, AbortController>();

  constructor(server: ToolServer, tell: Tell) {
    this.#server = server;
    this.#tell = tell;
  }

  async hear(message: JsonRpc, signal: AbortSignal): Promise<JsonRpc> {
    const { id, method, params = {} } = message;
    if (id === undefined || method === undefined) {
      if (method === "notifications/cancelled") this.#calls.get(String(params["requestId"]))?.abort();
      return nothing;
    }
    switch (method) {
      case "initialize":
        return answer(id, this.#introduction());
      case "ping":
        return answer(id, {});
      case "tools/list":
        return answer(id, { tools: this.#server.tools.map(describe) });
      case "tools/call":
        return this.#call(id, params, signal);
      default:
        return refusal(id, -32601, `There is no method ${method}.`);
    }
  }

  #introduction(): Record<string, unknown> {
    const { name, version, instructions } = this.#server;
    return {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name, version },
      ...present({ instructions }),
    };
  }

  async #call(id: string | number, params: Record<string, unknown>, signal: AbortSignal): Promise<JsonRpc> {
    const definition = this.#server.tools.find(({ name }) => name === params["name"]);
    if (!definition) return refusal(id, -32602, `There is no tool ${String(params["name"])}.`);
    const parsed = toolInputOf(definition.inputSchema).parse(asObject(params["arguments"]));
    if (!parsed.ok) return answer(id, failed(`The input does not fit: ${sayIssues(parsed.error)}`));
    const stopped = new AbortController();
    this.#calls.set(String(id), stopped);
    try {
      const both = AbortSignal.any([signal, stopped.signal]);
      return answer(id, await this.#run(definition, parsed.value, { params, signal: both }));
    } catch (thrown) {
      return answer(id, failed(reasonOf(thrown)));
    } finally {
      this.#calls.delete(String(id));
    }
  }

  #run(
    { handler }: AnyToolDefinition,
    input: unknown,
    { params, signal }: { params: Record<string, unknown>; signal: AbortSignal },
  ): Promise<CallToolResult> {
    const meta = asObject(params["_meta"]);
    const token = String(meta["progressToken"] ?? "");
    const callId = String(meta["claudecode/toolUseId"] ?? token);
    // The definition's own schema has made this input.
    return handler(input as never, {
      signal,
      requestId: callId,
      _meta: { progressToken: token, "claudecode/toolUseId": callId },
      sendNotification: async ({ method, params: more = {} }) =>
        this.#tell({ jsonrpc: "2.0", method, params: { progressToken: token, ...more } }),
    });
  }
}

/** A server that the program made with a library of its own: messages are carried to it, and its answers back. */
export class CarriedServer implements HeardServer {
  readonly #channel: ReturnType<typeof channelTo>;
  readonly #tell: Tell;
  readonly #waiting = new Map<string, (answer: JsonRpc) => void>();
  #opened: Promise<void> | undefined;

  constructor(server: McpServerLike, tell: Tell) {
    this.#channel = channelTo(server);
    this.#tell = tell;
  }

  async hear(message: JsonRpc, signal: AbortSignal): Promise<JsonRpc> {
    this.#opened ??= this.#channel.open({
      message: (said) => this.#take(said as JsonRpc),
      closed: () => undefined,
    });
    await this.#opened;
    const { id } = message;
    const send = () => this.#channel.send(message as JsonObject);
    if (id === undefined || message.method === undefined) {
      await send();
      return nothing;
    }
    const answered = new Promise<JsonRpc>((resolve) => void this.#waiting.set(String(id), resolve));
    await send();
    const stopped = whenAborted(signal).then(() => refusal(id, -32000, "The call was stopped."));
    return Promise.race([answered, stopped]).finally(() => this.#waiting.delete(String(id)));
  }

  #take(said: JsonRpc): void {
    if (said.method === undefined) this.#waiting.get(String(said.id))?.(said);
    else if (said.id === undefined) this.#tell(said);
    // A server that asks something itself finds nobody over this wire.
    else
      void this.#channel.send(refusal(said.id, -32601, `There is no method ${said.method}.`) as JsonObject);
  }
}

const nothing: JsonRpc = { jsonrpc: "2.0", id: 0, result: {} };

const describe = ({ name, description, inputSchema, annotations }: AnyToolDefinition) => ({
  name,
  description,
  inputSchema: toolInputOf(inputSchema).json,
  ...present({ annotations }),
});

const answer = (id: string | number, result: unknown): JsonRpc => ({ jsonrpc: "2.0", id, result });
const refusal = (id: string | number, code: number, message: string): JsonRpc => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});
const failed = (words: string): CallToolResult => ({
  content: [{ type: "text", text: words || "The tool failed." }],
  isError: true,
});
