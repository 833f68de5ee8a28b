/** A server of this program, as it answers over a wire: its tools are listed and called by messages of JSON-RPC. */
import { reasonOf } from "../../kernel/fault.ts";
import { asObject } from "../../kernel/json.ts";
import { present } from "../../kernel/present.ts";
import { sayIssues } from "../../kernel/schema.ts";
import type { SdkMcpServer } from "../tools/mcp-server.ts";
import type { AnyToolDefinition, CallToolResult } from "../tools/tool.ts";
import { toolInputOf } from "../tools/tool-schema.ts";
import { type JsonRpc, protocolVersion } from "./process-requests.ts";

/** What a server sends by itself, such as how far a call is. */
export type Tell = (message: JsonRpc) => void;

export class LocalServer {
  readonly #server: SdkMcpServer;
  readonly #tell: Tell;
  readonly #calls = new Map<string | number, AbortController>();

  constructor(server: SdkMcpServer, tell: Tell) {
    this.#server = server;
    this.#tell = tell;
  }

  /** The answer; to a notification, one that says nothing. */
  async hear(message: JsonRpc, signal: AbortSignal): Promise<JsonRpc> {
    const { id, method, params = {} } = message;
    if (id === undefined || method === undefined) {
      if (method === "notifications/cancelled") this.#calls.get(String(params["requestId"]))?.abort();
      return { jsonrpc: "2.0", id: 0, result: {} };
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
